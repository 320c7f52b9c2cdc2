//! The Python face of the engine: classes, errors, the detached wait loop, arrays.
//!
//! Nothing is decided and nothing is measured here. The module is private to the Python package, which wraps it; its
//! signatures stand in `python/ssdlab/_core.pyi`, and `make check` compares the two.

mod columns;
mod errors;
mod histogram;
mod host;
mod json;
mod log;
mod measurement;
mod power;
mod profiles;
mod progress;
mod row;
mod row_lists;
mod rows;
mod run;
mod schema;
mod serve;
mod signals;
mod simulated;
mod simulated_state;
mod summary;
mod target;
mod workloads;

use pyo3::prelude::*;

/// The native half of ssdlab: it issues I/O and counts.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::{
        histogram::Histogram,
        host::{build_info, calibrate, capabilities},
        log::{LogContents, read_log},
        measurement::Measurement,
        profiles::check_profile,
        progress::Snapshot,
        row::{Cell, Row},
        run::run,
        schema::workload_schema,
        serve::serve,
        simulated::{SimulatedDrive, SimulatedState},
        target::Target,
        workloads::{check_recording, check_workload, digest},
    };
}
