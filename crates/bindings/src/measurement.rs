//! Measurements for Python.

use std::sync::{Mutex, OnceLock, PoisonError};

use engine::Outcome;
use metrics::{Kind, Rows, bucket_bounds_ns};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::sync::OnceLockExt;
use pyo3::types::PyDict;
use sim::runner::Sample;
use workload::Workload;

use crate::columns::{Column, dict};
use crate::histogram::Histogram;
use crate::json;
use crate::row::{COMMANDS, KINDS, position};
use crate::row_lists::lists;
use crate::rows::RowTable;
use crate::summary::{Workers, totals};

/// What a run measured. Immutable.
#[pyclass(frozen, module = "ssdlab._core")]
pub(crate) struct Measurement {
    measured: metrics::Measurement,
    workload: Option<Workload>,
    cursors: Vec<Vec<u64>>,
    summary: Py<PyAny>,
    rows: Mutex<Rows>,
    table: OnceLock<RowTable>,
    samples: Vec<Sample>,
}

impl Measurement {
    /// Takes over all data. The rows become numpy columns only when Python first asks for them, so that a run whose
    /// rows nobody reads does not need numpy.
    pub(crate) fn new(
        py: Python<'_>,
        mut measured: metrics::Measurement,
        workload: Option<Workload>,
        cursors: Vec<Vec<u64>>,
    ) -> PyResult<Self> {
        let summary = json::to_python(py, &totals(&measured, workload.as_ref()))?.unbind();
        let rows = Mutex::new(std::mem::take(&mut measured.rows));
        Ok(Self {
            measured,
            workload,
            cursors,
            summary,
            rows,
            table: OnceLock::new(),
            samples: Vec::new(),
        })
    }

    /// Adds the samples that the drive reported during the run.
    pub(crate) fn with_samples(self, samples: Vec<Sample>) -> Self {
        Self { samples, ..self }
    }

    /// Makes a measurement from the outcome of a run.
    pub(crate) fn of_run(py: Python<'_>, outcome: Outcome, workload: Workload) -> PyResult<Self> {
        Self::new(py, outcome.measurement, Some(workload), outcome.cursors)
    }

    fn table(&self, py: Python<'_>) -> &RowTable {
        // Exactly once: a second initialisation would find no rows.
        self.table.get_or_init_py_attached(py, || {
            let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
            RowTable::new(py, std::mem::take(&mut *rows))
        })
    }

    fn stream(&self, name: &str) -> PyResult<usize> {
        let names = || self.streams().join(", ");
        let found = self
            .measured
            .streams
            .iter()
            .position(|stream| stream.spec.name == name);
        found.ok_or_else(|| {
            PyKeyError::new_err(format!("no stream {name:?}; there are: {}", names()))
        })
    }
}

#[pymethods]
impl Measurement {
    #[getter]
    fn streams(&self) -> Vec<&str> {
        self.measured
            .streams
            .iter()
            .map(|stream| stream.spec.name.as_str())
            .collect()
    }

