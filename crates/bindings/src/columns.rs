//! Columns: a `Vec` becomes a read-only numpy array that owns it, without a copy.

use numpy::{Element, IntoPyArray, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A read-only array that owns the values.
pub(crate) fn frozen<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyAny> {
    values
        .into_pyarray(py)
        .readwrite()
        .make_nonwriteable()
        .as_any()
        .clone()
}

#[derive(Debug)]
pub(crate) struct Column {
    name: String,
    array: Py<PyAny>,
}

impl Column {
    pub(crate) fn new<T: Element>(py: Python<'_>, name: impl Into<String>, values: Vec<T>) -> Self {
        Self {
            name: name.into(),
            array: frozen(py, values).unbind(),
        }
    }

    /// Returns the column under another name; both share one array.
    pub(crate) fn renamed(&self, py: Python<'_>, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            array: self.array.clone_ref(py),
        }
    }
}

/// Returns the columns as a dict, in the order given.
pub(crate) fn dict<'a, 'py>(
    py: Python<'py>,
    columns: impl IntoIterator<Item = &'a Column>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for column in columns {
        dict.set_item(&column.name, column.array.bind(py))?;
    }
    Ok(dict)
}
