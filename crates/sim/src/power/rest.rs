//! Low-power states of a resting drive, entered by itself or on command, and ended by the next command.
//!
//! A drive rests from the end of its last work. It begins to enter a state after that state's idle time, and has reached it
//! after the entry time. The command that ends the rest waits for the remaining entry and for the exit. Until a state is
//! reached the drive draws what it drew before.

use serde::{Deserialize, Serialize};

use crate::profile::spec::RestSpec;

/// Which low-power states the host lets the drive use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Saving {
    /// No low-power state.
    Off,
    /// The first states, as many as this, each after its idle time (APST, link power management).
    ByItself(u8),
    /// The state of this index, at once. The next command ends it, and the mode is `Off` again.
    Sent(u8),
}

/// A stretch of time in which the drive drew less than its idle power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Saved {
    start_ns: u64,
    end_ns: u64,
    pj: u128,
}

/// Stretches that are kept apart. Beyond this number each two neighbours are merged; sums stay exact.
const MAX_STRETCHES: usize = 1 << 16;

/// The low-power states of a drive, and the energy that it has saved in them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Rest {
    specs: [Option<RestSpec>; RestSpec::MOST],
    idle_mw: u64,
    saving: Saving,
    /// End of the last known work.
    busy_until: u64,
    /// Savings before this time are in `saved`.
    settled_ns: u64,
    saved: Vec<Saved>,
}

impl Rest {
    pub(crate) fn new(specs: [Option<RestSpec>; RestSpec::MOST], idle_mw: u64) -> Self {
        Self {
            specs,
            idle_mw,
            saving: Saving::Off,
            busy_until: 0,
            settled_ns: 0,
            saved: Vec::new(),
        }
    }

    pub(crate) fn saving(&self) -> Saving {
        self.saving
    }

    /// Changes the states that the drive may use. It is awake at `now`.
    pub(crate) fn save(&mut self, saving: Saving, now: u64) {
        self.settle(now);
        self.saving = saving;
        self.busy_until = self.busy_until.max(now);
    }

    /// Records work until `at`.
    #[inline]
    pub(crate) fn works_until(&mut self, at: u64) {
        self.busy_until = self.busy_until.max(at);
    }

    /// Returns whether a drive without further work would have begun to enter a state before `now`.
    pub(crate) fn may_sleep(&self, now: u64) -> bool {
        self.states()
            .next()
            .is_some_and(|(_, begun, _)| begun < now)
    }

    /// Yields the usable states: each with the time at which its entry begins and the time at which it is reached.
    fn states(&self) -> impl Iterator<Item = (&RestSpec, u64, u64)> {
        let (range, sent) = match self.saving {
            Saving::Off => (0..0, false),
            Saving::ByItself(count) => (0..usize::from(count), false),
            Saving::Sent(index) => (usize::from(index)..usize::from(index) + 1, true),
        };
        let known = self.specs.get(range).unwrap_or(&[]);
        known.iter().flatten().map(move |spec| {
            let after_ns = if sent { 0 } else { spec.after_ns };
            let begun = self.busy_until + after_ns;
            (spec, begun, begun + spec.entry_ns)
        })
    }

    /// Wakes the drive for a command that arrives at `now`. Returns when it is awake.
    pub(crate) fn wake(&mut self, now: u64) -> u64 {
        self.settle(now);
        let asleep = self.states().take_while(|&(_, begun, _)| begun < now);
        let Some((spec, _, reached)) = asleep.last() else {
            return now;
        };
        let awake = now.max(reached) + spec.exit_ns;
        self.busy_until = awake;
        if let Saving::Sent(_) = self.saving {
            self.saving = Saving::Off;
        }
        awake
    }

    /// Records the savings up to `until`, before which no command arrives.
    pub(crate) fn settle(&mut self, until: u64) {
        if !self.may_sleep(until) {
            self.settled_ns = self.settled_ns.max(until);
            return;
        }
        let reached: Vec<(u64, u64)> = self.states().map(|(s, _, at)| (at, s.mw)).collect();
        for (at, &(start, mw)) in reached.iter().enumerate() {
            let end = reached.get(at + 1).map_or(until, |&(next, _)| next);
            let (start, end) = (start.max(self.settled_ns), end.min(until));
            if start < end {
                let pj = u128::from(end - start) * u128::from(self.idle_mw.saturating_sub(mw));
                self.book(Saved {
                    start_ns: start,
                    end_ns: end,
                    pj,
                });
            }
        }
        self.settled_ns = self.settled_ns.max(until);
    }

