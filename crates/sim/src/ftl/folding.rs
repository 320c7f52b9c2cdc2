//! Writes to the SLC cache, and folding, which empties it.

use crate::flash::{Flash, NONE};
use crate::ftl::layer::Ftl;
use crate::ftl::open_block::OpenBlock;
use crate::ftl::slc_cache::{MIN_SUPERBLOCKS, SlcCache};
use crate::ftl::victim::Victim;
use crate::ftl::victim_rule::VictimRule;
use crate::profile::spec::WhenFull;

/// Word lines folded in one step of background work.
const IDLE_WORD_LINES: u32 = 64;

impl<R: VictimRule> Ftl<R> {
    /// Takes the oldest full superblock of a dynamic cache as the next victim: no other wins more space when collected.
    pub(crate) fn cached_victim(&mut self) -> Option<Victim> {
        let slc = self.slc.as_mut().filter(|slc| slc.own_count == 0)?;
        let block = slc.full.pop_front()?;
        let valid = self.map.blocks.valid(block);
        let start = block * slc.all_units;
        Some(Victim {
            block,
            cursor: start,
            valid_at_start: valid,
            gain: slc.all_units - valid,
            owed: 0,
            one_bit: true,
        })
    }

    /// Writes a mapping unit to the cache, if it has room. Returns the physical unit of its first unit.
    pub(crate) fn write_cached(&mut self, logical: u32, flash: &mut impl Flash) -> Option<u32> {
        // A word line that was begun outside the cache is filled first.
        let past = self.host;
        let begun = past.waiting() > 0;
        if begun || (self.slc.as_ref()?.open.is_full() && !self.open_cached(flash)) {
            return None;
        }
        let first = self.slc.as_ref()?.open.next;
        for logical in logical..logical + self.together {
            let (physical, line) = self.slc.as_mut()?.open.take();
            self.map.place(logical, physical);
            if let Some(units) = line {
                flash.program_host(physical, units);
            }
        }
        self.counts.host_units += u64::from(self.together);
        self.counts.cached_units += u64::from(self.together);
        self.fold_paced(flash);
        Some(first)
    }

    /// Opens the next superblock of the cache. Returns whether there was one.
    fn open_cached(&mut self, flash: &mut impl Flash) -> bool {
        let must_wait = |slc: &SlcCache| slc.spec.when_full == WhenFull::Fold;
        let must_wait = self.slc.as_deref().is_some_and(must_wait);
        if must_wait {
            self.free_emptied_cached(flash);
        }
        loop {
            if let Some(open) = self.next_cached() {
                let Some(slc) = &mut self.slc else {
                    return false;
                };
                let before = std::mem::replace(&mut slc.open, open);
                if before.block != NONE {
                    slc.full.push_back(before.block);
                }
                flash.set_one_bit(open.block, true);
                return true;
            }
            if !must_wait {
                return false;
            }
            // The open superblock is full too. If the cache has no other, this one is folded.
            if let Some(slc) = &mut self.slc
                && slc.full.is_empty()
                && slc.folding.is_none()
                && slc.open.block != NONE
            {
                slc.full.push_back(slc.open.block);
                slc.open = OpenBlock::CLOSED;
            }
            if !self.fold_one_move(flash) {
                return false;
            }
        }
    }

    fn next_cached(&mut self) -> Option<OpenBlock> {
        let empty_units = u64::from(self.map.logical_units()) - self.map.mapped();
        let slc = self.slc.as_mut()?;
        let block = if slc.own_count > 0 {
            slc.empty.pop_front()?
        } else {
            let mut limit = slc.limit(empty_units);
            if slc.spec.when_full == WhenFull::Fold {
                limit = limit.max(MIN_SUPERBLOCKS);
            }
            // The cache must leave enough free superblocks for collection and folding.
            if slc.in_use() >= limit || self.free.len() <= self.reserve {
                return None;
            }
            self.take_free().block
        };
        let slc = self.slc.as_ref()?;
        let start = block * slc.all_units;
        Some(OpenBlock::new(block, start, slc.units, slc.lines))
    }

