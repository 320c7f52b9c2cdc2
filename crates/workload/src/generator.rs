//! Draws the I/Os of one source, in order.

use std::sync::Arc;

use crate::blocks::{Blocks, Grid};
use crate::io::Io;
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

/// The I/Os of one source, in order; never ends.
///
/// The n-th I/O depends only on seed, stream, source and n, and in a sequential pattern also on the
/// first cursor. In a recording it depends only on the file. It does not depend on time, on other
/// sources or on the thread that asks.
#[derive(Debug, Clone)]
pub struct Generator {
    draws: Draws,
    mix: Mix,
    places: Places,
}

/// The places of one source's I/Os, with the state that the pattern needs.
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
    /// Reads, then writes, if they have sizes or places of their own.
    Apart(Box<[Places; 2]>),
}

/// Turns the slot that a skewed pattern draws into a block.
#[derive(Debug, Clone)]
pub(crate) struct Skewed {
    /// The places of the smallest block: the slots that the pattern draws.
    pub(crate) unit: Grid,
    /// All block sizes, if there are several.
    pub(crate) sizes: Option<Arc<Blocks>>,
}

impl Skewed {
    /// Returns offset and length of the block of a drawn size that contains the slot; so all sizes
    /// share the hot places.
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

    /// Returns the source's next I/O.
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

    /// Draws the next I/O of the patterns that need more than a few instructions. The function is
    /// kept apart so that the cheap patterns need not save registers for it.
    #[inline(never)]
    fn next_of_various(&mut self, draw: u64) -> Io {
        if let Places::Recorded(reader) = &mut self.places {
            return reader.next_io();
        }
        let op = self.mix.pick(draw.wrapping_mul(FOR_OP));
        let (offset, length) = self.places.place(draw, op);
        Io { op, offset, length }
    }

    /// Returns the offset after the last I/O of a sequential source, at which the next run can
    /// continue; before the source wraps, this is the span's end. `None` in the other patterns.
    ///
    /// Passed in [`Pattern::Sequential`](crate::spec::Pattern::Sequential), it lets a later run
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
    /// Returns offset and length of the next I/O.
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
