//! The flash translation layer: write streams, free superblocks, garbage collection paced against the host.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::drive::DriveSpec;
use crate::gc::VictimRule;
use crate::mapping::{Map, NONE};
use crate::nand::UNIT_BYTES;
use crate::options::WearRule;
use crate::slc_cache::SlcCache;

/// What the translation layer asks of the flash. The timing model charges each call; tests of theory count them.
pub trait Flash {
    /// A host unit lands in the physical unit.
    fn program_host(&mut self, physical: u32);
    /// A valid unit is read to be moved.
    fn read_for_move(&mut self, physical: u32);
    /// A moved unit lands in the physical unit.
    fn program_moved(&mut self, physical: u32);
    /// A superblock is erased.
    fn erase(&mut self, block: u32);
    /// The host's open word line is programmed before it is full: it holds `units`, and `last` is its last place.
    fn program_early(&mut self, last: u32, units: u32) {
        let _ = (last, units);
    }
    /// A host unit lands in a superblock that is used with one bit a cell.
    fn program_one_bit(&mut self, physical: u32) {
        self.program_host(physical);
    }
    /// From now on a superblock is used with one bit a cell, or with all of them again.
    fn set_one_bit(&mut self, block: u32, on: bool) {
        let _ = (block, on);
    }
    /// Units that wait in an open word line will never be programmed.
    fn discard(&mut self, units: u32) {
        let _ = units;
    }
}

/// Where a stream writes next.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct OpenBlock {
    pub(crate) block: u32,
    pub(crate) next: u32,
    pub(crate) end: u32,
}

impl OpenBlock {
    pub(crate) const CLOSED: Self = Self {
        block: NONE,
        next: 0,
        end: 0,
    };

    pub(crate) fn is_full(self) -> bool {
        self.next == self.end
    }
}

/// The superblock being collected.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Victim {
    pub(crate) block: u32,
    pub(crate) cursor: u32,
    pub(crate) end: u32,
    /// Valid units when it was chosen, and the space that collecting it wins.
    pub(crate) valid_at_start: u32,
    pub(crate) gain: u32,
    /// Moves owed to the host's writes, in `1 / gain` of a move.
    pub(crate) owed: u64,
    /// Whether it is used with one bit a cell: then its units are folded.
    pub(crate) one_bit: bool,
}

/// Counts since they were last reset, in units of 4 KiB and in superblocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FtlCounts {
    /// Units written by the host.
    pub host_units: u64,
    /// Units moved by garbage collection.
    pub moved_units: u64,
    /// Superblocks erased.
    pub erases: u64,
    /// Units left empty because a flush could not wait for data to fill their word line.
    pub padded_units: u64,
    /// Of the host's units, those written with one bit a cell.
    pub cached_units: u64,
    /// Units moved from superblocks with one bit a cell to those with all.
    pub folded_units: u64,
    /// Units moved because their superblock had been erased less often than others.
    pub levelled_units: u64,
}

impl FtlCounts {
    /// Units programmed.
    pub fn flash_units(&self) -> u64 {
        self.host_units + self.moved_units + self.folded_units + self.padded_units
    }

    /// These and others.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            host_units: self.host_units + other.host_units,
            moved_units: self.moved_units + other.moved_units,
            erases: self.erases + other.erases,
            padded_units: self.padded_units + other.padded_units,
            cached_units: self.cached_units + other.cached_units,
            folded_units: self.folded_units + other.folded_units,
            levelled_units: self.levelled_units + other.levelled_units,
        }
    }

    /// Units programmed with one bit a cell for each unit the host wrote; `None` before the first.
    pub fn one_bit_amplification(&self) -> Option<f64> {
        (self.host_units > 0).then(|| self.cached_units as f64 / self.host_units as f64)
    }

    /// Units programmed with all bits of a cell for each unit the host wrote; `None` before the first.
    pub fn many_bit_amplification(&self) -> Option<f64> {
        let units = self.flash_units() - self.cached_units;
        (self.host_units > 0).then(|| units as f64 / self.host_units as f64)
    }

    /// Units programmed for each unit the host wrote; `None` before the first.
    pub fn write_amplification(&self) -> Option<f64> {
        (self.host_units > 0).then(|| self.flash_units() as f64 / self.host_units as f64)
    }
}

/// The translation layer of a drive whose victims are chosen by `R`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ftl<R> {
    pub(crate) map: Map,
    pub(crate) rule: R,
    pub(crate) free: VecDeque<u32>,
    pub(crate) host: OpenBlock,
    pub(crate) moved: OpenBlock,
    pub(crate) victim: Option<Victim>,
    /// Collection keeps at least this many superblocks free.
    pub(crate) reserve: usize,
    closed_clock: u64,
    pub(crate) counts: FtlCounts,
    /// Units of a word line of the host's stream.
    pub(crate) word_line_units: u32,
    pub(crate) wear: WearRule,
    /// A superblock to be collected next because it was erased less often than others.
    pub(crate) resting: Option<u32>,
    /// Superblocks that are to be free when the drive has been idle.
    pub(crate) idle_free: usize,
    pub(crate) slc: Option<Box<SlcCache>>,
}