    /// Where every write passes through the cache: folds so fast that a superblock is empty when the open one is full.
    pub(crate) fn fold_paced(&mut self, flash: &mut impl Flash) {
        let Some(slc) = &mut self.slc else { return };
        let room = if slc.own_count > 0 {
            slc.empty.len()
        } else {
            usize::MAX
        };
        if slc.spec.when_full == WhenFull::Direct || (slc.folding.is_none() && room > 0) {
            return;
        }
        let blocks = &self.map.blocks;
        if !slc.begin_fold(|block| blocks.valid(block)) {
            return;
        }
        let together = i64::from(self.together);
        if let Some(folding) = &mut slc.folding {
            folding.owed += i64::from(folding.valid_at_start) * together;
        }
        while let Some(folding) = self.slc.as_mut().and_then(|slc| slc.folding.as_mut()) {
            let price = i64::from(folding.gain) * together;
            if folding.owed < price && folding.valid_at_start > 0 {
                return;
            }
            folding.owed = (folding.owed - price).max(0);
            self.fold_one_move(flash);
        }
    }

    /// Folds one mapping unit of the oldest full superblock, and erases the superblock when it is empty. Returns whether
    /// there was anything to fold or erase.
    fn fold_one_move(&mut self, flash: &mut impl Flash) -> bool {
        if self.moved.is_full() {
            self.keep_urgent(flash);
        }
        let blocks = &self.map.blocks;
        let Some(slc) = &mut self.slc else {
            return false;
        };
        if !slc.begin_fold(|block| blocks.valid(block)) {
            return false;
        }
        let Some(folding) = &mut slc.folding else {
            return false;
        };
        let block = folding.block;
        if blocks.valid(block) > 0 {
            let from = self.map.next_valid(folding.cursor);
            let end = from + self.together;
            folding.cursor = end;
            self.move_units(block, from, end, flash);
            self.counts.folded_units += u64::from(self.together);
            for _ in 0..self.together {
                self.make_room(flash);
            }
        }
        if self.map.blocks.valid(block) == 0 {
            self.empty_cached(block, flash);
        }
        true
    }

    /// Erases a folded superblock at once.
    fn empty_cached(&mut self, block: u32, flash: &mut impl Flash) {
        flash.erase_at_once(block);
        if let Some(slc) = &mut self.slc {
            slc.folding = None;
        }
        self.give_back_cached(block, flash);
    }

    /// Frees superblocks of the cache whose data was all overwritten or trimmed, so that nothing is left to fold.
    pub(crate) fn free_emptied_cached(&mut self, flash: &mut impl Flash) {
        while let Some(block) = self.take_emptied_cached() {
            flash.erase(block);
            self.give_back_cached(block, flash);
        }
    }

    fn take_emptied_cached(&mut self) -> Option<u32> {
        let slc = self.slc.as_mut()?;
        let is_empty = |block: u32| self.map.blocks.valid(block) == 0;
        if let Some(folding) = slc.folding.take_if(|folding| is_empty(folding.block)) {
            return Some(folding.block);
        }
        let place = slc.full.iter().position(|&block| is_empty(block))?;
        slc.full.remove(place)
    }

    fn give_back_cached(&mut self, block: u32, flash: &mut impl Flash) {
        self.map.blocks.erase(block);
        self.counts.erases += 1;
        flash.set_one_bit(block, false);
        let Some(slc) = &mut self.slc else { return };
        if slc.own_count > 0 {
            slc.empty.push_back(block);
        } else {
            self.free.push_back(block);
        }
    }

    /// Folds some of the full superblocks. Returns whether there were any.
    pub(crate) fn fold_when_idle(&mut self, flash: &mut impl Flash) -> bool {
        let mut folded = false;
        for _ in (0..self.lines.line * IDLE_WORD_LINES).step_by(self.together as usize) {
            if !self.fold_one_move(flash) {
                break;
            }
            folded = true;
        }
        folded
    }
}
