//! What a run gives.

use metrics::Measurement;

/// What was measured, and where a later run goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What was measured.
    pub measurement: Measurement,
    /// Where each source of each stream goes on, as `Pattern::Sequential` takes it; empty for other patterns.
    pub cursors: Vec<Vec<u64>>,
}
