//! The error of an invalid workload.

use std::fmt;

use thiserror::Error;

/// A value of a workload that is out of bounds or contradicts another value.
///
/// No I/O has been issued. Change the named field so that it obeys the bound.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{field} is {value}: {bound}")]
pub struct SpecError {
    /// Path of the field, such as `streams[0].span.length`.
    pub field: String,
    /// The value of the field.
    pub value: String,
    /// What the value must be, as a clause that begins with "must".
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
