//! The flash translation layer: write streams, free superblocks, garbage collection paced against the host.

use std::collections::VecDeque;

use crate::gc::VictimRule;
use crate::mapping::{Map, NONE};

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
    /// The host's open word line is programmed before it is full; `last` is its last unit, which stays empty.
    fn program_early(&mut self, last: u32) {
        let _ = last;
    }
}

/// Where a stream writes next.
#[derive(Debug, Clone, Copy)]
struct OpenBlock {
    block: u32,
    next: u32,
    end: u32,
}

impl OpenBlock {
    const CLOSED: Self = Self {
        block: NONE,
        next: 0,
        end: 0,
    };

    fn is_full(self) -> bool {
        self.next == self.end
    }
}

/// The superblock being collected.
#[derive(Debug, Clone, Copy)]
struct Victim {
    block: u32,
    cursor: u32,
    end: u32,
    /// Valid units when it was chosen, and the space that collecting it wins.
    valid_at_start: u32,
    gain: u32,
    /// Moves owed to the host's writes, in `1 / gain` of a move.
    owed: u64,
}

/// Counts since they were last reset, in units of 4 KiB and in superblocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FtlCounts {
    /// Units written by the host.
    pub host_units: u64,
    /// Units moved by garbage collection.
    pub moved_units: u64,
    /// Superblocks erased.
    pub erases: u64,
    /// Units left empty because a flush could not wait for data to fill their word line.
    pub padded_units: u64,
}

impl FtlCounts {
    /// Units programmed.
    pub fn flash_units(&self) -> u64 {
        self.host_units + self.moved_units + self.padded_units
    }

    /// Units programmed for each unit the host wrote; `None` before the first.
    pub fn write_amplification(&self) -> Option<f64> {
        (self.host_units > 0).then(|| self.flash_units() as f64 / self.host_units as f64)
    }
}

/// The translation layer of a drive whose victims are chosen by `R`.
#[derive(Debug, Clone)]
pub struct Ftl<R> {
    map: Map,
    rule: R,
    free: VecDeque<u32>,
    host: OpenBlock,
    moved: OpenBlock,
    victim: Option<Victim>,
    /// Collection keeps at least this many superblocks free.
    reserve: usize,
    closed_clock: u64,
    counts: FtlCounts,
}

/// Superblocks below which the host waits for collection: one for each stream to open.
const URGENT: usize = 2;

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
        }
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
        let idle =
            self.free.len() as f64 * per_block + unwritten(self.host) + unwritten(self.moved);
        self.map.mapped() as f64 / (blocks.count() as f64 * per_block - idle)
    }

    /// Writes one unit for the host.
    #[inline]
    pub fn write(&mut self, logical: u32, flash: &mut impl Flash) -> u32 {
        if self.host.is_full() {
            self.open_host(flash);
        }
        let physical = self.host.next;
        self.host.next += 1;
        self.map.place(logical, physical);
        flash.program_host(physical);
        self.counts.host_units += 1;
        if self.victim.is_some() || self.free.len() < self.reserve {
            self.collect_paced(flash);
        }
        physical
    }

    /// Ends the host's open word line of `units` units, so that all that was written lies in flash.
    pub fn end_word_line(&mut self, units: u32, flash: &mut impl Flash) {
        let over = self.host.next % units;
        if self.host.block == NONE || over == 0 {
            return;
        }
        self.counts.padded_units += u64::from(units - over);
        self.host.next += units - over;
        flash.program_early(self.host.next - 1);
    }

    /// Forgets one unit. Returns whether it held data.
    pub fn trim(&mut self, logical: u32) -> bool {
        self.map.unmap(logical)
    }

    fn open_host(&mut self, flash: &mut impl Flash) {
        while self.free.len() <= URGENT && self.collect_one_move(flash) {}
        let full = std::mem::replace(&mut self.host, OpenBlock::CLOSED);
        self.close(full);
        self.host = self.take_free();
    }

    fn close(&mut self, full: OpenBlock) {
        if full.block != NONE {
            self.closed_clock += 1;
            self.map.blocks.close(full.block);
            self.rule.closed(full.block, self.closed_clock);
        }
    }

    fn take_free(&mut self) -> OpenBlock {
        let block = self
            .free
            .pop_front()
            .expect("the reserve holds a superblock for each stream");
        let per_block = self.map.blocks.units_per_block();
        OpenBlock {
            block,
            next: block * per_block,
            end: (block + 1) * per_block,
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

    fn choose_victim(&mut self) -> bool {
        let Some(block) = self.rule.choose(&self.map.blocks, self.closed_clock) else {
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
        });
        true
    }

    /// Moves one unit of the victim, or erases it when it is empty. Returns whether there was anything to do.
    fn collect_one_move(&mut self, flash: &mut impl Flash) -> bool {
        if self.victim.is_none() && !self.choose_victim() {
            return false;
        }
        let Some(victim) = self.victim.as_mut() else {
            return false;
        };
        if let Some(from) = self.map.next_valid(victim.cursor, victim.end) {
            if (from ^ victim.cursor) & !63 != 0 || from.is_multiple_of(64) {
                self.map.expect_moves(from + 64);
            }
            victim.cursor = from + 1;
            self.move_unit(from, flash);
        }
        self.erase_if_empty(flash);
        true
    }

    fn move_unit(&mut self, from: u32, flash: &mut impl Flash) {
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
        self.counts.moved_units += 1;
    }

    fn erase_if_empty(&mut self, flash: &mut impl Flash) {
        let Some(victim) = self.victim else { return };
        if self.map.blocks.valid(victim.block) == 0 {
            self.map.blocks.erase(victim.block);
            flash.erase(victim.block);
            self.counts.erases += 1;
            self.free.push_back(victim.block);
            self.victim = None;
        }
    }
}