/// Superblocks below which the host waits for collection: one for each stream to open.
pub(crate) const URGENT: usize = 2;

impl<R: VictimRule> Ftl<R> {
    /// An erased drive. `reserve` superblocks (more than two) are kept free by collection.
    pub fn new(
        logical_units: u32,
        superblocks: u32,
        units_per_block: u32,
        reserve: u32,
        rule: R,
    ) -> Self {
        Self {
            map: Map::new(logical_units, superblocks, units_per_block),
            rule,
            free: (0..superblocks).collect(),
            host: OpenBlock::CLOSED,
            moved: OpenBlock::CLOSED,
            victim: None,
            reserve: reserve as usize,
            closed_clock: 0,
            counts: FtlCounts::default(),
            word_line_units: 1,
            wear: WearRule::default(),
            resting: None,
            idle_free: 0,
            slc: None,
        }
    }

    /// The translation layer of a drive of superblocks over all dies.
    pub fn of_drive(spec: &DriveSpec, rule: R) -> Self {
        let geometry = &spec.geometry;
        let options = &spec.options;
        let mut ftl = Self::new(
            (spec.user_bytes / u64::from(UNIT_BYTES)) as u32,
            geometry.superblocks,
            geometry.units_per_superblock(),
            spec.reserve,
            rule,
        );
        ftl.word_line_units = geometry.units_per_program();
        ftl.idle_free = options.idle_free_superblocks as usize;
        ftl.slc = options.slc.map(|slc| {
            let cache = SlcCache::new(slc, geometry, &mut ftl.free);
            Box::new(cache)
        });
        ftl.levelled(options.wear)
    }

    /// The same with word lines of so many units, as for one plane.
    #[must_use]
    pub fn with_word_lines(mut self, units: u32) -> Self {
        self.word_line_units = units;
        self
    }

    /// The same with a rule for wear.
    #[must_use]
    pub fn levelled(mut self, wear: WearRule) -> Self {
        self.wear = wear;
        self
    }

    /// The cache of superblocks with one bit a cell, if there is one.
    pub fn slc(&self) -> Option<&SlcCache> {
        self.slc.as_deref()
    }

    /// The map, for reading.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// Work since the last [`reset_counts`](Self::reset_counts).
    pub fn counts(&self) -> FtlCounts {
        self.counts
    }

    /// Starts counting anew, as at a step's boundary.
    pub fn reset_counts(&mut self) {
        self.counts = FtlCounts::default();
    }

    /// User units over the units that can hold data or be invalid at this moment: free superblocks and the unwritten rest of
    /// the open ones hold no spare, so theory is compared at this ratio.
    pub fn effective_utilisation(&self) -> f64 {
        let blocks = &self.map.blocks;
        let per_block = f64::from(blocks.units_per_block());
        let unwritten = |open: OpenBlock| f64::from(open.end - open.next);
        let cached = self.slc.as_ref().map_or(0, |slc| slc.superblocks());
        let idle = (self.free.len() + cached) as f64 * per_block
            + unwritten(self.host)
            + unwritten(self.moved);
        self.map.mapped() as f64 / (blocks.count() as f64 * per_block - idle)
    }

    /// Writes one unit for the host.
    #[inline]
    pub fn write(&mut self, logical: u32, flash: &mut impl Flash) -> u32 {
        if self.slc.is_some()
            && let Some(physical) = self.write_cached(logical, flash)
        {
            return physical;
        }
        if self.host.is_full() {
            self.open_host(flash);
        }
        let physical = self.host.next;
        self.host.next += 1;
        self.map.place(logical, physical);
        flash.program_host(physical);
        self.counts.host_units += 1;
        self.make_room(flash);
        physical
    }

    /// Ends the host's open word line, so that all that was written lies in flash.
    pub fn end_word_line(&mut self, flash: &mut impl Flash) {
        if let Some(slc) = &mut self.slc {
            self.counts.padded_units += slc.end_word_line(flash);
        }
        let open = &mut self.host;
        self.counts.padded_units += pad(open, self.word_line_units, flash);
    }

    /// Forgets one unit. Returns whether it held data.
    pub fn trim(&mut self, logical: u32) -> bool {
        self.map.unmap(logical)
    }

    fn open_host(&mut self, flash: &mut impl Flash) {
        self.keep_urgent(flash);
        let full = std::mem::replace(&mut self.host, OpenBlock::CLOSED);
        self.close(full);
        self.host = self.take_free();
    }

    /// Collects until a stream can open a superblock.
    pub(crate) fn keep_urgent(&mut self, flash: &mut impl Flash) {
        while self.free.len() <= URGENT && self.collect_one_move(flash) {
            // All there is to collect is full: what is being folded will free a superblock.
            if self.victim.is_some_and(|victim| victim.gain == 0) {
                return;
            }
        }
    }

