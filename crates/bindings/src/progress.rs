//! Progress of a run, as a small snapshot that is taken on every tick.

use std::sync::Arc;

use engine::{Phase, Progress};
use pyo3::prelude::*;

use crate::row::Row;

/// Progress of a run.
#[pyclass(frozen, module = "ssdlab._core")]
#[derive(Debug)]
pub(crate) struct Snapshot {
    progress: Progress,
    names: Arc<[String]>,
}

impl Snapshot {
    /// Makes a snapshot of a run whose streams have these names.
    pub(crate) fn new(progress: Progress, names: &Arc<[String]>) -> Self {
        Self {
            progress,
            names: Arc::clone(names),
        }
    }
}

#[pymethods]
impl Snapshot {
    #[getter]
    fn phase(&self) -> &'static str {
        match self.progress.phase {
            Phase::Starting => "starting",
            Phase::Ramp => "ramp",
            Phase::Measuring => "measuring",
            Phase::Draining => "draining",
        }
    }

    #[getter]
    fn elapsed_ns(&self) -> u64 {
        self.progress.elapsed_ns
    }

    #[getter]
    fn ios(&self) -> u64 {
        self.progress.counts.ios
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.progress.counts.bytes
    }

    #[getter]
    fn failed(&self) -> u64 {
        self.progress.counts.failed
    }

    #[getter]
    fn dropped(&self) -> u64 {
        self.progress.counts.dropped
    }

    #[getter]
    fn in_flight(&self) -> u64 {
        self.progress.counts.in_flight
    }

    /// The row that closed last.
    #[getter]
    fn latest(&self) -> Option<Row> {
        self.progress
            .last_row
            .clone()
            .map(|row| Row::new(row, &self.names))
    }

    fn __repr__(&self) -> String {
        format!(
            "Snapshot(phase={:?}, elapsed_ns={}, ios={})",
            self.phase(),
            self.elapsed_ns(),
            self.ios()
        )
    }
}
