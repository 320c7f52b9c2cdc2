//! Keeps the host's processors out of idle states while a drive is served.

use std::fs::{File, OpenOptions};
use std::io::Write;

/// File through which the kernel is told the longest time that a processor may take to wake. The limit holds as long as
/// the file is open; if several processes set a limit, the lowest one counts.
///
/// Source: Linux, `Documentation/power/pm_qos_interface.rst`.
const WAKING_LIMIT: &str = "/dev/cpu_dma_latency";

/// As long as this lives, an idle processor polls instead of entering an idle state. A client or a server thread that
/// has slept is then awake within a microsecond. Otherwise it takes tens of microseconds, which would look like the
/// drive's latency.
#[derive(Debug)]
pub struct Alert(Option<File>);

impl Alert {
    /// Asks the kernel for the limit. The superuser may ask, but not every user, and not every host supports it.
    /// Without the limit processors enter idle states as before.
    pub fn ask() -> Self {
        let ask = || {
            let mut file = OpenOptions::new().write(true).open(WAKING_LIMIT)?;
            file.write_all(&0_i32.to_ne_bytes())?;
            Ok::<_, std::io::Error>(file)
        };
        Self(ask().ok())
    }

    /// Returns whether the limit was granted.
    pub fn is_granted(&self) -> bool {
        self.0.is_some()
    }
}
