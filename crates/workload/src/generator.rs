//! The I/Os of one source, in order.

use std::sync::Arc;

use crate::blocks::{Blocks, Grid};
use crate::mix::{Mix, Op};
use crate::pattern::bands::Bands;
use crate::pattern::one_pass::OnePass;
use crate::pattern::segments::Segments;
use crate::pattern::sequential::{Sequential, SequentialSizes};
use crate::pattern::shuffled::Shuffled;
use crate::pattern::stepped::Stepped;
use crate::pattern::zipf::Zipf;
use crate::random::{Draws, FOR_OP, below, split};
use crate::recording::Reader;

/// What is asked of the drive: one operation on one range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Io {
    /// What is done.
    pub op: Op,
    /// First byte, counted from the start of the drive.
    pub offset: u64,
    /// Number of bytes.
    pub length: u32,
}

/// The I/Os of one source, in order; never ends.
///
/// The n-th I/O depends on seed, stream, source and n only (and, in a sequential pattern, on the
/// cursor it began with; of a recording, on its file alone): not on time, on other sources or on who asks.
#[derive(Debug, Clone)]
pub struct Generator {
    draws: Draws,
    mix: Mix,
    places: Places,
}

/// Where the I/Os of one source go, with the state that takes.
#[derive(Debug, Clone)]
pub(crate) enum Places {
    Uniform(Grid),
    Sequential(Sequential),
    UniformSizes(Arc<Blocks>),
    Stepped(Arc<Stepped>),
    SequentialSizes(SequentialSizes),
    Zipf(Arc<Zipf>, Skewed),
    Bands(Arc<Bands>, Skewed),
    Segments(Segments, Skewed),
    OnePass(Box<OnePass>),
    Shuffled(Box<Shuffled>),
    Recorded(Box<Reader>),
    /// Reads and writes, each with sizes or places of its own.
    Apart(Box<[Places; 2]>),
}

/// What turns the slot of a skewed pattern into a block.
#[derive(Debug, Clone)]
pub(crate) struct Skewed {
    /// Places of the smallest block: the slots that the pattern draws.
    pub(crate) unit: Grid,
    /// All sizes, where there are several.
    pub(crate) sizes: Option<Arc<Blocks>>,
}

impl Skewed {
    /// The I/O of a drawn size that contains the slot; all sizes share the hot places.
    #[inline]
    fn place(&self, slot: u64, draw: u64) -> (u64, u32) {
        let offset = self.unit.offset(slot);
        match &self.sizes {
            None => (offset, self.unit.bytes),
            Some(blocks) => {
                let grid = blocks.pick(draw);
                (grid.containing(offset), grid.bytes)
            }
        }
    }
}

impl Generator {
    pub(crate) fn new(key: u64, mix: Mix, places: Places) -> Self {
        Self {
            draws: Draws::new(key),
            mix,
            places,
        }
    }

    /// The source's next I/O.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "a generator has no end, so there is no Option to unwrap"
    )]
    pub fn next(&mut self) -> Io {
        let draw = self.draws.next();
        let (offset, length, uniform) = match &mut self.places {
            Places::Uniform(grid) => {
                let (slot, inside) = split(draw, grid.slots);
                (grid.offset(slot), grid.bytes, inside)
            }
            Places::Sequential(sequential) => {
                let (offset, length) = sequential.next();
                (offset, length, draw)
            }
            _ => return self.next_of_various(draw),
        };
        Io {
            op: self.mix.pick(uniform),
            offset,
            length,
        }
    }

    /// The next I/O of the patterns that take more than a few instructions themselves: out of the way, so
    /// that the others need not save registers for it.
    #[inline(never)]
    fn next_of_various(&mut self, draw: u64) -> Io {
        if let Places::Recorded(reader) = &mut self.places {
            return reader.next_io();
        }
        let op = self.mix.pick(draw.wrapping_mul(FOR_OP));
        let (offset, length) = self.places.place(draw, op);
        Io { op, offset, length }
    }

    /// Where a sequential source goes on: the offset behind its last I/O, which is the span's end
    /// before it wraps. `None` in the other patterns, which have no such place.
    ///
    /// Given back in [`Pattern::Sequential`](crate::spec::Pattern::Sequential), it lets a later run
    /// begin where this one ended.
    pub fn cursor(&self) -> Option<u64> {
        match &self.places {
            Places::Sequential(sequential) => Some(sequential.cursor),
            Places::SequentialSizes(sequential) => Some(sequential.cursor),
            _ => None,
        }
    }
}

impl Places {
    /// Where an I/O goes.
    fn place(&mut self, draw: u64, op: Op) -> (u64, u32) {
        match self {
            Self::Apart(sides) => sides[usize::from(op == Op::Write)].place(draw, op),
            Self::Uniform(grid) => (grid.offset(below(draw, grid.slots)), grid.bytes),
            Self::Sequential(sequential) => sequential.next(),
            Self::UniformSizes(blocks) => {
                let grid = blocks.pick(draw);
                (grid.offset(below(draw, grid.slots)), grid.bytes)
            }
            Self::Stepped(stepped) => stepped.place(draw),
            Self::SequentialSizes(sequential) => sequential.next(draw),
            Self::Zipf(zipf, skewed) => skewed.place(zipf.slot(draw), draw),
            Self::Bands(bands, skewed) => skewed.place(bands.slot(draw), draw),
            Self::Segments(segments, skewed) => skewed.place(segments.slot(draw), draw),
            Self::OnePass(pass) => pass.next(draw),
            Self::Shuffled(shuffled) => shuffled.next(),
            Self::Recorded(reader) => {
                let io = reader.next_io();
                (io.offset, io.length)
            }
        }
    }
}
