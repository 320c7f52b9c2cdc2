//! Aerospike ACT 6: every worker counts its own I/Os against the same start and the same interval.
//!
//! Worker by worker the distances are equal, at `rate / workers`; but since all share the start, all
//! fire together: a burst of `workers` I/Os every `workers / rate` seconds. Unlike ACT, which
//! truncates the rate of a thread to a whole number, the rate of the stream is kept exactly.

use super::even::Even;
use crate::spec::Rate;

/// The ticks of any worker: the k-th at `k * workers / rate`.
pub(crate) fn ticks(rate: Rate, workers: u32) -> Even {
    Even::new(rate, 0, u64::from(workers))
}
