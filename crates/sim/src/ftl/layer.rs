//! The flash translation layer: the map, write streams and free superblocks.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::flash::{Divisor, Flash, NONE};
use crate::ftl::mapping::Map;
use crate::ftl::merged::Merged;
use crate::ftl::open_block::{Lines, OpenBlock};
use crate::ftl::slc_cache::SlcCache;
use crate::ftl::victim::Victim;
use crate::ftl::victim_rule::VictimRule;
use crate::profile::spec::{DriveSpec, Marks, UNIT, WearRule};

/// Work since the counts were last reset, in units of 4 KiB and in superblocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FtlCounts {
    /// Units placed for the host's writes.
    pub host_units: u64,
    /// Units moved by garbage collection.
    pub moved_units: u64,
    /// Superblocks erased.
    pub erases: u64,
    /// Units left empty because a flush programmed their word line before it was full.
    pub padded_units: u64,
    /// Part of `host_units`: units written with one bit per cell.
    pub cached_units: u64,
    /// Units moved from superblocks with one bit per cell to superblocks with all bits.
    pub folded_units: u64,
    /// Valid units of superblocks that were collected because they had been erased less often than others.
    pub levelled_units: u64,
    /// Part of `host_units`: units of mapping units that the host wrote in part and the drive completed.
    pub part_units: u64,
    /// Bytes that the host wrote into parts of mapping units.
    pub part_bytes: u64,
}

impl FtlCounts {
    /// Bytes that the host wrote.
    pub fn host_bytes(&self) -> u64 {
        (self.host_units - self.part_units) * UNIT + self.part_bytes
    }

    /// Bytes in `units` for each byte that the host wrote; `None` if it wrote nothing.
    fn amplification_of(&self, units: u64) -> Option<f64> {
        let host = self.host_bytes();
        (host > 0).then(|| (units * UNIT) as f64 / host as f64)
    }

    /// Units programmed, without parity and map pages.
    pub fn flash_units(&self) -> u64 {
        self.host_units + self.moved_units + self.folded_units + self.padded_units
    }

    /// Returns the sums of these counts and the others.
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
            part_units: self.part_units + other.part_units,
            part_bytes: self.part_bytes + other.part_bytes,
        }
    }

    /// Bytes programmed with one bit per cell for each byte that the host wrote; `None` if it wrote nothing.
    pub fn one_bit_amplification(&self) -> Option<f64> {
        self.amplification_of(self.cached_units)
    }

    /// Bytes programmed with all bits of a cell for each byte that the host wrote; `None` if it wrote nothing.
    pub fn many_bit_amplification(&self) -> Option<f64> {
        self.amplification_of(self.flash_units() - self.cached_units)
    }

    /// Bytes programmed for each byte that the host wrote; `None` if it wrote nothing.
    pub fn write_amplification(&self) -> Option<f64> {
        self.amplification_of(self.flash_units())
    }
}

/// A translation layer over superblocks whose victims are chosen by `R`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ftl<R> {
    pub(crate) map: Map,
    pub(crate) rule: R,
    pub(crate) free: VecDeque<u32>,
    pub(crate) host: OpenBlock,
    pub(crate) moved: OpenBlock,
    /// If present, collection writes to the host's stream, and `moved` is never opened.
    pub(crate) merged: Option<Box<Merged>>,
    pub(crate) victim: Option<Victim>,
    /// Collection keeps at least this many superblocks free.
    pub(crate) reserve: usize,
    /// Free space at which collection starts and stops; `None`: each write moves the even share that it owes.
    pub(crate) marks: Option<Marks>,
    /// Whether collection is at work: it has passed its low mark and not yet reached its high mark.
    pub(crate) works: bool,
    pub(crate) closed_clock: u64,
    pub(crate) counts: FtlCounts,
    /// Units that one array read brings.
    pub(crate) page_units: Divisor,
    /// 4 KiB units per mapping unit. They are placed and moved together, so they are also overwritten and trimmed together.
    pub(crate) together: u32,
    /// How streams fill word lines that use all bits of a cell.
    pub(crate) lines: Lines,
    pub(crate) wear: WearRule,
    /// The superblock to collect next because it was erased less often than others.
    pub(crate) resting: Option<u32>,
    /// Superblocks that should be free after the drive has been idle.
    pub(crate) idle_free: usize,
    pub(crate) slc: Option<Box<SlcCache>>,
}