    fn book(&mut self, saved: Saved) {
        self.saved.push(saved);
        if self.saved.len() > MAX_STRETCHES {
            let pairs = self.saved.chunks(2).map(|pair| Saved {
                start_ns: pair[0].start_ns,
                end_ns: pair[pair.len() - 1].end_ns,
                pj: pair.iter().map(|each| each.pj).sum(),
            });
            self.saved = pairs.collect();
        }
    }

    /// Returns the energy saved between two times, in pJ. A stretch that lies only partly between them counts in proportion.
    pub(crate) fn pj_between(&self, from_ns: u64, to_ns: u64) -> f64 {
        let first = self.saved.partition_point(|each| each.end_ns <= from_ns);
        self.saved[first..]
            .iter()
            .take_while(|each| each.start_ns < to_ns)
            .map(|each| {
                let inside = each.end_ns.min(to_ns) - each.start_ns.max(from_ns);
                each.pj as f64 * inside as f64 / (each.end_ns - each.start_ns) as f64
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn rest() -> Rest {
        let state = |mw, entry_ns, exit_ns, after_ns| {
            Some(RestSpec {
                mw,
                entry_ns,
                exit_ns,
                after_ns,
            })
        };
        let near = state(30, MS / 5, 3 * MS / 2, 100 * MS);
        let far = state(5, 2 * MS, 8 * MS, 500 * MS);
        Rest::new([near, far, None, None], 50)
    }

    #[test]
    fn a_drive_that_may_save_nothing_is_awake_always() {
        let mut rest = rest();
        assert_eq!(rest.wake(10_000 * MS), 10_000 * MS);
        assert!(rest.pj_between(0, 10_000 * MS).abs() < 1e-9);
    }

    #[test]
    fn it_goes_deeper_with_time_and_pays_the_exit_of_the_state_it_is_in() {
        for (idle_ms, exit_ms) in [(99, 0.0), (101, 1.5), (450, 1.5), (600, 8.0), (5000, 8.0)] {
            let mut rest = rest();
            rest.save(Saving::ByItself(2), 0);
            let awake = rest.wake(idle_ms * MS) - idle_ms * MS;
            assert!((awake as f64 / 1e6 - exit_ms).abs() < 1e-9, "{idle_ms} ms");
        }
        let mut near = rest();
        near.save(Saving::ByItself(1), 0);
        assert_eq!(near.wake(5000 * MS), 5000 * MS + 3 * MS / 2);
    }

    #[test]
    fn a_command_within_the_entry_waits_for_its_end() {
        let mut rest = rest();
        rest.save(Saving::ByItself(2), 0);
        assert_eq!(rest.wake(501 * MS), 502 * MS + 8 * MS);
    }

    #[test]
    fn what_is_saved_is_exact_however_often_it_is_looked_at() {
        let mut rest = rest();
        rest.save(Saving::ByItself(2), 0);
        for at in [50, 150, 300, 501, 502, 700, 1000] {
            rest.settle(at * MS);
        }
        let near = 20.0 * (502.0 - 100.2) * MS as f64;
        let far = 45.0 * (1000.0 - 502.0) * MS as f64;
        assert!((rest.pj_between(0, 1000 * MS) - near - far).abs() < 1.0);
        assert!((rest.pj_between(600 * MS, 700 * MS) - 45.0 * 100.0 * MS as f64).abs() < 1.0);
    }

    #[test]
    fn one_sent_to_rest_wakes_once() {
        let mut rest = rest();
        rest.save(Saving::Sent(1), 10 * MS);
        assert_eq!(rest.wake(20 * MS), 28 * MS);
        assert_eq!(rest.saving(), Saving::Off);
        assert_eq!(rest.wake(9000 * MS), 9000 * MS);
    }

    #[test]
    fn many_stretches_are_kept_coarser_and_their_sum_exact() {
        let mut rest = rest();
        let count = 2 * MAX_STRETCHES as u64;
        rest.save(Saving::ByItself(1), 0);
        for at in 1..=count {
            rest.wake(at * 200 * MS);
        }
        assert!(rest.saved.len() <= MAX_STRETCHES);
        let each = 20.0 * (200.0 - 1.5 - 100.2) * MS as f64;
        let all = each * (count - 1) as f64 + 20.0 * 99.8 * MS as f64;
        let found = rest.pj_between(0, (count + 1) * 200 * MS);
        assert!((found / all - 1.0).abs() < 1e-9);
    }
}
