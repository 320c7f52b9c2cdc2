//! What is wrong with a workload.

use std::fmt;

use thiserror::Error;

/// A value of a workload that is out of bounds or contradicts another one.
///
/// Change the named field so that it obeys the bound; nothing has been issued.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{field} is {value}: {bound}")]
pub struct SpecError {
    /// Path of the field, such as `streams[0].span.length`.
    pub field: String,
    /// The value it has.
    pub value: String,
    /// What it must be, as a clause that begins with "must".
    pub bound: String,
}

impl SpecError {
    pub(crate) fn new(
        field: impl Into<String>,
        value: impl fmt::Display,
        bound: impl Into<String>,
    ) -> Self {
        Self {
            field: field.into(),
            value: value.to_string(),
            bound: bound.into(),
        }
    }
}