    /// Return the totals under the keys of `measure --json` that are known here.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // A copy, so that changes made in Python do not appear in the next call.
        py.import("copy")?
            .call_method1("deepcopy", (&self.summary,))
    }

    /// Return what a simulated drive reported of itself, once a second of its time; nothing for a real drive.
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.samples)
    }

    /// Return read-only columns with one entry per interval.
    fn rows<'py>(
        &self,
        py: Python<'py>,
        stream: &str,
        direction: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.table(py)
            .columns(py, self.stream(stream)?, position(&COMMANDS, direction)?)
    }

    /// Return the columns of `rows` as lists. Needs no numpy if the rows are not numpy columns yet.
    fn row_lists<'py>(
        &self,
        py: Python<'py>,
        stream: &str,
        direction: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (stream, op) = (self.stream(stream)?, position(&COMMANDS, direction)?);
        let Some(table) = self.table.get() else {
            let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
            return lists(py, &rows, stream, op);
        };
        let columns = table.columns(py, stream, op)?;
        for (name, column) in &columns.copy()? {
            columns.set_item(name, column.call_method0("tolist")?)?;
        }
        Ok(columns)
    }

    /// Return the latencies of one stream, or of all streams.
    #[pyo3(signature = (direction, kind, stream = None))]
    fn histogram(&self, direction: &str, kind: &str, stream: Option<&str>) -> PyResult<Histogram> {
        let op = position(&COMMANDS, direction)?;
        let response = position(&KINDS, kind)? == 1;
        let only = stream.map(|name| self.stream(name)).transpose()?;
        let mut sum = metrics::Histogram::new();
        for (i, stream) in self.measured.streams.iter().enumerate() {
            let tally = stream.tally.at(op);
            if only.is_none_or(|only| only == i) {
                sum.merge(if response {
                    tally.response()
                } else {
                    &tally.service
                });
            }
        }
        Ok(sum.into())
    }

    /// Figures of the workers, summed over all of them.
    #[getter]
    fn worker_facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &Workers::from(&self.measured.workers))
    }

    /// I/O done after the row that ended the result; None if no row did.
    #[getter]
    fn overshoot<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let decided = self.measured.decided_row.is_some();
        decided
            .then(|| json::to_python(py, &self.measured.overshoot))
            .transpose()
    }

    /// The first failed I/Os, with all details.
    #[getter]
    fn failures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.measured.failures)
    }

    /// Next byte offset of each source of the sequential streams.
    #[getter]
    fn cursors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let cursors = PyDict::new(py);
        for (stream, places) in self
            .streams()
            .iter()
            .zip(&self.cursors)
            .filter(|(_, places)| !places.is_empty())
        {
            cursors.set_item(stream, places)?;
        }
        Ok(cursors)
    }

    /// Number of the row that ended the result; None if no row did.
    #[getter]
    fn decided_row(&self) -> Option<u64> {
        self.measured.decided_row
    }

    /// Whether the run was recorded to its end.
    #[getter]
    fn complete(&self) -> bool {
        self.measured.complete
    }

    /// Return one entry per bucket that is not empty; the first entry of each histogram has its exact sum.
    fn interval_histograms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut buckets = Vec::new();
        for one in &self.measured.interval_histograms {
            let Some(kind) = kind_index(one.kind) else {
                continue;
            };
            let place = (one.row, one.stream as u32, one.op.place() as u8, kind);
            let histogram = one.histogram();
            let mut sum_ns = histogram.sum_ns() as f64;
            buckets.extend(histogram.nonzero().map(|(at, count)| {
                let sum_ns = std::mem::take(&mut sum_ns);
                (place, bucket_bounds_ns(at).start, count, sum_ns)
            }));
        }
        let columns = [
            Column::new(
                py,
                "row",
                buckets.iter().map(|((row, ..), ..)| *row).collect(),
            ),
            Column::new(
                py,
                "stream",
                buckets
                    .iter()
                    .map(|((_, stream, ..), ..)| *stream)
                    .collect(),
            ),
            Column::new(
                py,
                "direction",
                buckets
                    .iter()
                    .map(|((.., direction, _), ..)| *direction)
                    .collect(),
            ),
            Column::new(
                py,
                "kind",
                buckets.iter().map(|((.., kind), ..)| *kind).collect(),
            ),
            Column::new(
                py,
                "bucket_low_ns",
                buckets.iter().map(|(_, low, ..)| *low).collect(),
            ),
            Column::new(
                py,
                "count",
                buckets.iter().map(|(_, _, count, _)| *count).collect(),
            ),
            Column::new(py, "sum_ns", buckets.iter().map(|(.., sum)| *sum).collect()),
        ];
        dict(py, &columns)
    }

    fn __repr__(&self) -> String {
        let ios: u64 = self
            .measured
            .streams
            .iter()
            .flat_map(|s| &s.tally.ops)
            .map(|tally| tally.done)
            .sum();
        let seed = self.workload.as_ref().map(|workload| workload.seed);
        format!(
            "Measurement(streams={:?}, ios={ios}, seed={seed:?})",
            self.streams()
        )
    }
}

/// Returns the index in [`KINDS`]. `None` for lateness and the latency of failures, which are kept as totals only.
fn kind_index(kind: Kind) -> Option<u8> {
    match kind {
        Kind::Service => Some(0),
        Kind::Response => Some(1),
        Kind::Lateness | Kind::Failed => None,
    }
}
