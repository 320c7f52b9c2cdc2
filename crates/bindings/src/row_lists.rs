//! The interval rows of a run as plain lists, for JSON: under the names of the columns, but without numpy.

use metrics::{FLAG_PARTIAL, FLAG_RAMP, OpRows, Rows};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::row::KINDS;
use crate::rows::{COUNTS, LATENCIES, in_flight_means, latency_name};

/// Returns the rows of one operation of one stream, or of its flushes; zeros if the stream never used the operation.
pub(crate) fn lists<'py>(
    py: Python<'py>,
    rows: &Rows,
    stream: usize,
    op: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let flagged = |flag| -> Vec<bool> { rows.flags.iter().map(|bits| bits & flag != 0).collect() };
    let lists = PyDict::new(py);
    lists.set_item("index", &rows.index)?;
    lists.set_item("start_ns", &rows.start_ns)?;
    lists.set_item("duration_ns", &rows.duration_ns)?;
    lists.set_item("partial", flagged(FLAG_PARTIAL))?;
    lists.set_item("ramp", flagged(FLAG_RAMP))?;
    let stream = rows.streams.get(stream);
    match stream.and_then(|stream| stream.at(op)) {
        Some(ops) => set_op(&lists, ops)?,
        None => set_zeros(&lists, rows.len())?,
    }
    if let Some(stream) = stream {
        let means = in_flight_means(stream, &rows.duration_ns);
        lists.set_item("in_flight_mean", means)?;
        lists.set_item("in_flight_max", &stream.in_flight_max)?;
    }
    Ok(lists)
}

fn set_op(lists: &Bound<'_, PyDict>, rows: &OpRows) -> PyResult<()> {
    let counts = [
        &rows.done,
        &rows.failed,
        &rows.dropped,
        &rows.late,
        &rows.bytes,
        &rows.lateness_max_ns,
    ];
    for (name, values) in COUNTS.iter().zip(counts) {
        lists.set_item(name, values)?;
    }
    for (kind, of) in KINDS.iter().zip([&rows.service, rows.response()]) {
        let values = [&of.p50_ns, &of.p99_ns, &of.p99_9_ns, &of.max_ns];
        for (name, values) in LATENCIES.iter().zip(values) {
            lists.set_item(latency_name(kind, name), values)?;
        }
    }
    Ok(())
}

fn set_zeros(lists: &Bound<'_, PyDict>, rows: usize) -> PyResult<()> {
    let latencies = KINDS
        .iter()
        .flat_map(|kind| LATENCIES.map(|name| latency_name(kind, name)));
    for name in COUNTS.iter().map(ToString::to_string).chain(latencies) {
        lists.set_item(name, vec![0u64; rows])?;
    }
    Ok(())
}
