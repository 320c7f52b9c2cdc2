//! ACT before 6.0: one generator makes requests at an even pace and gives them to queues in turn.
//!
//! Arrival n of the stream goes to queue `n mod queues`, from which the queue's workers take it.

use super::even::Even;
use crate::spec::Rate;

/// Returns the arrivals of one queue: the k-th is arrival `queue + k * queues` of the stream.
pub(crate) fn queue(rate: Rate, queues: u32, queue: u32) -> Even {
    Even::new(rate, u64::from(queue), u64::from(queues))
}
