//! What collection has under way: array reads for moves, how many of them at once, and the core's part in each unit.

use serde::{Deserialize, Serialize};

use crate::flash::addressing::NONE;

/// An array read for moves, whose units are taken over the channel together.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct MoveRead {
    /// The units that the read brings: so many from `first` on.
    pub(crate) first: u32,
    pub(crate) brings: u32,
    pub(crate) die: u32,
    /// Of these the units that are moved.
    pub(crate) units: u32,
    /// When the die has sensed them.
    pub(crate) sensed: u64,
}

impl MoveRead {
    pub(crate) const NONE: Self = Self {
        first: NONE,
        brings: 0,
        die: 0,
        units: 0,
        sensed: 0,
    };
}

/// The reads of collection under way, and what they take of the controller's cores.
///
/// Where their number is bounded, a read is asked of its die when one before it has been moved: sensed, taken over the channel, and
/// its units entered into the map one by one. What the host writes meanwhile fills the buffer and is programmed when the moves
/// that it needs the space of are done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Moving {
    /// The read whose units are being moved.
    pub(crate) read: MoveRead,
    /// When each of the reads that may be under way at once has been moved; empty: any number may be.
    slots: Vec<u64>,
    /// The one of the read that is under way.
    slot: usize,
    /// Core time of each unit.
    unit_core_ns: u64,
    /// Units moved because the host writes, and not charged yet.
    uncharged: u32,
    /// When all that is known to be moved has been, and of that what the host's writes asked for.
    moved_at: u64,
    asked_at: u64,
}

impl Moving {
    /// Nothing is under way. `at_once` reads may be, any number where it is 0.
    pub(crate) fn new(at_once: u32, unit_core_ns: u64) -> Self {
        Self {
            read: MoveRead::NONE,
            slots: vec![0; at_once as usize],
            slot: 0,
            unit_core_ns,
            uncharged: 0,
            moved_at: 0,
            asked_at: 0,
        }
    }

    /// Whether only so many reads may be under way at once.
    #[inline]
    pub(crate) fn is_bounded(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Takes the slot that is free first for a read that is wanted at `at`. Returns when it can be asked of its die.
    pub(crate) fn begins(&mut self, at: u64) -> u64 {
        let first = self.slots.iter().enumerate().min_by_key(|slot| slot.1);
        let Some((slot, &end)) = first else {
            return at;
        };
        self.slot = slot;
        at.max(end)
    }

    /// So many units of the read that was begun last have crossed the channel at `end`: the core enters them into the map.
    pub(crate) fn crossed(&mut self, end: u64, units: u32, unasked: bool) {
        let moved = end + self.core_of(units);
        self.slots[self.slot] = moved;
        self.moved_at = self.moved_at.max(moved);
        if !unasked {
            self.asked_at = self.asked_at.max(moved);
        }
    }

    /// The firmware takes a command of the host at `at`, for so long: what is under way goes on behind it.
    #[inline]
    pub(crate) fn gives_way(&mut self, at: u64, core_ns: u64) {
        for slot in &mut self.slots {
            if *slot > at {
                *slot += core_ns;
            }
        }
    }

    /// When all reads given so far have been moved, as far as they are bounded.
    #[inline]
    pub(crate) fn moved_at(&self) -> u64 {
        self.moved_at
    }

    /// When the moves that the host's writes have asked for so far are done, as far as they are bounded.
    #[inline]
    pub(crate) fn asked_at(&self) -> u64 {
        self.asked_at
    }

    /// Core time of so many units.
    #[inline]
    pub(crate) fn core_of(&self, units: u32) -> u64 {
        u64::from(units) * self.unit_core_ns
    }

    /// So many units are moved because the host writes.
    #[inline]
    pub(crate) fn takes_core(&mut self, units: u32) {
        self.uncharged += units;
    }

    /// Units that were moved because the host writes since this was last asked.
    #[inline]
    pub(crate) fn charge(&mut self) -> u32 {
        std::mem::take(&mut self.uncharged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_waits_for_the_one_that_is_moved_first() {
        let mut moving = Moving::new(2, 10);
        for (wanted, begins) in [(0, 0), (0, 0), (1, 150), (2, 300)] {
            assert_eq!(moving.begins(wanted), begins);
            // Five units, and the second of two at once takes 200 ns longer.
            let late = if moving.slot == 1 { 200 } else { 0 };
            moving.crossed(begins + 100 + late, 5, false);
        }
        assert_eq!((moving.asked_at(), moving.moved_at()), (450, 450));
        assert!(Moving::new(0, 0).begins(7) == 7);
    }

    #[test]
    fn a_command_of_the_host_puts_off_the_next_read_and_no_other() {
        let mut moving = Moving::new(1, 10);
        assert_eq!(moving.begins(0), 0);
        moving.crossed(100, 1, false);
        moving.gives_way(50, 7);
        assert_eq!(moving.begins(0), 117);
        moving.crossed(217, 1, false);
        // Nothing is under way any more when the next command comes.
        moving.gives_way(227, 7);
        assert_eq!((moving.begins(0), moving.begins(300)), (227, 300));
    }

    #[test]
    fn the_host_does_not_wait_for_what_nobody_asked_for() {
        let mut moving = Moving::new(1, 10);
        assert_eq!(moving.begins(0), 0);
        moving.crossed(120, 2, true);
        assert_eq!((moving.asked_at(), moving.moved_at()), (0, 140));
        moving.takes_core(3);
        assert_eq!([moving.charge(), moving.charge()], [3, 0]);
        assert_eq!(moving.core_of(3), 30);
    }
}
