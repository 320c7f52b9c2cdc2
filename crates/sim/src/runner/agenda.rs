//! The event queue of a run: one entry for each I/O slot, the earliest first, ties by slot number.

/// The time of a slot without a next event.
pub const NEVER: u64 = u64::MAX;

/// Entries of a group, which compete with each other: slots, or winners of other groups.
const GROUP: usize = 4;

/// A tournament over a fixed number of slots. The earliest of each group of four moves up. A change recomputes
/// `log4(slots)` minima, without a branch that could be mispredicted.
///
/// An entry is `(time - base) << slot_bits | slot`, or all ones for [`NEVER`]. A time that does not fit is stored as `far`.
#[derive(Debug, Clone)]
pub struct Agenda {
    /// The winner of group `n + 1` is entry `n`, counted through all groups. The last groups hold the slots.
    groups: Vec<[u64; GROUP]>,
    first: u64,
    /// Index of slot 0's entry.
    leaf: usize,
    slot_bits: u32,
    base_ns: u64,
    /// Entries from this value on do not hold their exact times.
    far: u64,
    times_ns: Vec<u64>,
}

impl Agenda {
    /// Creates an agenda with all slots at time zero.
    pub fn new(slots: u32) -> Self {
        let slot_bits = slots.max(1).next_power_of_two().trailing_zeros();
        let (mut inner, mut width) = (0, 1);
        while width * GROUP < slots as usize {
            inner += width;
            width *= GROUP;
        }
        let mut agenda = Self {
            groups: vec![[u64::MAX; GROUP]; inner + width],
            first: u64::MAX,
            leaf: inner * GROUP,
            slot_bits,
            base_ns: 0,
            far: ((u64::MAX >> slot_bits) - 1) << slot_bits,
            times_ns: vec![0; slots as usize],
        };
        agenda.settle(0);
        agenda
    }

    /// Rebuilds all entries relative to `base_ns`; no event lies before that.
    fn settle(&mut self, base_ns: u64) {
        self.base_ns = base_ns;
        for slot in 0..self.times_ns.len() as u32 {
            self.replay(slot, self.at(slot));
        }
    }

    #[inline]
    fn entry(&self, at_ns: u64, slot: u32) -> u64 {
        if at_ns == NEVER {
            return u64::MAX;
        }
        debug_assert!(at_ns >= self.base_ns, "time does not go back");
        let time = (at_ns - self.base_ns).min(self.far >> self.slot_bits);
        time << self.slot_bits | u64::from(slot)
    }

    #[inline]
    fn replay(&mut self, slot: u32, at_ns: u64) {
        let mut winner = self.entry(at_ns, slot);
        let mut place = self.leaf + slot as usize;
        loop {
            let group = &mut self.groups[place / GROUP];
            group[place % GROUP] = winner;
            let [a, b, c, d] = *group;
            winner = a.min(b).min(c.min(d));
            if place < GROUP {
                break;
            }
            place = place / GROUP - 1;
        }
        self.first = winner;
    }

    /// Returns the earliest time and its slot; [`NEVER`] if no event is left.
    #[inline]
    pub fn first(&self) -> (u64, u32) {
        let slot = self.first as u32 & ((1 << self.slot_bits) - 1);
        if self.first == u64::MAX {
            (NEVER, slot)
        } else {
            (self.base_ns + (self.first >> self.slot_bits), slot)
        }
    }

    /// Returns the time of a slot.
    pub fn at(&self, slot: u32) -> u64 {
        self.times_ns[slot as usize]
    }

    /// Moves a slot to another time. A slot whose time was unknown may move before the earliest on the agenda, but
    /// not before the last event.
    #[inline]
    pub fn set(&mut self, slot: u32, at_ns: u64) {
        self.times_ns[slot as usize] = at_ns;
        if at_ns < self.base_ns {
            self.settle(at_ns);
            return;
        }
        self.replay(slot, at_ns);
        if self.first >= self.far && self.first != u64::MAX {
            self.look_further();
        }
    }

    /// Rebuilds the entries when all events lie too far ahead to be told apart.
    #[cold]
    fn look_further(&mut self) {
        if let Some(&earliest_ns) = self.times_ns.iter().min() {
            self.settle(earliest_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_was_not_known_may_come_before_all_that_was() {
        let mut agenda = Agenda::new(2);
        agenda.set(1, NEVER);
        agenda.set(0, 1 << 63);
        assert_eq!(agenda.first(), (1 << 63, 0));
        agenda.set(1, 5);
        assert_eq!(agenda.first(), (5, 1));
        agenda.set(1, NEVER);
        assert_eq!(agenda.first(), (1 << 63, 0));
    }

    proptest! {
        #[test]
        fn equals_a_sorted_list(
            slots in 1_u32..40,
            // Steps of nanoseconds, and steps of up to 36 years, for which an entry has no room.
            moves in proptest::collection::vec((0_u32..40, prop_oneof![0_u64..50, 0_u64..(1 << 60)]), 0..200),
        ) {
            let mut agenda = Agenda::new(slots);
            let mut times = vec![0; slots as usize];
            for (slot, ahead) in moves {
                let slot = slot % slots;
                let at = agenda.first().0.saturating_add(ahead).min(NEVER - 1);
                agenda.set(slot, at);
                times[slot as usize] = at;
                let first = (0..slots).map(|s| (times[s as usize], s)).min();
                prop_assert_eq!(Some(agenda.first()), first);
                prop_assert_eq!(agenda.at(slot), at);
            }
            for slot in 0..slots {
                agenda.set(slot, NEVER);
            }
            prop_assert_eq!(agenda.first().0, NEVER);
        }
    }
}
