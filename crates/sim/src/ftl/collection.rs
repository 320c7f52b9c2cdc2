//! Garbage collection: which superblock is collected next, and how fast compared with host writes.

use crate::flash::Flash;
use crate::ftl::layer::Ftl;
use crate::ftl::mapping::WORD;
use crate::ftl::open_block::OpenBlock;
use crate::ftl::victim::Victim;
use crate::ftl::victim_rule::VictimRule;

/// The host waits for collection when no more superblocks are free than this: one for each stream to open.
const URGENT: usize = 2;

impl<R: VictimRule> Ftl<R> {
    /// Collects until a stream can open a superblock, or until nothing can be collected.
    pub(crate) fn keep_urgent(&mut self, flash: &mut impl Flash) {
        while self.free.len() <= URGENT && (self.victim.is_some() || self.choose_victim()) {
            // A victim without invalid units wins no space, so only a page of it is moved: the fold under way will free a
            // superblock.
            let full = self.victim.is_some_and(|victim| victim.gain == 0);
            self.collect(if full { 1 } else { u32::MAX }, flash);
            if full && self.victim.is_some() {
                return;
            }
        }
    }

    /// Makes room after the host's stream or a fold has used some. While power is limited, collection keeps pace with every
    /// write instead of working between its marks: power that its pauses leave unused is lost.
    #[inline]
    pub(crate) fn make_room(&mut self, flash: &mut impl Flash) {
        if let Some(marks) = self.marks
            && !flash.lacks_power()
        {
            if self.is_low(marks.apart_units) {
                self.collect_paced(marks.catch_up_pct, marks.quantum_units, flash);
            }
        } else if self.victim.is_some() || self.free.len() < self.reserve {
            self.collect_paced(100, 1, flash);
        }
    }

    /// Whether collection works: from the low mark until it reaches the high mark. They lie evenly around the reserve, so
    /// that the reserve is free on average.
    fn is_low(&mut self, apart_units: u32) -> bool {
        let per_block = i64::from(self.map.blocks.units_per_block());
        let half = i64::from(apart_units) / 2;
        let mean = self.reserve as i64 * per_block;
        let until = if self.works { mean + half } else { mean - half };
        self.works = self.room() < until;
        self.works
    }

    /// Units that can be written, plus what collection has won from its victim so far.
    fn room(&self) -> i64 {
        let per_block = i64::from(self.map.blocks.units_per_block());
        let won = self.victim.map_or(0, |victim| {
            let before = i64::from(victim.valid_at_start.max(1));
            per_block * (before - i64::from(self.map.blocks.valid(victim.block))) / before
        });
        self.unwritten_units() as i64 + won
    }

    /// Charges the victim for one written unit, and moves pages once a quantum of moves is owed. At 100 percent, the victim
    /// is empty when the host has used up the space that collecting it wins; `moved_pct` scales this pace.
    #[inline]
    fn collect_paced(&mut self, moved_pct: u32, quantum: u32, flash: &mut impl Flash) {
        if self.victim.is_none() && !self.choose_victim() {
            return;
        }
        let mut due = i64::from(quantum);
        if let Some(victim) = &mut self.victim {
            victim.owed += i64::from(victim.valid_at_start) * i64::from(moved_pct) / 100;
        }
        while let Some(victim) = &self.victim
            && (victim.owed >= i64::from(victim.gain) * due || victim.valid_at_start == 0)
        {
            due = 1;
            self.collect_page(flash);
        }
    }

    /// Whether no more superblocks are free than collection keeps free: the reserve, those up to its high mark, and one that
    /// each stream may be about to open.
    pub(crate) fn keeps_no_more_than_it_wants(&self) -> bool {
        let apart = self.marks.map_or(0, |marks| marks.apart_units);
        let above = apart / self.map.blocks.units_per_block();
        self.free.len() <= self.reserve + above as usize + URGENT
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
        let start = block * per_block;
        self.map.blocks.withdraw(block);
        self.map.expect_moves(start / WORD);
        self.map.expect_moves(start / WORD + 1);
        self.victim = Some(Victim {
            block,
            cursor: start,
            valid_at_start: valid,
            gain: per_block - valid,
            owed: 0,
            one_bit: false,
        });
        true
    }

