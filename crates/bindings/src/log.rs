//! Reading append logs.

use std::path::{Path, PathBuf};

use metrics::IoColumns;
use metrics::log::LogReader;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use workload::Workload;

use crate::columns::{Column, dict};
use crate::measurement::Measurement;
use crate::{errors, json};

/// The contents of an append log, up to the first frame that is torn or does not match its checksum.
#[pyclass(frozen, module = "ssdlab._core")]
#[derive(Debug)]
pub(crate) struct LogContents {
    path: PathBuf,
    header: Value,
    torn: bool,
    measurement: Py<Measurement>,
}

/// Read an append log.
#[pyfunction]
#[pyo3(signature = (path, *, keep_interval_histograms = false))]
pub(crate) fn read_log(
    py: Python<'_>,
    path: PathBuf,
    keep_interval_histograms: bool,
) -> PyResult<LogContents> {
    let contents = py.detach(|| metrics::log::read_log(&path, keep_interval_histograms));
    let contents = contents.map_err(|error| errors::log(py, &error))?;
    let workload = contents.header.get("workload").cloned();
    let workload: Option<Workload> =
        workload.and_then(|workload| serde_json::from_value(workload).ok());
    let measurement = Measurement::new(py, contents.measurement, workload, Vec::new())?;
    Ok(LogContents {
        path,
        header: contents.header,
        torn: contents.torn,
        measurement: Py::new(py, measurement)?,
    })
}

#[pymethods]
impl LogContents {
    /// The header before the first row: `workload`, `build`, `owner` (the header that `run` was given).
    #[getter]
    fn header<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.header)
    }

    /// Whether the log ends within a frame or without a footer, because the run was killed.
    #[getter]
    fn torn(&self) -> bool {
        self.torn
    }

    /// The measurement, or as much of it as was logged.
    #[getter]
    fn measurement(&self, py: Python<'_>) -> Py<Measurement> {
        self.measurement.clone_ref(py)
    }

    /// Return one entry per I/O, if I/Os were logged.
    fn ios<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let chunks = py
            .detach(|| chunks(&self.path))
            .map_err(|error| errors::log(py, &error))?;
        let stream = chunks
            .iter()
            .flat_map(|chunk| std::iter::repeat_n(chunk.stream as u32, chunk.len()));
        let columns = [
            Column::new(py, "stream", stream.collect()),
            Column::new(py, "direction", flat(&chunks, |chunk| &chunk.op)),
            Column::new(py, "intended_ns", flat(&chunks, |chunk| &chunk.intended_ns)),
            Column::new(py, "submit_ns", flat(&chunks, |chunk| &chunk.submit_ns)),
            Column::new(py, "latency_ns", flat(&chunks, |chunk| &chunk.latency_ns)),
            Column::new(py, "offset", flat(&chunks, |chunk| &chunk.offset)),
            Column::new(py, "length", flat(&chunks, |chunk| &chunk.length)),
        ];
        dict(py, &columns)
    }

    fn __repr__(&self) -> String {
        format!(
            "LogContents(path={:?}, torn={})",
            self.path.to_string_lossy(),
            self.torn
        )
    }
}

fn chunks(path: &Path) -> Result<Vec<IoColumns>, metrics::LogError> {
    let mut reader = LogReader::open(path)?;
    let mut chunks = Vec::new();
    while let Some(chunk) = reader.next_ios()? {
        chunks.push(chunk);
    }
    Ok(chunks)
}

fn flat<T: Copy>(chunks: &[IoColumns], column: impl Fn(&IoColumns) -> &Vec<T>) -> Vec<T> {
    chunks
        .iter()
        .flat_map(|chunk| column(chunk).iter().copied())
        .collect()
}
