//! States of simulated drives in files. Python decides where a file lies, who holds it and how it gets its name.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::BufWriter;
use std::path::Path;

use pyo3::prelude::*;
use sim::snapshot::StateError;
use sim::{AnyDrive, snapshot};

use crate::errors;

/// Writes a state into a new file, durably. If that fails, the caller has to remove the unfinished file.
pub(crate) fn save(
    py: Python<'_>,
    drive: &AnyDrive,
    path: &Path,
    identity: &BTreeMap<String, String>,
) -> PyResult<()> {
    let saved = py.detach(|| {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        let mut file = BufWriter::with_capacity(1 << 20, file);
        snapshot::write(drive, identity, &mut file)?;
        let file = file
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)?;
        Ok(file.sync_all()?)
    });
    saved.map_err(|error: StateError| errors::state(py, &error, path))
}

/// Reads the state in a file, which has to be of a drive like this one.
pub(crate) fn load(
    py: Python<'_>,
    drive: &AnyDrive,
    path: &Path,
    identity: &BTreeMap<String, String>,
) -> PyResult<AnyDrive> {
    let loaded = py.detach(|| {
        let file = std::fs::read(path)?;
        snapshot::read(&file, identity, drive)
    });
    loaded.map_err(|error| errors::state(py, &error, path))
}
