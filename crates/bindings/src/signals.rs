//! During a run, signals that would end the process at once stop the run instead.

use pyo3::prelude::*;

/// Signals that service managers send, and that a terminal sends when it closes.
const ENDING: [&str; 2] = ["SIGTERM", "SIGHUP"];

/// Makes the ending signals act like Ctrl-C, unless the program has its own handlers for them; [`Self::restore`] undoes
/// this. Does nothing off the main thread, where Python delivers no signals.
#[derive(Debug)]
pub(crate) struct EndingSignals {
    replaced: Vec<&'static str>,
}

impl EndingSignals {
    pub(crate) fn catch(py: Python<'_>) -> PyResult<Self> {
        let mut caught = Self {
            replaced: Vec::new(),
        };
        if !on_main_thread(py)? {
            return Ok(caught);
        }
        let signal = py.import("signal")?;
        let default = signal.getattr("SIG_DFL")?;
        for name in ENDING {
            let number = signal.getattr(name)?;
            if signal.call_method1("getsignal", (&number,))?.eq(&default)? {
                signal.call_method1("signal", (&number, signal.getattr("default_int_handler")?))?;
                caught.replaced.push(name);
            }
        }
        Ok(caught)
    }

    /// Restores the default handlers.
    pub(crate) fn restore(self, py: Python<'_>) -> PyResult<()> {
        let signal = py.import("signal")?;
        for name in self.replaced {
            signal.call_method1(
                "signal",
                (signal.getattr(name)?, signal.getattr("SIG_DFL")?),
            )?;
        }
        Ok(())
    }
}

fn on_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let current = threading.call_method0("current_thread")?;
    Ok(current.is(&threading.call_method0("main_thread")?))
}
