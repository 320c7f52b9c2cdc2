//! States of less power that a resting drive goes into, by itself or because it is told to, and leaves for the next command.
//!
//! A drive rests from when nothing is left to do. A state begins after its time, takes its entry, and the command that ends it waits
//! for what is left of that and for the exit. Until a state is reached the drive draws what it drew before.

use serde::{Deserialize, Serialize};

use crate::profile::spec::RestSpec;

/// Which states of less power the host lets the drive use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Saving {
    /// None.
    Off,
    /// The first so many, each when it has rested for long enough (APST, link power management).
    ByItself(u8),
    /// The one of that index, at once; the next command ends it, and then it is `Off`.
    Sent(u8),
}

/// Less drawn than always, for a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Saved {
    start_ns: u64,
    end_ns: u64,
    pj: u128,
}

/// Stretches that are kept apart; beyond that each two neighbours become one. Their sum stays exact.
const MAX_STRETCHES: usize = 1 << 16;

/// What a drive saves while it rests.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Rest {
    specs: [Option<RestSpec>; RestSpec::MOST],
    idle_mw: u64,
    saving: Saving,
    /// When the last work ends that is known of.
    busy_until: u64,
    /// All before is in `saved`.
    settled_ns: u64,
    saved: Vec<Saved>,
}

impl Rest {
    /// Nothing saved yet, at time zero.
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

    /// What the host lets it do.
    pub(crate) fn saving(&self) -> Saving {
        self.saving
    }

    /// Lets it use other states from `now` on; it is awake then.
    pub(crate) fn save(&mut self, saving: Saving, now: u64) {
        self.settle(now);
        self.saving = saving;
        self.busy_until = self.busy_until.max(now);
    }

    /// There is work until then.
    #[inline]
    pub(crate) fn works_until(&mut self, at: u64) {
        self.busy_until = self.busy_until.max(at);
    }

    /// Whether a drive without other work would sleep at `now`.
    pub(crate) fn may_sleep(&self, now: u64) -> bool {
        self.states()
            .next()
            .is_some_and(|(_, begun, _)| begun < now)
    }

    /// States in effect: each with when it begins and when it is reached.
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

    /// A command comes at `now`. Returns when the drive is awake for it.
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

    /// No command comes before `until`: books what is saved by then.
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

    /// Saved between two times, in pJ; of a stretch that lies in them in part, in proportion.
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
