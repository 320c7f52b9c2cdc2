//! Work of the translation layer that no host write requires: wear levelling, collection when idle, and purges.

use crate::flash::Flash;
use crate::ftl::layer::{Ftl, FtlCounts};
use crate::ftl::open_block::OpenBlock;
use crate::ftl::translation::Translation;
use crate::ftl::victim_rule::VictimRule;

/// Word lines moved in one step of background work.
const IDLE_WORD_LINES: u32 = 32;

impl<R: VictimRule> Ftl<R> {
    /// Takes the free superblock with the fewest erases.
    pub(crate) fn take_coldest(&mut self) -> Option<u32> {
        let erases = self.map.blocks.erases();
        let coldest = (0..self.free.len()).min_by_key(|&i| erases[self.free[i] as usize])?;
        self.free.remove(coldest)
    }

    /// Looks for a closed superblock that was erased much less often than `erased`, to be collected for wear levelling.
    pub(crate) fn find_resting(&mut self, erased: u32) {
        let blocks = &self.map.blocks;
        let threshold = self.wear.move_resting_after.unwrap_or(u32::MAX);
        let count = |block: u32| blocks.erases()[block as usize];
        self.resting = blocks
            .min_erased()
            .filter(|&rested| count(erased) - count(rested).min(count(erased)) > threshold);
    }

    /// Collects part of a victim if fewer superblocks are free than wanted when idle, and if this wins space. Returns whether
    /// it did.
    fn collect_when_idle(&mut self, flash: &mut impl Flash) -> bool {
        let wanted = self.idle_free + self.slc.as_ref().map_or(0, |slc| slc.wanted_free());
        if self.victim.is_none() && (self.free.len() >= wanted || !self.choose_victim()) {
            return false;
        }
        if self.victim.is_some_and(|victim| victim.gain == 0) {
            return false;
        }
        self.collect(self.lines.line * IDLE_WORD_LINES, flash);
        true
    }
}

impl<R: VictimRule> Translation for Ftl<R> {
    #[inline]
    fn write<F: Flash>(&mut self, logical: u32, flash: &mut F) {
        Ftl::write(self, logical, flash);
    }

    fn write_together<F: Flash>(&mut self, first: u32, flash: &mut F) {
        Ftl::write_together(self, first, flash);
    }

    #[inline]
    fn physical(&self, logical: u32) -> u32 {
        self.map.lookup(logical)
    }

    fn mapped(&self) -> u64 {
        self.map.mapped()
    }

    fn trim<F: Flash>(&mut self, logical: u32, flash: &mut F) -> bool {
        Ftl::trim(self, logical, flash)
    }

    fn end_word_line<F: Flash>(&mut self, flash: &mut F) {
        Ftl::end_word_line(self, flash);
    }

    #[inline]
    fn expect_logical(&self, logical: u32) {
        self.map.expect_logical(logical);
    }

    #[inline]
    fn expect_overwrite(&self, logical: u32) {
        self.map.expect_overwrite(logical);
    }

    fn work_when_idle<F: Flash>(&mut self, flash: &mut F) -> bool {
        self.fold_when_idle(flash) || self.collect_when_idle(flash)
    }

    fn purge<F: Flash>(&mut self, flash: &mut F) {
        flash.discard(match &mut self.merged {
            None => self.host.waiting(),
            Some(merged) => merged.forget(),
        });
        for logical in 0..self.map.logical_units() {
            self.map.unmap(logical);
        }
        if let Some(slc) = &mut self.slc {
            slc.purge(flash);
        }
        for block in 0..self.map.blocks.count() as u32 {
            if self.map.blocks.is_closed(block) {
                self.map.blocks.withdraw(block);
            }
            self.map.blocks.erase(block);
            flash.erase_at_once(block);
        }
        self.rule.purged();
        self.host = OpenBlock::CLOSED;
        self.moved = OpenBlock::CLOSED;
        self.victim = None;
        self.works = false;
        self.resting = None;
        let cached = |block: &u32| !self.slc.as_ref().is_some_and(|slc| slc.owns(*block));
        self.free = (0..self.map.blocks.count() as u32).filter(cached).collect();
    }

    fn place_steady(&mut self, seed: u64) -> bool {
        Ftl::place_steady(self, seed)
    }

    fn counts(&self) -> FtlCounts {
        self.counts
    }

    fn reset_counts(&mut self) {
        self.counts = FtlCounts::default();
    }

    fn effective_spare(&self) -> f64 {
        1.0 - self.effective_utilisation()
    }

    fn is_in_use(&self) -> bool {
        self.keeps_no_more_than_it_wants()
    }

    fn wear(&self) -> (u32, u32) {
        let erases = self.map.blocks.erases().iter().copied();
        let lowest = erases.clone().min().unwrap_or(0);
        (lowest, erases.max().unwrap_or(0))
    }
}
