//! The held target: one open descriptor, so that an exclusive claim outlasts single runs.

use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use engine::{Access, Kind};
use pyo3::prelude::*;

use crate::errors;

/// An open block device or file, held until it is closed.
#[pyclass(frozen, module = "ssdlab._core")]
#[derive(Debug)]
pub(crate) struct Target {
    path: PathBuf,
    kind: Kind,
    size_bytes: u64,
    logical_block_bytes: u32,
    writable: bool,
    exclusive: bool,
    open: Mutex<Option<Arc<engine::Target>>>,
}

impl Target {
    /// Returns the open target; raises an exception once it was closed.
    pub(crate) fn held(&self, py: Python<'_>) -> PyResult<Arc<engine::Target>> {
        self.open()
            .clone()
            .ok_or_else(|| errors::closed(py, &self.path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn open(&self) -> std::sync::MutexGuard<'_, Option<Arc<engine::Target>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Target {
    /// Take over an open descriptor; there is no way to make a target from a path.
    #[staticmethod]
    #[pyo3(signature = (descriptor, *, path, write = false, exclusive = false))]
    fn from_descriptor(
        py: Python<'_>,
        descriptor: RawFd,
        path: PathBuf,
        write: bool,
        exclusive: bool,
    ) -> PyResult<Self> {
        let access = Access { write, exclusive };
        let taken = py.detach(|| engine::Target::from_descriptor(descriptor, &path, access));
        let target = taken.map_err(|error| errors::engine(py, &error, Some(&path)))?;
        Ok(Self {
            kind: target.kind(),
            size_bytes: target.size_bytes(),
            logical_block_bytes: target.logical_block_bytes(),
            writable: target.writable(),
            exclusive: target.exclusive(),
            path,
            open: Mutex::new(Some(Arc::new(target))),
        })
    }

    #[getter(path)]
    fn path_text(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    #[getter]
    fn kind(&self) -> &'static str {
        match self.kind {
            Kind::Block => "block",
            Kind::File => "file",
        }
    }

    #[getter]
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    #[getter]
    fn logical_block_bytes(&self) -> u32 {
        self.logical_block_bytes
    }

    #[getter]
    fn writable(&self) -> bool {
        self.writable
    }

    #[getter]
    fn exclusive(&self) -> bool {
        self.exclusive
    }

    #[getter]
    fn closed(&self) -> bool {
        self.open().is_none()
    }

    /// Return the number of the descriptor that is held.
    fn fileno(&self, py: Python<'_>) -> PyResult<RawFd> {
        Ok(self.held(py)?.as_fd().as_raw_fd())
    }

    /// Make written data durable; this includes the drive's own cache.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let target = self.held(py)?;
        py.detach(|| target.flush())
            .map_err(|error| errors::engine(py, &error, Some(&self.path)))
    }

    /// Discard a range of a device, or punch a hole into a file.
    fn trim(&self, py: Python<'_>, offset: u64, length: u64) -> PyResult<()> {
        let target = self.held(py)?;
        py.detach(|| target.trim(offset, length))
            .map_err(|error| errors::engine(py, &error, Some(&self.path)))
    }

    /// Close the target; a run that has not ended holds it until its end.
    fn close(&self) {
        self.open().take();
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, pyo3::types::PyTuple>) {
        self.close();
    }

    fn __repr__(&self) -> String {
        format!(
            "Target({:?}, write={}, exclusive={})",
            self.path.to_string_lossy(),
            self.writable,
            self.exclusive
        )
    }
}