impl<R: VictimRule> Ftl<R> {
    /// Creates the layer of an erased drive. Collection keeps `reserve` superblocks free, which must be more than two.
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
            merged: None,
            victim: None,
            reserve: reserve as usize,
            marks: None,
            works: false,
            closed_clock: 0,
            counts: FtlCounts::default(),
            page_units: Divisor::new(1),
            together: 1,
            lines: Lines {
                page: 1,
                line: 1,
                dies: 1,
            },
            wear: WearRule::default(),
            resting: None,
            idle_free: 0,
            slc: None,
        }
    }

    /// Creates the layer of an erased drive whose superblocks extend over all dies.
    pub fn of_drive(spec: &DriveSpec, rule: R) -> Self {
        let geometry = &spec.geometry;
        let options = &spec.options;
        let together = options.units_together();
        let units = (spec.user_bytes / UNIT) as u32;
        let mut ftl = Self::new(
            units.next_multiple_of(together),
            geometry.superblocks,
            geometry.units_per_superblock(),
            spec.reserve,
            rule,
        )
        .of_pages(geometry.units_per_read(), geometry.bits_per_cell)
        .striped(options.stripe_dies.max(1))
        .mapped_together(together);
        if options.merged_streams {
            ftl = ftl.merged();
        }
        ftl.marks = options.marks;
        ftl.idle_free = options.idle_free_superblocks as usize;
        ftl.slc = options.slc.map(|slc| {
            let cache = SlcCache::new(slc, geometry, &mut ftl.free);
            Box::new(cache)
        });
        ftl.levelled(options.wear)
    }

    /// Sets the units that a page has, all read together, and the pages that a word line has.
    #[must_use]
    pub fn of_pages(mut self, page_units: u32, pages_per_word_line: u32) -> Self {
        self.page_units = Divisor::new(page_units);
        self.lines.page = page_units;
        self.lines.line = page_units * pages_per_word_line;
        self
    }

    /// Makes the pages of a stream alternate over `dies` dies.
    #[must_use]
    pub fn striped(mut self, dies: u32) -> Self {
        self.lines.dies = dies;
        self
    }

    /// Sets the 4 KiB units per mapping unit; the number must divide the units per page.
    #[must_use]
    pub fn mapped_together(mut self, units: u32) -> Self {
        self.together = units;
        self
    }

    /// Merges the streams of host and collection into one. Excludes an SLC cache; call it after [`of_pages`](Self::of_pages)
    /// and [`striped`](Self::striped), since it copies their settings.
    #[must_use]
    pub fn merged(mut self) -> Self {
        self.merged = Some(Box::new(Merged::new(self.lines)));
        self
    }

    /// Sets the wear-levelling rule.
    #[must_use]
    pub fn levelled(mut self, wear: WearRule) -> Self {
        self.wear = wear;
        self
    }

    /// The SLC cache: superblocks with one bit per cell.
    pub fn slc(&self) -> Option<&SlcCache> {
        self.slc.as_deref()
    }

    /// The map.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// Work since the last [`reset_counts`](Self::reset_counts).
    pub fn counts(&self) -> FtlCounts {
        self.counts
    }

    /// Resets all counts to zero, as between two test steps.
    pub fn reset_counts(&mut self) {
        self.counts = FtlCounts::default();
    }

    /// Units of user data divided by the units that hold data or are invalid now. Free superblocks and the unwritten part of
    /// open ones are not counted, since they give collection no spare; theory is compared at this ratio. An SLC cache and the
    /// data in it are left out.
    pub fn effective_utilisation(&self) -> f64 {
        let blocks = &self.map.blocks;
        let per_block = f64::from(blocks.units_per_block());
        let slc = self.slc.as_ref();
        let cached = slc.map_or(0, |slc| slc.superblocks());
        let held = slc.map_or(0, |slc| slc.valid_units(|block| blocks.valid(block)));
        let idle = cached as f64 * per_block + self.unwritten_units() as f64;
        (self.map.mapped() - held) as f64 / (blocks.count() as f64 * per_block - idle)
    }

    /// Units that can be written at once: in free superblocks and in the unwritten part of open ones.
    pub(crate) fn unwritten_units(&self) -> u64 {
        let free = self.free.len() as u64 * u64::from(self.map.blocks.units_per_block());
        let rest = |open: OpenBlock| u64::from(open.end - open.next);
        free + rest(self.host) + rest(self.moved)
    }

    /// Writes one unit for the host, on a drive with mapping units of 4 KiB. Returns its physical unit.
    #[inline]
    pub fn write(&mut self, logical: u32, flash: &mut impl Flash) -> u32 {
        if self.slc.is_some()
            && let Some(physical) = self.write_cached(logical, flash)
        {
            return physical;
        }
        let physical = self.put_next(logical, flash);
        self.make_room(flash);
        physical
    }

    /// Writes a mapping unit for the host: `first` and the units after it.
    pub fn write_together(&mut self, first: u32, flash: &mut impl Flash) {
        if self.slc.is_some() && self.write_cached(first, flash).is_some() {
            return;
        }
        for logical in first..first + self.together {
            self.put_next(logical, flash);
        }
        for _ in 0..self.together {
            self.make_room(flash);
        }
    }

    /// Places a unit at the next position of the host's stream. Returns its physical unit.
    #[inline]
    fn put_next(&mut self, logical: u32, flash: &mut impl Flash) -> u32 {
        if self.host.is_full() {
            self.open_host(flash);
        }
        let (physical, line) = self.host.take();
        self.map.place(logical, physical);
        if let Some(merged) = &mut self.merged {
            merged.takes(physical);
            if let Some(units) = line {
                flash.program_shared(physical, units, merged.ends(physical));
            }
        } else if let Some(units) = line {
            flash.program_host(physical, units);
        }
        self.counts.host_units += 1;
        physical
    }

    /// Programs the host's open word lines, so that all written data is in flash. The units left empty in them are used up,
    /// so collection makes room for them as for written units.
    pub fn end_word_line(&mut self, flash: &mut impl Flash) {
        if let Some(slc) = &mut self.slc {
            let padded = slc.end_word_line(flash);
            self.counts.padded_units += padded;
            for _ in 0..padded / u64::from(self.together) {
                self.fold_paced(flash);
            }
        }
        let padded = match &mut self.merged {
            None => self.host.pad(flash),
            Some(merged) => self
                .host
                .pad_lines(|last, units| flash.program_shared(last, units, merged.ends(last))),
        };
        self.counts.padded_units += padded;
        for _ in 0..padded {
            self.make_room(flash);
        }
    }

    /// Forgets one unit. Returns whether it held data. A superblock without valid units is freed at once, without collection.
    pub fn trim(&mut self, logical: u32, flash: &mut impl Flash) -> bool {
        let physical = self.map.lookup(logical);
        if !self.map.unmap(logical) {
            return false;
        }
        let block = self.map.block_of(physical);
        if self.map.blocks.valid(block) == 0 {
            self.free_emptied(block, flash);
        }
        true
    }

    fn open_host(&mut self, flash: &mut impl Flash) {
        self.keep_urgent(flash);
        self.free_emptied_cached(flash);
        // With merged streams, collection may have opened the next superblock already.
        if self.host.is_full() {
            let full = std::mem::replace(&mut self.host, OpenBlock::CLOSED);
            self.close(full);
            self.host = self.take_free();
        }
    }

    /// Returns the stream to which collection writes.
    #[inline]
    pub(crate) fn moved_to(&mut self) -> &mut OpenBlock {
        match self.merged {
            None => &mut self.moved,
            Some(_) => &mut self.host,
        }
    }

    pub(crate) fn close(&mut self, full: OpenBlock) {
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
        let units = self.map.blocks.units_per_block();
        OpenBlock::new(block, block * units, units, self.lines)
    }
}
