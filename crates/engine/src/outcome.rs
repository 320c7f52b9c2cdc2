//! The outcome of a run.

use metrics::Measurement;

/// What a run measured, and where a later run can continue.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The measurement.
    pub measurement: Measurement,
    /// Next byte offset of each source of each stream, as `Pattern::Sequential` takes it; empty for other patterns.
    pub cursors: Vec<Vec<u64>>,
}