    fn close(&mut self, full: OpenBlock) {
        if full.block != NONE {
            self.closed_clock += 1;
            self.map.blocks.close(full.block);
            self.rule.closed(full.block, self.closed_clock);
        }
    }

    pub(crate) fn take_free(&mut self) -> OpenBlock {
        let block = if self.wear.coldest_first {
            self.take_coldest()
        } else {
            self.free.pop_front()
        };
        let block = block.expect("the reserve holds a superblock for each stream");
        let per_block = self.map.blocks.units_per_block();
        OpenBlock {
            block,
            next: block * per_block,
            end: (block + 1) * per_block,
        }
    }

    /// Makes room where the host's stream or a fold has used some.
    #[inline]
    pub(crate) fn make_room(&mut self, flash: &mut impl Flash) {
        if self.victim.is_some() || self.free.len() < self.reserve {
            self.collect_paced(flash);
        }
    }

    /// Moves so many units that the victim is empty when the host has used up the space that it wins.
    fn collect_paced(&mut self, flash: &mut impl Flash) {
        if self.victim.is_none() && !self.choose_victim() {
            return;
        }
        if let Some(victim) = &mut self.victim {
            victim.owed += u64::from(victim.valid_at_start);
        }
        while let Some(victim) = &mut self.victim {
            let price = u64::from(victim.gain);
            if victim.owed < price && victim.valid_at_start > 0 {
                return;
            }
            victim.owed = victim.owed.saturating_sub(price);
            self.collect_one_move(flash);
        }
    }

    pub(crate) fn choose_victim(&mut self) -> bool {
        if self.slc.is_some()
            && let Some(cached) = self.cached_victim()
        {
            self.victim = Some(cached);
            return true;
        }
        let block = match self.resting.take() {
            Some(block) if self.map.blocks.is_closed(block) => {
                self.rule.withdrawn(block);
                self.counts.levelled_units += u64::from(self.map.blocks.valid(block));
                Some(block)
            }
            _ => self.rule.choose(&self.map.blocks, self.closed_clock),
        };
        let Some(block) = block else {
            return false;
        };
        let valid = self.map.blocks.valid(block);
        let per_block = self.map.blocks.units_per_block();
        self.map.blocks.withdraw(block);
        self.victim = Some(Victim {
            block,
            cursor: block * per_block,
            end: (block + 1) * per_block,
            valid_at_start: valid,
            gain: per_block - valid,
            owed: 0,
            one_bit: false,
        });
        true
    }

    /// Moves one unit of the victim, or erases it when it is empty. Returns whether there was anything to do.
    pub(crate) fn collect_one_move(&mut self, flash: &mut impl Flash) -> bool {
        if self.victim.is_none() && !self.choose_victim() {
            return false;
        }
        let Some(victim) = self.victim.as_mut() else {
            return false;
        };
        if let Some(from) = self.map.next_valid(victim.cursor, victim.end) {
            if (from ^ victim.cursor) & !63 != 0 || from.trailing_zeros() >= 6 {
                self.map.expect_moves(from + 64);
            }
            victim.cursor = from + 1;
            let folds = u64::from(victim.one_bit);
            self.move_unit(from, flash);
            self.counts.folded_units += folds;
            self.counts.moved_units += 1 - folds;
        }
        self.erase_if_empty(flash);
        true
    }

    pub(crate) fn move_unit(&mut self, from: u32, flash: &mut impl Flash) {
        let logical = self.map.owner(from).expect("a valid unit has an owner");
        if self.moved.is_full() {
            let full = std::mem::replace(&mut self.moved, OpenBlock::CLOSED);
            self.close(full);
            self.moved = self.take_free();
        }
        let to = self.moved.next;
        self.moved.next += 1;
        flash.read_for_move(from);
        self.map.place(logical, to);
        flash.program_moved(to);
    }

    fn erase_if_empty(&mut self, flash: &mut impl Flash) {
        let Some(victim) = self.victim else { return };
        if self.map.blocks.valid(victim.block) == 0 {
            self.map.blocks.erase(victim.block);
            flash.erase(victim.block);
            self.counts.erases += 1;
            if victim.one_bit {
                flash.set_one_bit(victim.block, false);
            }
            self.free.push_back(victim.block);
            self.victim = None;
            if self.wear.move_resting_after.is_some() {
                self.find_resting(victim.block);
            }
        }
    }
}

/// Ends the open word line of a stream. Returns the units left empty.
pub(crate) fn pad(open: &mut OpenBlock, word_line_units: u32, flash: &mut impl Flash) -> u64 {
    let over = open.next % word_line_units;
    if open.block == NONE || over == 0 {
        return 0;
    }
    let empty = word_line_units - over;
    open.next += empty;
    flash.program_early(open.next - 1, over);
    u64::from(empty)
}
