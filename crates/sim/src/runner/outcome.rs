//! What a run gives.

use metrics::Measurement;

use crate::runner::sampling::{HostBytes, Sample};

/// What was measured, and what the drive told of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What was measured.
    pub measurement: Measurement,
    /// Where each source of each stream goes on, as `Pattern::Sequential` takes it; empty for other patterns.
    pub cursors: Vec<Vec<u64>>,
    /// The run's zero on the drive's clock, ns.
    pub zero_ns: u64,
    /// Everything the host moved, ramp and overshoot included.
    pub host_bytes: HostBytes,
    /// Heat and counters once a second, and at the end.
    pub samples: Vec<Sample>,
}
