//! Spreads work evenly under a power limit. A drive that used its budget as fast as possible would alternate between full speed
//! and standstill.
//!
//! Pacing is a token bucket. It fills with a steady power, and keeps as *credit* what lighter work left over. The credit is at
//! most `1/CREDIT_PART` of what the limit allows over its windows, and the steady power is lower than the limit by the same
//! part. Therefore no `limit_windows` consecutive windows exceed the limit, wherever they begin.
//!
//! Work of dies is planned ahead. It leaves room for the recent demand of commands, of channel transfers and of host reads,
//! which would otherwise wait for everything that is planned. A limit is refused if its steady power is less than one die
//! draws.

use serde::{Deserialize, Serialize};

use crate::power::bucket::{Bucket, Planned, Share};
use crate::power::ledger::{AT_ONCE, BEHIND, Classes, Ledger, READS};
use crate::profile::spec::PowerSpec;

/// Planned work also leaves this part of the power that remains beside the others' share, unless only enough for one die
/// remains: arrivals vary from window to window. What nobody uses becomes credit when the window is over.
const MARGIN_PART: u64 = 16;
/// Recent demand is an exponential average: each window counts `1/LATELY` less than the next.
const LATELY: u64 = 32;

/// The budget of the dies under a limit, and the work planned within it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Pacing {
    /// Windows over which the limit holds, wherever they begin.
    limit_windows: u64,
    /// Power that the limit leaves for work, beside the idle power.
    allowed_mw: u64,
    /// Energy that earlier windows left unused and later ones may use on top of their share.
    credit_pj: u64,
    /// Recent demand by class: the energy that past windows would have held if no read had waited for power, decayed by
    /// `LATELY`.
    wanted_pj: Classes,
    ledger: Ledger,
    /// Latest start of any work of a die that the limit delayed.
    held_up_ns: Option<u64>,
}

impl Pacing {
    /// A limit comes into force. `planned` is the energy that windows from number `first` on already hold. Only one window's
    /// share of it counts: earlier plans cannot overdraw a new limit.
    pub(crate) fn new(
        [window_ns, limit_windows]: [u64; 2],
        allowed_mw: u64,
        (first, planned): (u64, impl Iterator<Item = u64>),
    ) -> Self {
        let mut pacing = Self {
            limit_windows,
            allowed_mw,
            credit_pj: 0,
            wanted_pj: Classes::default(),
            ledger: Ledger::new(window_ns, first),
            held_up_ns: None,
        };
        let most_pj = pacing.steady_pj();
        for (window, pj) in (first..).zip(planned) {
            pacing.ledger.put_evenly(BEHIND, window, pj.min(most_pj));
        }
        pacing
    }

    /// Changes the power that the limit leaves for work.
    pub(crate) fn allow(&mut self, allowed_mw: u64) {
        self.allowed_mw = allowed_mw;
        self.credit_pj = self.credit_pj.min(self.full_pj());
    }

    /// Clears the credit when another limit comes into force: energy that was or was not drawn before must not count for it.
    pub(crate) fn forget_credit(&mut self) {
        self.credit_pj = 0;
    }

    /// Power for work in each window, without credit.
    fn steady_mw(&self) -> u64 {
        self.allowed_mw - self.allowed_mw.div_ceil(PowerSpec::CREDIT_PART)
    }

    /// Energy for work in each window, without credit.
    fn steady_pj(&self) -> u64 {
        self.steady_mw() * self.ledger.window_ns()
    }

    /// The most credit that can accumulate. It is 0 if the steady power is 0, because nothing then ever becomes credit.
    fn full_pj(&self) -> u64 {
        if self.steady_mw() == 0 {
            return 0;
        }
        let limit_ns = self.limit_windows * self.ledger.window_ns();
        self.allowed_mw * limit_ns / PowerSpec::CREDIT_PART
    }

