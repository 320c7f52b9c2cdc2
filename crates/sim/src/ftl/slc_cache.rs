//! Superblocks used with one bit per cell: they are fast to write and are later emptied (*folded*) into normal ones.
//!
//! Such a superblock holds a half, a third or a quarter of its full capacity. A *static* cache owns its superblocks
//! permanently. A *dynamic* cache takes free superblocks while much of the drive is empty, and gives them back as the drive
//! fills.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::flash::{Flash, NONE};
use crate::ftl::open_block::{Lines, OpenBlock};
use crate::ftl::victim::Victim;
use crate::profile::spec::{Geometry, SlcSize, SlcSpec, UNIT};

/// The superblocks of the cache and their states.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SlcCache {
    pub(super) spec: SlcSpec,
    /// Units per superblock with one bit per cell.
    pub(super) units: u32,
    /// Units per superblock with all bits of a cell.
    pub(super) all_units: u32,
    pub(super) lines: Lines,
    /// Superblocks of a static cache, which are never used for anything else.
    own: Vec<bool>,
    pub(super) own_count: usize,
    /// Empty superblocks of a static cache.
    pub(super) empty: VecDeque<u32>,
    pub(super) open: OpenBlock,
    /// Full superblocks, the oldest first.
    pub(super) full: VecDeque<u32>,
    pub(super) folding: Option<Victim>,
}

/// Fewest superblocks of a cache that every write passes through: one to write, one to fold.
pub(super) const MIN_SUPERBLOCKS: usize = 2;

impl SlcCache {
    /// Creates an empty cache; a static one takes its superblocks from `free`.
    pub fn new(spec: SlcSpec, geometry: &Geometry, free: &mut VecDeque<u32>) -> Self {
        let all_units = geometry.units_per_superblock();
        let units = all_units / geometry.bits_per_cell;
        let mut cache = Self {
            spec,
            units,
            all_units,
            lines: Lines {
                page: geometry.units_per_read(),
                line: geometry.units_per_read(),
                dies: 1,
            },
            own: vec![false; geometry.superblocks as usize],
            own_count: 0,
            empty: VecDeque::new(),
            open: OpenBlock::CLOSED,
            full: VecDeque::new(),
            folding: None,
        };
        if let SlcSize::Static { bytes } = spec.size {
            let superblocks = cache.superblocks_for(bytes).max(MIN_SUPERBLOCKS);
            cache.empty = free.drain(..superblocks.min(free.len())).collect();
            cache.own_count = cache.empty.len();
            for &block in &cache.empty {
                cache.own[block as usize] = true;
            }
        }
        cache
    }

    fn superblocks_for(&self, bytes: u64) -> usize {
        let units = bytes / UNIT;
        units.div_ceil(u64::from(self.units)) as usize
    }

    /// Whether a superblock belongs to a static cache.
    pub fn owns(&self, block: u32) -> bool {
        self.own[block as usize]
    }

    /// Superblocks that give collection no spare: all of a static cache, or those in use by a dynamic one.
    pub fn superblocks(&self) -> usize {
        if self.own_count > 0 {
            self.own_count
        } else {
            self.in_use()
        }
    }

    pub(super) fn in_use(&self) -> usize {
        let open = usize::from(self.open.block != NONE);
        self.full.len() + open + usize::from(self.folding.is_some())
    }

    /// Units of user data in the cache; `valid` returns the valid units of a superblock.
    pub(crate) fn valid_units(&self, valid: impl Fn(u32) -> u32) -> u64 {
        let open = Some(self.open.block).filter(|&block| block != NONE);
        let folding = self.folding.map(|folding| folding.block);
        let used = self.full.iter().copied().chain(open).chain(folding);
        used.map(|block| u64::from(valid(block))).sum()
    }

    /// Bytes written to the cache and not folded yet, including overwritten ones.
    pub fn used_bytes(&self) -> u64 {
        let written = if self.open.block == NONE {
            0
        } else {
            self.units - (self.open.end - self.open.next)
        };
        let full = self.full.len() + usize::from(self.folding.is_some());
        (full as u64 * u64::from(self.units) + u64::from(written)) * UNIT
    }

    /// Superblocks that a dynamic cache wants to be free.
    pub(crate) fn wanted_free(&self) -> usize {
        match self.spec.size {
            SlcSize::Static { .. } => 0,
            SlcSize::Dynamic { bytes_at_most, .. } => self.superblocks_for(bytes_at_most),
        }
    }

    /// Most superblocks that a dynamic cache may use while `empty_units` units of the drive hold no data.
    pub(super) fn limit(&self, empty_units: u64) -> usize {
        match self.spec.size {
            SlcSize::Static { .. } => self.own_count,
            SlcSize::Dynamic {
                bytes_at_most,
                pct_of_empty,
            } => {
                let cells = empty_units * u64::from(pct_of_empty) / 100;
                let limit = (cells / u64::from(self.all_units)) as usize;
                limit.min(self.superblocks_for(bytes_at_most))
            }
        }
    }

    /// Programs the open word line, full or not. Returns the units left empty in it.
    pub(crate) fn end_word_line(&mut self, flash: &mut impl Flash) -> u64 {
        self.open.pad(flash)
    }

    /// Empties all superblocks of the cache without folding them.
    pub(crate) fn purge(&mut self, flash: &mut impl Flash) {
        flash.discard(self.open.waiting());
        for block in 0..self.own.len() as u32 {
            flash.set_one_bit(block, false);
        }
        self.open = OpenBlock::CLOSED;
        self.full.clear();
        self.folding = None;
        let blocks = 0..self.own.len() as u32;
        self.empty = blocks.filter(|&b| self.own[b as usize]).collect();
    }

    pub(super) fn begin_fold(&mut self, valid: impl Fn(u32) -> u32) -> bool {
        if self.folding.is_none()
            && let Some(block) = self.full.pop_front()
        {
            let start = block * self.all_units;
            self.folding = Some(Victim {
                block,
                cursor: start,
                valid_at_start: valid(block),
                gain: self.units,
                owed: 0,
                one_bit: true,
            });
        }
        self.folding.is_some()
    }
}
