//! A closed interval row for Python while a run goes on.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Directions, in the order of every per-operation array of the metrics crate.
pub(crate) const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];
/// Directions and flushes: everything that has rows and histograms.
pub(crate) const COMMANDS: [&str; 4] = ["read", "write", "trim", "flush"];
/// The two latencies that every I/O has.
pub(crate) const KINDS: [&str; 2] = ["service", "response"];

/// Returns the position of a direction or kind among its names.
pub(crate) fn position(names: &[&str], name: &str) -> PyResult<usize> {
    let known = || names.join(", ");
    names
        .iter()
        .position(|known| *known == name)
        .ok_or_else(|| PyValueError::new_err(format!("{name:?} is none of {}", known())))
}

/// One closed interval, on the clock that all workers share.
#[pyclass(frozen, module = "ssdlab._core")]
#[derive(Debug)]
pub(crate) struct Row {
    row: Arc<metrics::Row>,
    names: Arc<[String]>,
}

impl Row {
    /// Makes a row whose streams have these names.
    pub(crate) fn new(row: metrics::Row, names: &Arc<[String]>) -> Self {
        Self {
            row: Arc::new(row),
            names: Arc::clone(names),
        }
    }

    fn sum(&self, count: impl Fn(&metrics::OpRow) -> u64) -> u64 {
        self.row
            .streams
            .iter()
            .flat_map(|stream| &stream.ops)
            .map(count)
            .sum()
    }

    fn per_second(&self, count: u64) -> f64 {
        count as f64 * 1e9 / self.row.duration_ns.max(1) as f64
    }
}

#[pymethods]
impl Row {
    #[getter]
    fn index(&self) -> u64 {
        self.row.index
    }

    #[getter]
    fn start_ns(&self) -> u64 {
        self.row.start_ns
    }

    #[getter]
    fn end_ns(&self) -> u64 {
        self.row.end_ns()
    }

    /// Whether the run ended within this interval.
    #[getter]
    fn partial(&self) -> bool {
        self.row.partial
    }

    /// Whether the interval lies wholly within the ramp, so that the totals leave it out.
    #[getter]
    fn ramp(&self) -> bool {
        self.row.ramp
    }

    #[getter]
    fn ios(&self) -> u64 {
        self.sum(|op| op.done)
    }

    #[getter]
    fn failed(&self) -> u64 {
        self.sum(|op| op.failed)
    }

    #[getter]
    fn dropped(&self) -> u64 {
        self.sum(|op| op.dropped)
    }

    #[getter]
    fn late(&self) -> u64 {
        self.sum(|op| op.late)
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.sum(|op| op.bytes)
    }

    #[getter]
    fn iops(&self) -> f64 {
        self.per_second(self.ios())
    }

    #[getter]
    fn mb_s(&self) -> f64 {
        self.per_second(self.bytes()) / 1e6
    }

    #[getter]
    fn in_flight_mean(&self) -> f64 {
        (0..self.row.streams.len())
            .map(|stream| self.row.in_flight_mean(stream))
            .sum()
    }

    /// Sum of the streams' own maxima.
    #[getter]
    fn in_flight_max(&self) -> u32 {
        self.row
            .streams
            .iter()
            .map(|stream| stream.in_flight_max)
            .sum()
    }

    /// One cell per stream and direction in which anything was requested.
    #[getter]
    fn cells(&self) -> Vec<Cell> {
        let cell = |stream, direction| Cell {
            row: Arc::clone(&self.row),
            names: Arc::clone(&self.names),
            stream,
            direction,
        };
        let streams = self.row.streams.iter().enumerate();
        let used = streams.flat_map(|(s, stream)| {
            let ops = stream.ops.iter().enumerate();
            ops.filter(|(_, op)| op.requested() > 0)
                .map(move |(direction, _)| (s, direction))
        });
        used.map(|(stream, direction)| cell(stream, direction))
            .collect()
    }

    fn __repr__(&self) -> String {
        format!(
            "Row(index={}, ios={}, bytes={})",
            self.row.index,
            self.ios(),
            self.bytes()
        )
    }
}

/// What one stream did in one direction during one interval.
#[pyclass(frozen, module = "ssdlab._core")]
#[derive(Debug)]
pub(crate) struct Cell {
    row: Arc<metrics::Row>,
    names: Arc<[String]>,
    stream: usize,
    direction: usize,
}

impl Cell {
    fn op(&self) -> &metrics::OpRow {
        &self.row.streams[self.stream].ops[self.direction]
    }
}

#[pymethods]
impl Cell {
    #[getter]
    fn stream(&self) -> &str {
        &self.names[self.stream]
    }

    #[getter]
    fn direction(&self) -> &'static str {
        DIRECTIONS[self.direction]
    }

    #[getter]
    fn ios(&self) -> u64 {
        self.op().done
    }

    #[getter]
    fn failed(&self) -> u64 {
        self.op().failed
    }

    #[getter]
    fn dropped(&self) -> u64 {
        self.op().dropped
    }

    #[getter]
    fn late(&self) -> u64 {
        self.op().late
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.op().bytes
    }

    #[getter]
    fn lateness_max_ns(&self) -> u64 {
        self.op().lateness_max_ns
    }

    /// Return `p50_ns`, `p99_ns`, `p99_9_ns` and `max_ns`.
    fn latency<'py>(&self, py: Python<'py>, kind: &str) -> PyResult<Bound<'py, PyDict>> {
        let latency = match position(&KINDS, kind)? {
            0 => self.op().service,
            _ => self.op().response,
        };
        let figures = PyDict::new(py);
        figures.set_item("p50_ns", latency.p50_ns)?;
        figures.set_item("p99_ns", latency.p99_ns)?;
        figures.set_item("p99_9_ns", latency.p99_9_ns)?;
        figures.set_item("max_ns", latency.max_ns)?;
        Ok(figures)
    }

    fn __repr__(&self) -> String {
        format!(
            "Cell(stream={:?}, direction={:?}, ios={})",
            self.stream(),
            self.direction(),
            self.ios()
        )
    }
}
