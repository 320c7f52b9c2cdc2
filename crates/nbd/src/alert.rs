//! The host's processors, kept from going to rest while a drive is served.

use std::fs::{File, OpenOptions};
use std::io::Write;

/// Where the kernel is told the longest time that a processor may take to wake: as long as the file is open, by whoever
/// asks for the least.
///
/// Source: Linux, `Documentation/power/pm_qos_interface.rst`.
const WAKING_LIMIT: &str = "/dev/cpu_dma_latency";

/// As long as this lives, an idle processor polls instead of resting, so that a client or a thread of the server that has
/// slept is awake within a microsecond rather than tens of them: those would look like the drive's.
#[derive(Debug)]
pub struct Alert(Option<File>);

impl Alert {
    /// Asks for it. Not everybody may (the superuser may), and not every host can: then processors rest as before.
    pub fn ask() -> Self {
        let ask = || {
            let mut file = OpenOptions::new().write(true).open(WAKING_LIMIT)?;
            file.write_all(&0_i32.to_ne_bytes())?;
            Ok::<_, std::io::Error>(file)
        };
        Self(ask().ok())
    }

    /// Whether it was granted.
    pub fn is_granted(&self) -> bool {
        self.0.is_some()
    }
}
