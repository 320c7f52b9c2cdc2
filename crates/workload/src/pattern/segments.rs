//! Equal segments at equal distances in the span: SNIA's segments of an active range.

use crate::random::below;

/// Draws slots uniformly from all segments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segments {
    slots: u64,
    of_segment: u64,
    stride: u64,
}

impl Segments {
    /// Places one segment of `length_bytes` at the start of each stride from the start of the span;
    /// slots are `unit_bytes` long.
    pub(crate) fn new(count: u32, length_bytes: u64, stride_bytes: u64, unit_bytes: u32) -> Self {
        let unit = u64::from(unit_bytes);
        let of_segment = length_bytes / unit;
        Self {
            slots: u64::from(count) * of_segment,
            of_segment,
            stride: stride_bytes / unit,
        }
    }

    #[inline]
    pub(crate) fn slot(&self, draw: u64) -> u64 {
        let drawn = below(draw, self.slots);
        drawn / self.of_segment * self.stride + drawn % self.of_segment
    }
}