    /// Closes all windows before `window`.
    pub(crate) fn pass(&mut self, window: u64) {
        let (steady_pj, full_pj) = (self.steady_pj(), self.full_pj());
        let (credit_pj, wanted_pj) = (&mut self.credit_pj, &mut self.wanted_pj);
        self.ledger.pass(window, |over| {
            for (wanted_pj, pj) in wanted_pj.iter_mut().zip(over.wanted) {
                *wanted_pj = later(*wanted_pj, over.windows) + pj;
            }
            // A window without work clears the credit, so a rested drive does not rush.
            *credit_pj = match over.held.iter().sum() {
                0 => 0,
                pj => (*credit_pj + steady_pj).saturating_sub(pj).min(full_pj),
            };
        });
    }

    /// Returns whether the limit delayed work of a die within the last `limit_windows`, or delays any that is yet to start.
    pub(crate) fn holds_up(&self, now: u64) -> bool {
        let limit_ns = self.limit_windows * self.ledger.window_ns();
        self.held_up_ns.is_some_and(|at| at + limit_ns > now)
    }

    /// Recent demand of a class, as mean power.
    fn lately_mw(&self, class: usize) -> u64 {
        self.wanted_pj[class] / (LATELY * self.ledger.window_ns())
    }

    /// Power left to commands and transfers: their recent demand.
    fn to_commands_mw(&self) -> u64 {
        self.lately_mw(AT_ONCE).min(self.steady_mw())
    }

    /// Power that programs and erases leave to host reads, which would otherwise wait for everything planned: the reads' recent
    /// demand, but at most half of what commands leave. Demand includes what waiting reads would have drawn, so their share
    /// does not shrink while they wait.
    fn to_reads_mw(&self) -> u64 {
        self.lately_mw(READS)
            .min((self.steady_mw() - self.to_commands_mw()) / 2)
    }

    fn others_mw(&self, class: usize) -> u64 {
        match class {
            READS => self.to_commands_mw(),
            _ => self.to_commands_mw() + self.to_reads_mw(),
        }
    }

    /// Credit kept for host reads, which come and go: half of it, if any came recently.
    fn kept_pj(&self) -> u64 {
        if self.to_reads_mw() > 0 {
            self.full_pj() / 2
        } else {
            0
        }
    }

    fn share(&self, work: Planned) -> Share {
        // One die can always work.
        let steady_mw = self.steady_mw().max(work.mw);
        let others_mw = self.others_mw(work.class).min(steady_mw - work.mw);
        let rest_mw = steady_mw - others_mw;
        Share {
            reads: work.class == READS,
            steady_mw,
            others_mw,
            margin_mw: (rest_mw / MARGIN_PART).min(rest_mw - work.mw),
        }
    }

    /// Returns the first start at or after `at` from which a die may work for `duration_ns`.
    pub(super) fn first_fit(&mut self, class: usize, at: u64, duration_ns: u64, mw: u64) -> u64 {
        let planned = Planned {
            class,
            takes_ns: duration_ns,
            mw,
        };
        let mut start = self.fit(at, planned);
        // A later start can move long work into windows that `fit` checked as if the work did not touch them.
        while duration_ns > self.ledger.window_ns() {
            let later = self.fit(start, planned);
            if later == start {
                break;
            }
            start = later;
        }
        if start > at {
            if class == READS {
                self.ledger.hold_up_read([at, start], mw);
            }
            self.held_up_ns = self.held_up_ns.max(Some(start));
        }
        start
    }

