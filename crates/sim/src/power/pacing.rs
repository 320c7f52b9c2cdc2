//! Under a limit work is spread evenly: a drive that used up what it may as fast as it can would work at full speed and then stand
//! still.
//!
//! It is a token bucket: so much power for work, and a *credit* of what lighter work left, up to a part of what the limit allows over
//! its windows. The power is less than the limit's by that part, so no windows of that number hold more than the limit, wherever
//! they begin. What dies do is planned ahead, and leaves to commands, to what crosses channels and to reads what they wanted
//! lately: else they would wait for all that is planned. A limit from which that part leaves less than one die takes is refused.

use serde::{Deserialize, Serialize};

use crate::power::bucket::{Bucket, Planned, Share};
use crate::power::ledger::{AT_ONCE, BEHIND, Classes, Ledger, READS};
use crate::profile::spec::PowerSpec;

/// The part of what there is beside the share of others that what is planned leaves too, if there is more than one die takes: what
/// comes varies from one window to the next. What nobody uses is credit when the window is over.
const MARGIN_PART: u64 = 16;
/// The part by which what a window held counts less with each that follows.
const LATELY: u64 = 32;

/// What dies may do under a limit, and what is planned.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Pacing {
    /// The limit holds over so many, wherever they begin.
    limit_windows: u64,
    /// Power for work, beside what is always drawn, that the limit allows.
    allowed_mw: u64,
    /// What may be used beyond what there is for each window, since less was used.
    credit_pj: u64,
    /// What windows that are over would have held if no read had waited for power, each counting a 32nd less than the next.
    wanted_pj: Classes,
    ledger: Ledger,
    /// When work of a die that had to wait last began.
    held_up_ns: Option<u64>,
}

impl Pacing {
    /// A limit comes into force that allows so much power for work; windows from number `first` on hold some already. What is too
    /// much there nobody owes.
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

    /// The limit allows so much power for work from now on.
    pub(crate) fn allow(&mut self, allowed_mw: u64) {
        self.allowed_mw = allowed_mw;
        self.credit_pj = self.credit_pj.min(self.full_pj());
    }

    /// Another limit comes into force: what was drawn before, and what it left, does not count for it.
    pub(crate) fn forget_credit(&mut self) {
        self.credit_pj = 0;
    }

    /// Power for work in each window.
    fn steady_mw(&self) -> u64 {
        self.allowed_mw - self.allowed_mw.div_ceil(PowerSpec::CREDIT_PART)
    }

    /// Energy for work in each window.
    fn steady_pj(&self) -> u64 {
        self.steady_mw() * self.ledger.window_ns()
    }

    /// The most credit that there can be: nothing where nothing ever becomes credit.
    fn full_pj(&self) -> u64 {
        if self.steady_mw() == 0 {
            return 0;
        }
        let limit_ns = self.limit_windows * self.ledger.window_ns();
        self.allowed_mw * limit_ns / PowerSpec::CREDIT_PART
    }

    /// All windows before this one are over.
    pub(crate) fn pass(&mut self, window: u64) {
        let (steady_pj, full_pj) = (self.steady_pj(), self.full_pj());
        let (credit_pj, wanted_pj) = (&mut self.credit_pj, &mut self.wanted_pj);
        self.ledger.pass(window, |over| {
            for (wanted_pj, pj) in wanted_pj.iter_mut().zip(over.wanted) {
                *wanted_pj = later(*wanted_pj, over.windows) + pj;
            }
            // A drive that rested does not rush.
            *credit_pj = match over.held.iter().sum() {
                0 => 0,
                pj => (*credit_pj + steady_pj).saturating_sub(pj).min(full_pj),
            };
        });
    }

    /// Whether work of a die had to wait lately, or will have to.
    pub(crate) fn holds_up(&self, now: u64) -> bool {
        let limit_ns = self.limit_windows * self.ledger.window_ns();
        self.held_up_ns.is_some_and(|at| at + limit_ns > now)
    }

