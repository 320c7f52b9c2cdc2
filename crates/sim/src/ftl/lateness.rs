//! Collection by turns: it rests while the host writes some, and then makes up for it.

use serde::{Deserialize, Serialize};

use crate::profile::spec::Pacing;

/// How far collection is behind the host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lateness {
    /// Units that the host wrote and collection has not made up for, in hundredths.
    behind_x100: u64,
    /// Whether it makes up for them now.
    catches_up: bool,
}

impl Lateness {
    /// Told of each unit that the host writes where it needs room. Returns whether collection rests.
    #[inline]
    pub(crate) fn rests(&mut self, pacing: &Pacing) -> bool {
        if pacing.late_units == 0 {
            return false;
        }
        if self.catches_up {
            let more = u64::from(pacing.catch_up_pct - 100);
            self.behind_x100 = self.behind_x100.saturating_sub(more);
            self.catches_up = self.behind_x100 > 0;
        } else {
            self.behind_x100 += 100;
            self.catches_up = self.behind_x100 >= 100 * u64::from(pacing.late_units);
        }
        !self.catches_up
    }
}

#[cfg(test)]
mod tests {
    use super::Lateness;
    use crate::profile::spec::Pacing;

    /// Of so many writes, those for which collection moves anything, by turns.
    fn turns(late_units: u32, catch_up_pct: u32, writes: usize) -> Vec<bool> {
        let pacing = Pacing {
            late_units,
            catch_up_pct,
            ..Pacing::default()
        };
        let mut lateness = Lateness::default();
        (0..writes).map(|_| !lateness.rests(&pacing)).collect()
    }

    #[test]
    fn what_it_moves_in_a_turn_is_what_all_writes_of_it_owe() {
        for (late, pct) in [(8, 150), (100, 125), (64, 300)] {
            let whole = 10 * (late + late * 100 / (pct - 100));
            let works = turns(late, pct, whole as usize);
            let moved: u32 = works.iter().map(|&works| u32::from(works) * pct).sum();
            // The last turn may not be over.
            assert!(
                (100 * whole).abs_diff(moved) <= 100 * late,
                "{late} {pct} {moved}"
            );
        }
    }

    #[test]
    fn it_rests_for_as_long_as_it_may_be_late() {
        let works = turns(8, 150, 24);
        assert!(works[..7].iter().all(|works| !works));
        assert!(works[7..22].iter().all(|&works| works));
        assert!(!works[23]);
    }

    #[test]
    fn collection_that_is_never_late_never_rests() {
        assert!(turns(0, 100, 50).iter().all(|&works| works));
    }
}
