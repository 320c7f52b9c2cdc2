//! The interval rows of a run as numpy columns: each `Vec` that the recorder filled becomes an array, without a copy.

use metrics::{FLAG_PARTIAL, FLAG_RAMP, LatencyRows, OpRows, Rows, StreamRows};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::{Column, dict};
use crate::row::KINDS;

/// Columns of each operation besides its latencies.
pub(crate) const COUNTS: [&str; 6] = [
    "ios",
    "failed",
    "dropped",
    "late",
    "bytes",
    "lateness_max_ns",
];
/// Figures of each latency.
pub(crate) const LATENCIES: [&str; 4] = ["p50_ns", "p99_ns", "p99_9_ns", "max_ns"];

/// All columns: those of time, those of each stream, and those of each operation of a stream.
#[derive(Debug)]
pub(crate) struct RowTable {
    time: Vec<Column>,
    streams: Vec<StreamTable>,
    /// Columns for an operation that a stream never used.
    zeros: Vec<Column>,
}

#[derive(Debug)]
struct StreamTable {
    in_flight: Vec<Column>,
    /// Columns of each operation, and of flushes.
    commands: [Option<Vec<Column>>; 4],
}

impl RowTable {
    /// Takes over the rows and turns them into columns.
    pub(crate) fn new(py: Python<'_>, rows: Rows) -> Self {
        let flag = |flag: u8| {
            rows.flags
                .iter()
                .map(|flags| flags & flag != 0)
                .collect::<Vec<bool>>()
        };
        let (partial, ramp) = (flag(FLAG_PARTIAL), flag(FLAG_RAMP));
        let durations_ns = rows.duration_ns.clone();
        let zeros = zeros(py, rows.index.len());
        let streams = rows
            .streams
            .into_iter()
            .map(|stream| StreamTable::new(py, stream, &durations_ns))
            .collect();
        let time = vec![
            Column::new(py, "index", rows.index),
            Column::new(py, "start_ns", rows.start_ns),
            Column::new(py, "duration_ns", rows.duration_ns),
            Column::new(py, "partial", partial),
            Column::new(py, "ramp", ramp),
        ];
        Self {
            time,
            streams,
            zeros,
        }
    }

    /// Returns the columns of one operation of one stream, or of its flushes.
    pub(crate) fn columns<'py>(
        &self,
        py: Python<'py>,
        stream: usize,
        op: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let nothing = (&[][..], &self.zeros);
        let (in_flight, counts) = self.streams.get(stream).map_or(nothing, |stream| {
            (
                stream.in_flight.as_slice(),
                stream.commands[op].as_ref().unwrap_or(&self.zeros),
            )
        });
        dict(py, self.time.iter().chain(counts).chain(in_flight))
    }
}

impl StreamTable {
    fn new(py: Python<'_>, rows: StreamRows, durations_ns: &[u64]) -> Self {
        let means = in_flight_means(&rows, durations_ns);
        let in_flight = vec![
            Column::new(py, "in_flight_mean", means),
            Column::new(py, "in_flight_max", rows.in_flight_max),
        ];
        let [read, write, trim] = rows.ops;
        Self {
            in_flight,
            commands: [read, write, trim, rows.flush]
                .map(|rows| rows.map(|rows| op_columns(py, rows))),
        }
    }
}

/// Returns the mean number of I/Os in flight for each row.
pub(crate) fn in_flight_means(rows: &StreamRows, durations_ns: &[u64]) -> Vec<f64> {
    let areas = rows.in_flight_area_ns.iter().zip(durations_ns);
    areas
        .map(|(&area, &ns)| area as f64 / ns.max(1) as f64)
        .collect()
}

/// Returns the name of the column for a figure of a latency.
pub(crate) fn latency_name(kind: &str, figure: &str) -> String {
    format!("{kind}_{figure}")
}

fn op_columns(py: Python<'_>, rows: OpRows) -> Vec<Column> {
    let counts = [
        rows.done,
        rows.failed,
        rows.dropped,
        rows.late,
        rows.bytes,
        rows.lateness_max_ns,
    ];
    let mut columns: Vec<_> = COUNTS
        .iter()
        .zip(counts)
        .map(|(&name, values)| Column::new(py, name, values))
        .collect();
    let service = latency_columns(py, "service", rows.service);
    let response = match rows.response {
        Some(response) => latency_columns(py, "response", response),
        // The same arrays, under the other name.
        None => service
            .iter()
            .zip(LATENCIES)
            .map(|(column, name)| column.renamed(py, latency_name("response", name)))
            .collect(),
    };
    columns.extend(service);
    columns.extend(response);
    columns
}

fn latency_columns(py: Python<'_>, kind: &str, rows: LatencyRows) -> Vec<Column> {
    let values = [rows.p50_ns, rows.p99_ns, rows.p99_9_ns, rows.max_ns];
    LATENCIES
        .iter()
        .zip(values)
        .map(|(name, values)| Column::new(py, latency_name(kind, name), values))
        .collect()
}

/// Returns the columns of an operation that was never used: one array of zeros under all names.
fn zeros(py: Python<'_>, rows: usize) -> Vec<Column> {
    let zero = Column::new(py, "", vec![0u64; rows]);
    let latencies = KINDS
        .iter()
        .flat_map(|kind| LATENCIES.map(|name| latency_name(kind, name)));
    COUNTS
        .iter()
        .map(ToString::to_string)
        .chain(latencies)
        .map(|name| zero.renamed(py, name))
        .collect()
}