    /// Power of what was wanted lately.
    fn lately_mw(&self, class: usize) -> u64 {
        self.wanted_pj[class] / (LATELY * self.ledger.window_ns())
    }

    /// What is left to commands and transfers, while they use less.
    fn to_commands_mw(&self) -> u64 {
        self.lately_mw(AT_ONCE).min(self.steady_mw())
    }

    /// What programs and erases leave to reads, which what is planned already would make wait: not more than half of what there is
    /// beside commands. What a die would draw whose read waits for power is wanted, so that reads are left no less since they wait.
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

    /// The credit that is kept for reads, which come and go: half of it where there are any.
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

    /// The first start at or after `at` from which a die may work for `duration_ns`.
    pub(super) fn first_fit(&mut self, class: usize, at: u64, duration_ns: u64, mw: u64) -> u64 {
        let planned = Planned {
            class,
            takes_ns: duration_ns,
            mw,
        };
        let mut start = self.fit(at, planned);
        // What is longer than a window may lie in some now that were looked at without it.
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

    /// A start from which work fits into the windows in which it lies then, until the end of each of their slices, and leaves those
    /// behind it, until their ends, what is planned there.
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

    /// The same within a window.
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

    /// A die works from `start` on.
    pub(super) fn spread(&mut self, class: usize, start: u64, duration_ns: u64, mw: u64) {
        self.ledger.spread(class, start, duration_ns, mw);
    }

    /// Energy is used at one time, or as soon as its window has room for it, and those in which work is planned. Returns when.
    pub(crate) fn put(&mut self, at: u64, pj: u64) -> u64 {
        let window = self.window_for(at / self.ledger.window_ns(), pj as i64);
        let at = at.max(window * self.ledger.window_ns());
        self.ledger.put(AT_ONCE, at, pj);
        at
    }

    /// The first window from this on that has room for so much, and leaves room for what is planned behind it.
    fn window_for(&self, mut window: u64, pj: i64) -> u64 {
        let (steady_pj, full_pj) = (self.steady_pj() as i64, self.full_pj() as i64);
        let (mut number, mut credit_pj) = (self.ledger.first(), self.credit_pj as i64);
        loop {
            let held_pj: u64 = self.ledger.held(number).iter().sum();
            let left_pj = credit_pj + steady_pj - held_pj as i64;
            // No window ever has more: what needs it takes one where nothing else is.
            let has_all = left_pj >= full_pj + steady_pj;
            if number >= window {
                if pj > left_pj && !has_all {
                    window = number + 1;
                } else if number + 1 >= self.ledger.end() {
                    return window;
                }
            }
            // What was too much in a window nobody owes; what an empty one leaves counts until it is over.
            credit_pj = left_pj.clamp(0, full_pj);
            number += 1;
        }
    }
}

/// What is left of a sum when so many more windows are over.
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

    /// A watt, over so many windows.
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
        // As many as there is power for, and none that leaves a slice much of a window's share.
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
        // What came is not left a second time.
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
        // Three dies would read all the time, and programs have all there is.
        for window in 0..1000 {
            let begin = window * WINDOW_NS;
            pacing.spread(BEHIND, begin, WINDOW_NS, 975);
            for _ in 0..3 {
                let start = pacing.first_fit(READS, begin, WINDOW_NS / 100, 100);
                assert!(start >= begin + WINDOW_NS);
            }
            pacing.pass(window + 1);
        }
        // They wait for the margin of a 16th in the window that follows too.
        let left_mw = pacing.others_mw(BEHIND);
        assert!(left_mw.abs_diff(300 * 17 / 16) <= 2, "{left_mw}");
        // More than half is left to no reads.
        pacing.wanted_pj[READS] *= 3;
        assert!(pacing.others_mw(BEHIND).abs_diff(975 / 2) <= 2);
        // What was wanted before a rest is not left for ever.
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
