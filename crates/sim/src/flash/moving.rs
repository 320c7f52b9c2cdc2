//! Collection work in flight: array reads for moves, the bound on their number, and the core time of each unit.

use serde::{Deserialize, Serialize};

use crate::flash::addressing::NONE;

/// An array read for moves, whose units cross the channel together.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct MoveRead {
    /// The read brings `brings` units, from `first` on.
    pub(crate) first: u32,
    pub(crate) brings: u32,
    pub(crate) die: u32,
    /// How many of these units are moved.
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

/// Reads of collection in flight, and the core time that they need.
///
/// If their number is bounded, the next read goes to its die when an earlier one has been moved: sensed, transferred
/// over the channel, and its units entered into the map one by one. Host data that arrives meanwhile fills the
/// buffer. It is programmed when the moves that free its space are done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Moving {
    /// The read whose units are being moved.
    pub(crate) read: MoveRead,
    /// For each read that may be in flight, when it has been moved; empty if any number may be.
    slots: Vec<u64>,
    /// Index in `slots` of the current read.
    slot: usize,
    /// Core time of each moved unit, in ns.
    unit_core_ns: u64,
    /// Units moved for host writes whose core time is not charged yet.
    uncharged: u32,
    /// When all moves known so far are done; `asked_at` covers only those that host writes need.
    moved_at: u64,
    asked_at: u64,
}

impl Moving {
    /// Creates an idle state. At most `at_once` reads may be in flight; 0: any number.
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

    /// Returns whether the number of reads in flight is bounded.
    #[inline]
    pub(crate) fn is_bounded(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Takes the slot that becomes free first, for a read requested for `at`. Returns when the read can go to its die.
    pub(crate) fn begins(&mut self, at: u64) -> u64 {
        let first = self.slots.iter().enumerate().min_by_key(|slot| slot.1);
        let Some((slot, &end)) = first else {
            return at;
        };
        self.slot = slot;
        at.max(end)
    }

    /// Records that `units` of the current read have crossed the channel at `end`. A core then enters them into the map.
    pub(crate) fn crossed(&mut self, end: u64, units: u32, unasked: bool) {
        let moved = end + self.core_of(units);
        self.slots[self.slot] = moved;
        self.moved_at = self.moved_at.max(moved);
        if !unasked {
            self.asked_at = self.asked_at.max(moved);
        }
    }

    /// Delays the moves in flight at `at` by `core_ns`, which the firmware spends on a host command.
    #[inline]
    pub(crate) fn gives_way(&mut self, at: u64, core_ns: u64) {
        for slot in &mut self.slots {
            if *slot > at {
                *slot += core_ns;
            }
        }
    }

    /// Returns when all moves so far are done, if reads are bounded.
    #[inline]
    pub(crate) fn moved_at(&self) -> u64 {
        self.moved_at
    }

    /// Returns when the moves that host writes have needed so far are done, if reads are bounded.
    #[inline]
    pub(crate) fn asked_at(&self) -> u64 {
        self.asked_at
    }

    /// Core time of `units` moved units, in ns.
    #[inline]
    pub(crate) fn core_of(&self, units: u32) -> u64 {
        u64::from(units) * self.unit_core_ns
    }

    /// Counts units that are moved because the host writes.
    #[inline]
    pub(crate) fn takes_core(&mut self, units: u32) {
        self.uncharged += units;
    }

    /// Returns the units that were moved for host writes since the last call.
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
            // Five units for each read; reads in the second slot take 200 ns longer.
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
        // No move is in flight when the next command comes.
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
