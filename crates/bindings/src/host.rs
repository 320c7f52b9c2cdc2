//! Facts about this build and this host.

use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

use crate::{errors, json};

/// How this module was built, and from what.
#[derive(Debug, Serialize)]
pub(crate) struct Build {
    version: &'static str,
    profile: &'static str,
    rustc: &'static str,
    target: String,
}

pub(crate) fn build() -> Build {
    Build {
        version: env!("CARGO_PKG_VERSION"),
        profile: env!("SSDLAB_PROFILE"),
        rustc: env!("SSDLAB_RUSTC"),
        target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
    }
}

/// Return `version`, `profile`, `rustc` and `target` of the build.
#[pyfunction]
pub(crate) fn build_info(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    json::to_python(py, &build())
}

/// Return what the kernel and the process limits allow.
#[pyfunction]
pub(crate) fn capabilities(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let found = py.detach(engine::host::capabilities);
    json::to_python(py, &found)
}

/// Measure what the tool itself costs on this host, in ns.
#[pyfunction]
pub(crate) fn calibrate(py: Python<'_>, seconds: f64) -> PyResult<Bound<'_, PyAny>> {
    let length = Duration::try_from_secs_f64(seconds)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let costs = py
        .detach(|| engine::host::calibrate(length))
        .map_err(|error| errors::engine(py, &error, None))?;
    json::to_python(py, &costs)
}