    /// Returns a start at which the work fits into every window that it touches, up to the end of each slice. Later windows
    /// keep the energy that is planned there.
    fn fit(&self, at: u64, work: Planned) -> u64 {
        let share = self.share(work);
        let kept_pj = if share.reads { 0 } else { self.kept_pj() };
        let credit_pj = self.credit_pj.saturating_sub(kept_pj);
        let mut bucket = Bucket::new(credit_pj as i64, (self.full_pj() - kept_pj) as i64);
        let (mut start, mut number) = (at, self.ledger.first());
        loop {
            let [begin_ns, end_ns] = [number, number + 1].map(|n| n * self.ledger.window_ns());
            let left_pj = share.left_pj(self.ledger.held(number), end_ns - begin_ns);
            if start < end_ns && start + work.takes_ns > begin_ns {
                start = self.fit_slices(start, work, number, &share, &bucket);
            } else if start < end_ns {
                start = bucket.start(work, start, [begin_ns, end_ns], left_pj);
            }
            bucket.pass(work, start, [begin_ns, end_ns], left_pj);
            number += 1;
            if start + work.takes_ns <= end_ns && number >= self.ledger.end() {
                return start;
            }
        }
    }

    /// Does the same within one window, slice by slice.
    fn fit_slices(
        &self,
        mut start: u64,
        work: Planned,
        number: u64,
        share: &Share,
        bucket: &Bucket,
    ) -> u64 {
        let [begin_ns, end_ns] = [number, number + 1].map(|n| n * self.ledger.window_ns());
        let mut slice_ns = begin_ns;
        for (until_ns, held) in self.ledger.until_slices_end(number) {
            let looked_at = start + work.takes_ns > slice_ns || until_ns == end_ns;
            if start < until_ns && looked_at {
                let left_pj = share.left_pj(held, until_ns - begin_ns);
                start = bucket.start(work, start, [begin_ns, until_ns], left_pj);
            }
            slice_ns = until_ns;
        }
        start
    }

    pub(super) fn spread(&mut self, class: usize, start: u64, duration_ns: u64, mw: u64) {
        self.ledger.spread(class, start, duration_ns, mw);
    }

    /// Uses energy at `at`, or as soon as that window and the planned work behind it have room. Returns that time.
    pub(crate) fn put(&mut self, at: u64, pj: u64) -> u64 {
        let window = self.window_for(at / self.ledger.window_ns(), pj as i64);
        let at = at.max(window * self.ledger.window_ns());
        self.ledger.put(AT_ONCE, at, pj);
        at
    }

    /// Returns the first window from `window` on that has room for `pj` and for the work planned behind it.
    fn window_for(&self, mut window: u64, pj: i64) -> u64 {
        let (steady_pj, full_pj) = (self.steady_pj() as i64, self.full_pj() as i64);
        let (mut number, mut credit_pj) = (self.ledger.first(), self.credit_pj as i64);
        loop {
            let held_pj: u64 = self.ledger.held(number).iter().sum();
            let left_pj = credit_pj + steady_pj - held_pj as i64;
            // No window ever has more than this, so energy that exceeds it takes an otherwise empty window.
            let has_all = left_pj >= full_pj + steady_pj;
            if number >= window {
                if pj > left_pj && !has_all {
                    window = number + 1;
                } else if number + 1 >= self.ledger.end() {
                    return window;
                }
            }
            // An overdrawn window leaves no debt. The remainder of an empty window counts as credit until that window is over.
            credit_pj = left_pj.clamp(0, full_pj);
            number += 1;
        }
    }
}

