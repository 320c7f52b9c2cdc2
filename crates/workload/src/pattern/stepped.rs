//! Blocks of any size at any multiple of one step, as ACT places its records on 512-byte sectors.

use crate::random::{FOR_SIZE, below};
use crate::spec::{BlockWeight, Span};
use crate::weighted::Weighted;

/// All sizes have the same places; the last one leaves room for the largest block.
#[derive(Debug, Clone)]
pub(crate) struct Stepped {
    first: u64,
    slots: u64,
    step_bytes: u64,
    choice: Weighted,
    bytes: Box<[u32]>,
}

impl Stepped {
    pub(crate) fn new(span: Span, step_bytes: u32, block: &[BlockWeight]) -> Self {
        let weights: Vec<u64> = block.iter().map(|b| u64::from(b.weight)).collect();
        let bytes: Box<[u32]> = block.iter().map(|b| b.bytes).collect();
        let largest = bytes.iter().copied().max().unwrap_or(0);
        Self {
            first: first(span, step_bytes),
            slots: Self::slots(span, step_bytes, largest),
            step_bytes: u64::from(step_bytes),
            choice: Weighted::new(&weights),
            bytes,
        }
    }

    /// Returns the number of places at which the largest block still ends inside the span.
    pub(crate) fn slots(span: Span, step_bytes: u32, largest_bytes: u32) -> u64 {
        let first = first(span, step_bytes);
        span.end()
            .checked_sub(u64::from(largest_bytes))
            .and_then(|last| last.checked_sub(first))
            .map_or(0, |room| room / u64::from(step_bytes) + 1)
    }

    /// Returns offset and length that a draw selects.
    #[inline]
    pub(crate) fn place(&self, draw: u64) -> (u64, u32) {
        let size = self.bytes[self.choice.pick(draw.wrapping_mul(FOR_SIZE))];
        (self.first + below(draw, self.slots) * self.step_bytes, size)
    }
}

/// Returns the first multiple of the step in the span.
fn first(span: Span, step_bytes: u32) -> u64 {
    let step = u64::from(step_bytes);
    span.start.div_ceil(step).saturating_mul(step)
}
