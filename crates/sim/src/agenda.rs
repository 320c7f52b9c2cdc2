//! What happens next: one entry for each I/O slot, the earliest first, ties by number.

/// The time of a slot to which nothing will happen.
pub const NEVER: u64 = u64::MAX;

/// A tournament over a fixed number of slots: the winner of each pair goes up, so a change replays one path of `log2(slots)`
/// comparisons without a branch that could be mispredicted.
#[derive(Debug, Clone)]
pub struct Agenda {
    /// The root is entry 1, the leaves begin at `leaves`. An entry is `time << 32 | slot`.
    entries: Vec<u128>,
    leaves: usize,
}

fn entry(at_ns: u64, slot: u32) -> u128 {
    u128::from(at_ns) << 32 | u128::from(slot)
}

impl Agenda {
    /// All slots happen at zero.
    pub fn new(slots: u32) -> Self {
        let leaves = (slots as usize).max(1).next_power_of_two();
        let mut entries = vec![entry(NEVER, u32::MAX); 2 * leaves];
        for slot in 0..slots {
            entries[leaves + slot as usize] = entry(0, slot);
        }
        for node in (1..leaves).rev() {
            entries[node] = entries[2 * node].min(entries[2 * node + 1]);
        }
        Self { entries, leaves }
    }

    /// The earliest slot and its time; [`NEVER`] when nothing will happen any more.
    #[inline]
    pub fn first(&self) -> (u64, u32) {
        let first = self.entries[1];
        ((first >> 32) as u64, first as u32)
    }

    /// When a slot happens.
    pub fn at(&self, slot: u32) -> u64 {
        (self.entries[self.leaves + slot as usize] >> 32) as u64
    }

    /// Moves a slot to another time.
    #[inline]
    pub fn set(&mut self, slot: u32, at_ns: u64) {
        let mut node = self.leaves + slot as usize;
        let mut winner = entry(at_ns, slot);
        self.entries[node] = winner;
        while node > 1 {
            winner = winner.min(self.entries[node ^ 1]);
            node /= 2;
            self.entries[node] = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_a_sorted_list(slots in 1_u32..40, moves in proptest::collection::vec((0_u32..40, 0_u64..50), 0..200)) {
            let mut agenda = Agenda::new(slots);
            let mut times = vec![0; slots as usize];
            for (slot, at) in moves {
                let slot = slot % slots;
                agenda.set(slot, at);
                times[slot as usize] = at;
                let first = (0..slots).map(|s| (times[s as usize], s)).min();
                prop_assert_eq!(Some(agenda.first()), first);
                prop_assert_eq!(agenda.at(slot), at);
            }
        }
    }
}
