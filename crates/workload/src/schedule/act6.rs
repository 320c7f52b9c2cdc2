//! Aerospike ACT 6: every worker counts its own I/Os from the same start with the same interval.
//!
//! Each worker alone has equal distances, at a rate of `rate / workers`. Since all workers share
//! the start, they fire together: a burst of `workers` I/Os every `workers / rate` seconds. ACT
//! truncates the rate of a thread to a whole number; this schedule keeps the stream's rate exactly.

use super::even::Even;
use crate::spec::Rate;

/// Returns the ticks of any worker: the k-th is at `k * workers / rate`.
pub(crate) fn ticks(rate: Rate, workers: u32) -> Even {
    Even::new(rate, 0, u64::from(workers))
}
