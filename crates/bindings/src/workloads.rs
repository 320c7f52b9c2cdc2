//! Workloads as Python sends them: JSON in resolved units, checked before anything is touched.

use pyo3::prelude::*;
use std::path::PathBuf;

use pyo3::types::PyAny;
use workload::random::{STEP, finalise};
use workload::recording::Recording;
use workload::{Plan, Workload};

use crate::{errors, json};

/// Parses the workload that a JSON text describes; refuses unknown fields.
pub(crate) fn parse(py: Python<'_>, workload_json: &str) -> PyResult<Workload> {
    serde_json::from_str(workload_json).map_err(|error| errors::not_a_workload(py, &error))
}

/// Raise `UsageError` unless Rust accepts the workload.
#[pyfunction]
pub(crate) fn check_workload(py: Python<'_>, workload_json: &str) -> PyResult<()> {
    parse(py, workload_json)?
        .validate()
        .map_err(|error| errors::spec(py, &error))
}

/// Read a file of records from end to end and return its digest, counts, bytes, duration and bounds.
#[pyfunction]
pub(crate) fn check_recording(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    let opened = py.detach(move || Recording::open(&path));
    match opened {
        Ok(recording) => json::to_python(py, recording.facts()),
        Err(error) => Err(errors::records(py, &error)),
    }
}

/// Return a digest of the first `n` I/Os and intended starts of every source, in hex; the same seed gives the same digest.
#[pyfunction]
pub(crate) fn digest(py: Python<'_>, workload_json: &str, n: u64) -> PyResult<String> {
    let workload = parse(py, workload_json)?;
    let plan = Plan::new(&workload).map_err(|error| errors::spec(py, &error))?;
    Ok(format!("{:016x}", py.detach(|| digest_of(&plan, n))))
}

fn digest_of(plan: &Plan, n: u64) -> u64 {
    let mut state = 0;
    let mut add = |word: u64| state = finalise((state ^ word).wrapping_add(STEP));
    for stream in plan.streams() {
        for source in 0..stream.sources() {
            let mut generator = stream.generator(source);
            let mut schedule = stream.schedule(source);
            for _ in 0..n {
                let io = generator.next();
                add(io.op as u64);
                add(io.offset);
                add(u64::from(io.length));
                if let Some(schedule) = &mut schedule {
                    add(schedule.next());
                }
            }
        }
    }
    state
}
