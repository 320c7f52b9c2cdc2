//! The Python interface of the engine: classes, errors, the detached wait loop, arrays.
//!
//! This crate decides nothing and measures nothing. The module is private to the Python package, which wraps it. Its
//! signatures are in `python/ssdlab/_core.pyi`, and `make check` compares the two. Each Python class or function has
//! its own file: `target.rs` and `run.rs` for real drives, `simulated.rs` and `serve.rs` for simulated drives,
//! `measurement.rs`, `rows.rs` and `histogram.rs` for results. `errors.rs` turns what Rust refuses into errors of the package.
//!
//! # A run from Python
//!
//! A workload is passed as the JSON that the `workload` crate reads, with every value resolved. `tests/docs` runs this example:
//!
//! ```python
//! import json
//! from importlib.resources import files
//!
//! from ssdlab import _core
//!
//! profile = files("ssdlab").joinpath("profiles", "tiny-test.toml").read_text()
//! drive = _core.SimulatedDrive(profile, scale=4)
//! stream = {
//!     "name": "writers", "ops": {"mix": {"read_pct": 0}}, "block": [{"bytes": 4096, "weight": 1}],
//!     "pattern": "uniform", "span": {"start": 0, "length": 1 << 20}, "workers": 1, "depth": 4,
//!     "engine": "uring", "batch": None, "polled": False, "arrival": {"closed": {"think_ns": 0}},
//!     "compressible_pct": 0, "direct": True, "dsync": False, "flush_every": None, "cpus": [],
//!     "stop": {"time_ns": None, "bytes": None, "ios": 1000, "span_once": False}, "log_ios": False,
//! }
//! workload = {"seed": 1, "interval_ns": 10**9, "ramp_ns": 0, "streams": [stream]}
//! measurement = drive.run(json.dumps(workload))
//! assert measurement.summary()["write"]["ios"] == 1000
//! assert sum(measurement.rows("writers", "write")["ios"]) == 1000
//! ```

mod columns;
mod deadline;
mod errors;
mod heartbeat;
mod histogram;
mod host;
mod json;
mod log;
mod measurement;
mod panics;
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
        deadline::Deadline,
        heartbeat::Heartbeat,
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

    /// Sets up the brief reports of panics.
    #[pymodule_init]
    // PyO3 requires this signature.
    #[allow(clippy::unnecessary_wraps)]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        crate::panics::say_briefly();
        Ok(())
    }
}
