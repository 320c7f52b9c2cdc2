//! One block after the other, from an explicit cursor.
//!
//! Source i of n begins at i/n of the span, rounded down to a block, and wraps at the end of the
//! whole span; the sources do not wait for each other. A source's *part* ends where the next source
//! begins, so the parts together cover the span exactly once. The cursor is the offset of the next
//! I/O. After the last block it stays at the span's end until the next I/O wraps, so that it always
//! tells whether a part is done.

use std::sync::Arc;

use crate::blocks::{Blocks, Grid};
use crate::spec::Span;

/// Returns the offset at which source `source` of `sources` begins; `source == sources` gives the
/// end.
pub(crate) fn part_start(span: Span, unit_bytes: u32, source: u32, sources: u32) -> u64 {
    let unit = u64::from(unit_bytes);
    let units = u128::from(span.length / unit);
    span.start + (units * u128::from(source) / u128::from(sources)) as u64 * unit
}

/// Blocks of one size, one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Sequential {
    pub(crate) cursor: u64,
    first: u64,
    end: u64,
    bytes: u32,
}

impl Sequential {
    pub(crate) fn new(grid: Grid, cursor: u64) -> Self {
        Self {
            cursor,
            first: grid.first,
            end: grid.offset(grid.slots),
            bytes: grid.bytes,
        }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> (u64, u32) {
        let at = if self.cursor == self.end {
            self.first
        } else {
            self.cursor
        };
        self.cursor = at + u64::from(self.bytes);
        (at, self.bytes)
    }
}

/// Blocks of drawn sizes, one after the other without gaps.
///
/// All sizes are multiples of the smallest one. Before the span's end, a size that does not fit is
/// replaced by the largest one that does. The span is used to its last byte.
#[derive(Debug, Clone)]
pub(crate) struct SequentialSizes {
    pub(crate) cursor: u64,
    first: u64,
    end: u64,
    blocks: Arc<Blocks>,
}

impl SequentialSizes {
    pub(crate) fn new(span: Span, blocks: Arc<Blocks>, cursor: u64) -> Self {
        Self {
            cursor,
            first: span.start,
            end: span.end(),
            blocks,
        }
    }

    pub(crate) fn next(&mut self, draw: u64) -> (u64, u32) {
        let at = if self.cursor == self.end {
            self.first
        } else {
            self.cursor
        };
        let room_bytes = self.end - at;
        let mut bytes = self.blocks.pick(draw).bytes;
        if u64::from(bytes) > room_bytes {
            bytes = self.blocks.largest_within(room_bytes);
        }
        self.cursor = at + u64::from(bytes);
        (at, bytes)
    }
}
