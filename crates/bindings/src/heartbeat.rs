//! A thread that wakes again and again, and records every late wake-up.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors;

/// The fields of [`engine::Gap`], in their order.
type Gap = (u64, u64, u64, u64, Option<u64>, u64);

/// A thread that beats from its creation until `close`.
#[pyclass(frozen, module = "ssdlab._core")]
#[derive(Debug)]
pub(crate) struct Heartbeat {
    beating: Mutex<Option<engine::Heartbeat>>,
}

#[pymethods]
impl Heartbeat {
    #[new]
    fn new(py: Python<'_>, period_s: f64, min_late_s: f64) -> PyResult<Self> {
        let beating = engine::Heartbeat::start(time(period_s)?, time(min_late_s)?)
            .map_err(|error| errors::engine(py, &error, None))?;
        Ok(Self {
            beating: Mutex::new(Some(beating)),
        })
    }

    /// Return the late sleeps recorded since the last call, up to now; none once the thread is closed.
    fn gaps(&self, py: Python<'_>) -> Vec<Gap> {
        let found = py.detach(|| {
            let beating = self.beating.lock().unwrap_or_else(PoisonError::into_inner);
            beating.as_ref().map(engine::Heartbeat::gaps)
        });
        found
            .unwrap_or_default()
            .into_iter()
            .map(|gap| {
                (
                    gap.began_ns,
                    gap.due_ns,
                    gap.ended_ns,
                    gap.suspended_ns,
                    gap.ready_ns,
                    gap.stolen_ns,
                )
            })
            .collect()
    }

    /// End the thread; a second call does nothing.
    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            let mut beating = self.beating.lock().unwrap_or_else(PoisonError::into_inner);
            drop(beating.take());
        });
    }
}

fn time(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds).map_err(|error| PyValueError::new_err(error.to_string()))
}