    /// Moves at least `units` units of the victim, or all that it has.
    pub(crate) fn collect(&mut self, units: u32, flash: &mut impl Flash) {
        let mut moved = 0;
        while self.victim.is_some() && moved < units {
            moved += self.collect_page(flash);
        }
    }

    /// Moves the units that the next array read of the victim brings, and erases the victim once it is empty. Returns the
    /// number of units moved.
    fn collect_page(&mut self, flash: &mut impl Flash) -> u32 {
        let Some(mut victim) = self.victim else {
            return 0;
        };
        let mut units = 0;
        if self.map.blocks.valid(victim.block) > 0 {
            let first = self.map.next_valid(victim.cursor);
            let page_units = self.page_units.by();
            let page = self.page_units.quotient(first) * page_units;
            // A page larger than a word of validity bits is moved in parts; the flash charges a single array read for them.
            let page_end = (page + page_units).min(first.saturating_add(WORD));
            units = self.move_units(victim.block, first, page_end, flash);
            if (victim.cursor ^ page_end) >= WORD {
                self.map.expect_moves(page_end / WORD + 1);
            }
            victim.cursor = page_end;
            victim.owed -= i64::from(units) * i64::from(victim.gain);
            self.victim = Some(victim);
            let moved = if victim.one_bit {
                &mut self.counts.folded_units
            } else {
                &mut self.counts.moved_units
            };
            *moved += u64::from(units);
        }
        if self.map.blocks.valid(victim.block) == 0 {
            self.erase(victim, flash);
        }
        units
    }

    /// Moves the valid units of `block` in `from..end`, which one array read brings. Returns how many there were.
    #[inline]
    pub(crate) fn move_units(
        &mut self,
        block: u32,
        from: u32,
        end: u32,
        flash: &mut impl Flash,
    ) -> u32 {
        let mut lifted = self.map.lift(block, from, end);
        let units = lifted.count_ones();
        flash.read_for_move(from, units);
        let mut left = units;
        while left > 0 {
            if self.moved_to().is_full() {
                let full = std::mem::replace(self.moved_to(), OpenBlock::CLOSED);
                self.close(full);
                *self.moved_to() = self.take_free();
            }
            let open = *self.moved_to();
            let some = left.min(open.room_in_line());
            lifted = self.map.put(lifted, from, open.block, open.next, some);
            if let Some(told) = flash.moved_units() {
                told.extend(self.map.held_in(open.next..open.next + some));
            }
            if let Some(last) = self.moved_to().take_some(some) {
                match &mut self.merged {
                    None => flash.program_moved(last),
                    Some(merged) => flash.program_shared(last, self.lines.line, merged.ends(last)),
                }
            }
            left -= some;
        }
        units
    }

    /// Frees a superblock whose last valid unit was trimmed, unless it is still being written or collected.
    #[cold]
    pub(crate) fn free_emptied(&mut self, block: u32, flash: &mut impl Flash) {
        if self.map.blocks.is_closed(block) {
            self.map.blocks.withdraw(block);
            self.rule.withdrawn(block);
            self.give_back(block, flash);
        } else if self.slc.is_some() {
            self.free_emptied_cached(flash);
        }
    }

    fn erase(&mut self, victim: Victim, flash: &mut impl Flash) {
        if victim.one_bit {
            flash.set_one_bit(victim.block, false);
        }
        self.victim = None;
        self.give_back(victim.block, flash);
    }

    /// Erases a superblock that holds no valid units, and adds it to the free ones.
    fn give_back(&mut self, block: u32, flash: &mut impl Flash) {
        self.map.blocks.erase(block);
        flash.erase(block);
        self.counts.erases += 1;
        self.free.push_back(block);
        if self.wear.move_resting_after.is_some() {
            self.find_resting(block);
        }
    }
}
