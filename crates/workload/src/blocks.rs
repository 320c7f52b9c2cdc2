//! Block sizes, and the places in the span at which a block of each size may begin.

use crate::random::FOR_SIZE;
use crate::spec::{BlockWeight, Span};
use crate::weighted::Weighted;

/// The places of one block size: the absolute multiples of the size at which a block begins and
/// ends inside the span.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid {
    /// Offset of the first place, in bytes.
    pub(crate) first: u64,
    /// Number of places; at least 1 in a valid workload.
    pub(crate) slots: u64,
    /// Block size, in bytes.
    pub(crate) bytes: u32,
}

impl Grid {
    pub(crate) fn new(span: Span, bytes: u32) -> Self {
        let block = u64::from(bytes);
        let from = span.start.div_ceil(block);
        let to = span.end() / block;
        Self {
            first: from.saturating_mul(block),
            slots: to.saturating_sub(from),
            bytes,
        }
    }

    /// Returns the offset of a place.
    #[inline]
    pub(crate) fn offset(&self, slot: u64) -> u64 {
        self.first + slot * u64::from(self.bytes)
    }

    /// Returns the offset of the block that contains `offset`, or of the nearest block at the edge
    /// of the span.
    #[inline]
    pub(crate) fn containing(&self, offset: u64) -> u64 {
        let slot = offset.saturating_sub(self.first) / u64::from(self.bytes);
        self.offset(slot.min(self.slots - 1))
    }
}

/// The weighted block sizes of a stream, and the places of each.
#[derive(Debug, Clone)]
pub(crate) struct Blocks {
    choice: Weighted,
    grids: Box<[Grid]>,
    descending_bytes: Box<[u32]>,
}

impl Blocks {
    pub(crate) fn new(span: Span, block: &[BlockWeight]) -> Self {
        let weights: Vec<u64> = block.iter().map(|b| u64::from(b.weight)).collect();
        let mut descending_bytes: Vec<u32> = block.iter().map(|b| b.bytes).collect();
        descending_bytes.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            choice: Weighted::new(&weights),
            grids: block.iter().map(|b| Grid::new(span, b.bytes)).collect(),
            descending_bytes: descending_bytes.into_boxed_slice(),
        }
    }

    /// Returns the places of the block size that an I/O's draw selects.
    #[inline]
    pub(crate) fn pick(&self, draw: u64) -> &Grid {
        &self.grids[self.choice.pick(draw.wrapping_mul(FOR_SIZE))]
    }

    /// Returns the largest size that fits into `room_bytes`; 0 if none does.
    pub(crate) fn largest_within(&self, room_bytes: u64) -> u32 {
        let fits = |bytes: &&u32| u64::from(**bytes) <= room_bytes;
        self.descending_bytes
            .iter()
            .find(fits)
            .copied()
            .unwrap_or(0)
    }
}
