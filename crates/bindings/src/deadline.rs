//! The deadline of a run, which a Python thread can move while the run goes on.

use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A deadline after which a run issues nothing more.
#[pyclass(frozen, module = "ssdlab._core")]
#[derive(Debug)]
pub(crate) struct Deadline {
    held: Arc<engine::Deadline>,
}

impl Deadline {
    /// Returns the engine's deadline, for a run to check.
    pub(crate) fn held(&self) -> Arc<engine::Deadline> {
        Arc::clone(&self.held)
    }
}

#[pymethods]
impl Deadline {
    #[new]
    fn new(seconds: f64) -> PyResult<Self> {
        let held = Arc::new(engine::Deadline::after(time(seconds)?));
        Ok(Self { held })
    }

    /// Move the deadline to `seconds` from now; a deadline that has passed stays passed.
    fn push(&self, seconds: f64) -> PyResult<()> {
        self.held.push(time(seconds)?);
        Ok(())
    }

    /// Let the deadline pass at once.
    fn end(&self) {
        self.held.end();
    }

    #[getter]
    fn has_passed(&self) -> bool {
        self.held.has_passed()
    }

    fn __repr__(&self) -> String {
        format!("Deadline(has_passed={})", self.held.has_passed())
    }
}

fn time(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds).map_err(|error| PyValueError::new_err(error.to_string()))
}