/// Decays a sum by `windows` windows.
fn later(mut sum_pj: u64, windows: u64) -> u64 {
    for _ in 0..windows {
        let less_pj = sum_pj / LATELY;
        if less_pj == 0 {
            break;
        }
        sum_pj -= less_pj;
    }
    sum_pj
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::power::ledger::SLICES;

    const WINDOW_NS: u64 = 10_000_000;
    const PROGRAM_NS: u64 = 1_700_000;

    /// A limit that leaves 1 W for work, over `windows` windows.
    fn allowed(windows: u64) -> Pacing {
        Pacing::new([WINDOW_NS, windows], 1_000, (0, std::iter::empty()))
    }

    #[test]
    fn programs_that_wait_together_begin_one_after_the_other() {
        let mut pacing = allowed(1);
        let steady_mw = 975 - 975 / MARGIN_PART;
        let starts: Vec<u64> = (0..600)
            .map(|_| {
                let start = pacing.first_fit(BEHIND, 0, PROGRAM_NS, 200);
                pacing.spread(BEHIND, start, PROGRAM_NS, 200);
                start
            })
            .collect();
        // The programs use all the power there is, and start evenly: no gap is as long as two slices.
        let mean_ns = 200 * PROGRAM_NS / steady_mw;
        let last = starts[starts.len() - 1];
        assert!(last < mean_ns * 600 * 101 / 100, "{last}");
        let mut sorted = starts;
        sorted.sort_unstable();
        let gaps = sorted.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.max() < Some(WINDOW_NS / SLICES as u64 * 2));
    }

    #[test]
    fn commands_find_what_is_left_to_them() {
        let mut pacing = allowed(1);
        for window in 0..1000 {
            let begin = window * WINDOW_NS;
            pacing.put(begin, 100 * WINDOW_NS);
            pacing.spread(READS, begin, WINDOW_NS, 200);
            pacing.spread(BEHIND, begin, WINDOW_NS, 200);
            pacing.pass(window + 1);
        }
        assert!(pacing.others_mw(BEHIND).abs_diff(300) <= 2);
        assert!(pacing.others_mw(READS).abs_diff(100) <= 2);
        pacing.credit_pj = 0;
        // Energy that commands use counts towards their share; it is not set aside twice.
        let begin = 1000 * WINDOW_NS;
        let slice_ns = WINDOW_NS / SLICES as u64;
        for slice in 0..SLICES as u64 {
            let at = begin + slice * slice_ns;
            assert_eq!(pacing.put(at, 500 * slice_ns), at);
        }
        let mut fits = |mw| pacing.first_fit(BEHIND, begin, WINDOW_NS, mw) == begin;
        let left_mw = 975 - 500 - (975 - 300) / MARGIN_PART;
        assert!(fits(left_mw - 1) && !fits(left_mw + 5));
    }

    #[test]
    fn reads_that_wait_are_left_as_much_as_if_they_did_not() {
        let mut pacing = allowed(1);
        // Three dies would read all the time, but programs hold all the power.
        for window in 0..1000 {
            let begin = window * WINDOW_NS;
            pacing.spread(BEHIND, begin, WINDOW_NS, 975);
            for _ in 0..3 {
                let start = pacing.first_fit(READS, begin, WINDOW_NS / 100, 100);
                assert!(start >= begin + WINDOW_NS);
            }
            pacing.pass(window + 1);
        }
        // The reads wait for the margin of 1/16 in the next window too, which adds to the demand.
        let left_mw = pacing.others_mw(BEHIND);
        assert!(left_mw.abs_diff(300 * 17 / 16) <= 2, "{left_mw}");
        // Reads get at most half.
        pacing.wanted_pj[READS] *= 3;
        assert!(pacing.others_mw(BEHIND).abs_diff(975 / 2) <= 2);
        // Demand from before a rest decays.
        pacing.pass(1000 + 10 * LATELY);
        assert_eq!(pacing.others_mw(BEHIND), 0);
    }

    #[test]
    fn work_longer_than_a_window_leaves_each_window_that_it_lies_in_what_is_planned() {
        const MS: u64 = 1_000_000;
        let mut pacing = Pacing::new([MS, 10], 1_000, (0, std::iter::empty()));
        for window in 0..12 {
            let mw = if window < 10 { 714 } else { 925 };
            pacing.ledger.put_evenly(BEHIND, window, mw * MS);
        }
        let start = pacing.first_fit(BEHIND, 0, 10 * MS, 200);
        pacing.spread(BEHIND, start, 10 * MS, 200);
        let mut credit_pj = 0;
        for number in 0..30 {
            let held_pj: u64 = pacing.ledger.held(number).iter().sum();
            credit_pj = (credit_pj + 975 * MS as i64 - held_pj as i64).min(250 * MS as i64);
            assert!(credit_pj >= 0, "from {start} on, window {number}");
        }
    }
}
