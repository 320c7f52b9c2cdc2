//! The result of a run.

use metrics::Measurement;

use crate::runner::sampling::{HostBytes, Sample};

/// The measurement, and what the drive reported about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The measurement.
    pub measurement: Measurement,
    /// Offset at which each source of each stream continues, for `Pattern::Sequential`; empty for other patterns.
    pub cursors: Vec<Vec<u64>>,
    /// The drive's clock at the start of the run, in ns.
    pub zero_ns: u64,
    /// All bytes that the host moved, ramp and overshoot included.
    pub host_bytes: HostBytes,
    /// Temperature and counters, once a second and at the end.
    pub samples: Vec<Sample>,
}
