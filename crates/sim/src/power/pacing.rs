//! Under a limit work is spread evenly: a drive that used up what it may as fast as it can would work at full speed and then stand
//! still.
//!
//! It is a token bucket: so much power for work, and a *credit* of what lighter work left, up to a part of what the limit allows over
//! its windows. The power is less than the limit's by that part, so no windows of that number hold more than the limit, wherever
//! they begin, if it leaves enough for one die, which always works. It is looked at until the end of each slice of a window. What dies do is planned ahead, and leaves to commands, to what
//! crosses channels and to reads the share that they had lately: else they would wait for all that is planned.

use serde::{Deserialize, Serialize};

use crate::power::energy::DieWork;
use crate::power::ledger::{BEHIND, Classes, Ledger, READS, UNHELD};

/// A part of the room that is left in any case by what is planned: what comes varies from one window to the next. What nobody uses is
/// credit when the window is over.
const LEFT: u64 = 16;
/// The part by which what a window held counts less with each that follows.
const LATELY: u64 = 64;
/// The part of what a limit allows that lighter work can leave to heavier work.
const KEPT: u64 = 40;

/// What dies may do under a limit, and what is planned.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Pacing {
    window_ns: u64,
    /// The limit holds over so many, wherever they begin.
    limit_windows: u64,
    /// Power for work, beside what is always drawn, that the limit allows, and what is left of it for the next window.
    allowed_mw: u64,
    room_mw: u64,
    /// What may be used beyond that, since less was used.
    credit_pj: u64,
    /// What windows held that are over, each counting a 64th less than the next.
    lately_pj: Classes,
    ledger: Ledger,
    /// When work of a die that had to wait last began.
    held_up_ns: Option<u64>,
}

/// Work of a die: its class, how long it takes and what it draws.
#[derive(Debug, Clone, Copy)]
struct Planned {
    class: usize,
    takes_ns: u64,
    mw: u64,
}

impl Planned {
    /// When it starts if so much is left between two times for the part of it that lies between them: at its start, or so late that
    /// the part is no larger.
    fn start(self, start: u64, [begin_ns, end_ns]: [u64; 2], left_pj: i64) -> u64 {
        let left_pj = left_pj.max(0) as u64;
        let part_end_ns = end_ns.min(start + self.takes_ns);
        let part_ns = part_end_ns.saturating_sub(start.max(begin_ns));
        if part_ns * self.mw > left_pj {
            end_ns - left_pj / self.mw
        } else {
            start
        }
    }
}

/// The power that work finds, and what it leaves.
#[derive(Debug, Clone, Copy)]
struct Share {
    class: usize,
    room_mw: u64,
    /// To others, and in any case.
    others_mw: u64,
    margin_mw: u64,
}

impl Share {
    /// What is used or left to others in so long, in which so much is done and planned.
    fn taken_pj(&self, [unheld, reads, behind]: Classes, lasts_ns: u64) -> i64 {
        let (waited_for, others) = match self.class {
            READS => (reads + behind, unheld),
            _ => (behind, unheld + reads),
        };
        (waited_for + others.max(self.others_mw * lasts_ns) + self.margin_mw * lasts_ns) as i64
    }
}

impl Pacing {
    /// A limit that comes into force when windows from number `first` on hold so much work already.
    pub(crate) fn new(
        window_ns: u64,
        limit_windows: u64,
        first: u64,
        planned: impl Iterator<Item = u64>,
    ) -> Self {
        let mut ledger = Ledger::new(window_ns, first);
        for (window, pj) in (first..).zip(planned) {
            ledger.put_evenly(BEHIND, window, pj);
        }
        Self {
            window_ns,
            limit_windows,
            allowed_mw: 0,
            room_mw: 0,
            credit_pj: 0,
            lately_pj: Classes::default(),
            ledger,
            held_up_ns: None,
        }
    }

    /// The limit allows so much power for work from now on.
    pub(crate) fn allow(&mut self, allowed_mw: u64) {
        self.allowed_mw = allowed_mw;
        self.room_mw = allowed_mw - allowed_mw.div_ceil(KEPT);
    }

    /// Another limit comes into force: what was drawn before, and what it left, does not count for it.
    pub(crate) fn forget_credit(&mut self) {
        self.credit_pj = 0;
    }

    /// All windows before this one are over.
    pub(crate) fn pass(&mut self, window: u64) {
        let each_pj = self.room_mw * self.window_ns;
        let kept_pj = self.kept_pj();
        let (credit_pj, lately_pj) = (&mut self.credit_pj, &mut self.lately_pj);
        self.ledger.pass(window, |held| {
            for (lately_pj, pj) in lately_pj.iter_mut().zip(held) {
                *lately_pj = *lately_pj - *lately_pj / LATELY + pj;
            }
            // A drive that rested does not rush.
            *credit_pj = match held.iter().sum() {
                0 => 0,
                pj => (*credit_pj + each_pj).saturating_sub(pj).min(kept_pj),
            };
        });
    }

    /// Whether work of a die had to wait lately, or will have to.
    pub(crate) fn holds_up(&self, now: u64) -> bool {
        let limit_ns = self.limit_windows * self.window_ns;
        self.held_up_ns.is_some_and(|at| at + limit_ns > now)
    }

    /// What is left to others, while they use less: their share of what was used lately. They are commands and transfers, and before
    /// what reads go before reads, which what is planned already would make wait. A share stays what it is where all wait.
    fn others_mw(&self, class: usize) -> u64 {
        let [unheld, reads, behind] = self.lately_pj;
        let others = match class {
            READS => unheld,
            _ => unheld + reads,
        };
        let all = (unheld + reads + behind).max(1);
        (u128::from(self.room_mw) * u128::from(others) / u128::from(all)) as u64
    }

    fn share(&self, work: Planned) -> Share {
        // One die can always work, else a drive with a low limit would stand still.
        let room_mw = self.room_mw.max(work.mw);
        let margin_mw = (self.room_mw / LEFT).min(room_mw - work.mw);
        let spare_mw = room_mw - margin_mw - work.mw;
        Share {
            class: work.class,
            room_mw,
            others_mw: self.others_mw(work.class).min(spare_mw),
            margin_mw,
        }
    }

    /// The most that lighter work leaves.
    fn kept_pj(&self) -> u64 {
        self.allowed_mw * self.limit_windows * self.window_ns / KEPT
    }

    /// The first start at or after `at` from which a die may work for `duration_ns`.
    pub(crate) fn first_fit(&mut self, work: DieWork, at: u64, duration_ns: u64, mw: u64) -> u64 {
        let planned = Planned {
            class: class_of(work),
            takes_ns: duration_ns,
            mw,
        };
        let start = self.fit(at, planned);
        if start > at {
            self.held_up_ns = self.held_up_ns.max(Some(start));
        }
        start
    }

    /// Windows in which work lies count until the end of each of their slices, and those behind it, which hold what is planned, until
    /// their ends.
    fn fit(&self, at: u64, work: Planned) -> u64 {
        let share = self.share(work);
        let (mut start, mut number) = (at, self.ledger.first());
        let most_pj = self.kept_pj() as i64;
        // What is kept from window to window without this work; what there is for all of it; and with what comes before this window
        // for what lies in it.
        let mut kept_pj = self.credit_pj as i64;
        let (mut all_pj, mut part_pj) = (kept_pj, most_pj);
        loop {
            let begin_ns = number * self.window_ns;
            let mut slice_ns = begin_ns;
            let mut left_pj = 0;
            for (end_ns, held) in self.ledger.until_slices_end(number) {
                let lasts_ns = end_ns - begin_ns;
                left_pj = (share.room_mw * lasts_ns) as i64 - share.taken_pj(held, lasts_ns);
                let lies_in_it = start < end_ns && start + work.takes_ns > slice_ns;
                if lies_in_it || (start < end_ns && lasts_ns == self.window_ns) {
                    if start < begin_ns {
                        start = work.start(start, [start, end_ns], all_pj + left_pj);
                        start = work.start(start, [begin_ns, end_ns], part_pj + left_pj);
                    }
                    if start >= begin_ns {
                        start = work.start(start, [start, end_ns], kept_pj + left_pj);
                    }
                }
                slice_ns = end_ns;
            }
            if start < begin_ns {
                let part_ns = slice_ns.min(start + work.takes_ns).saturating_sub(begin_ns);
                part_pj = most_pj.min(part_pj + left_pj - (part_ns * work.mw) as i64);
                all_pj += left_pj;
            } else {
                part_pj = most_pj;
                all_pj = kept_pj + left_pj;
            }
            kept_pj = most_pj.min(kept_pj + left_pj);
            number += 1;
            if start + work.takes_ns <= slice_ns && number >= self.ledger.end() {
                return start;
            }
        }
    }

    /// A die works from `start` on.
    pub(crate) fn spread(&mut self, work: DieWork, start: u64, duration_ns: u64, mw: u64) {
        self.ledger.spread(class_of(work), start, duration_ns, mw);
    }

    /// Energy is used at one time, or as soon as its window has room for it, and those in which work is planned. Returns when.
    pub(crate) fn put(&mut self, at: u64, pj: u64) -> u64 {
        let window = self.window_for(at / self.window_ns, pj as i64);
        let at = at.max(window * self.window_ns);
        self.ledger.put(UNHELD, at, pj);
        at
    }

    /// The first window from this on that has room for so much, and leaves room for what is planned behind it.
    fn window_for(&self, window: u64, pj: i64) -> u64 {
        let each_pj = (self.room_mw * self.window_ns) as i64;
        let most_pj = self.kept_pj() as i64;
        let (mut window, mut credit_pj) = (window, self.credit_pj as i64);
        for number in self.ledger.first().. {
            let left_pj = credit_pj + each_pj - self.ledger.held_pj(number) as i64;
            // What is more than a window can ever have room for has it where nothing else is.
            if number >= window && pj > left_pj && left_pj < most_pj + each_pj {
                window = number + 1;
            }
            if number >= window && number + 1 >= self.ledger.end() {
                break;
            }
            // As when it is over: what was too much in a window nobody owes.
            credit_pj = left_pj.clamp(0, most_pj);
        }
        window
    }
}

fn class_of(work: DieWork) -> usize {
    match work {
        DieWork::Read => READS,
        DieWork::Program | DieWork::Erase => BEHIND,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::power::ledger::SLICES;

    const WINDOW_NS: u64 = 10_000_000;
    const PROGRAM_NS: u64 = 1_700_000;

    /// A watt, over so many windows.
    fn allowed(windows: u64) -> Pacing {
        let mut pacing = Pacing::new(WINDOW_NS, windows, 0, std::iter::empty());
        pacing.allow(1_000);
        pacing
    }

    #[test]
    fn programs_that_wait_together_begin_one_after_the_other() {
        let mut pacing = allowed(1);
        let room_mw = 975 - 975 / LEFT;
        let starts: Vec<u64> = (0..600)
            .map(|_| {
                let start = pacing.first_fit(DieWork::Program, 0, PROGRAM_NS, 200);
                pacing.spread(DieWork::Program, start, PROGRAM_NS, 200);
                start
            })
            .collect();
        // As many as there is power for, and none that leaves a slice much of a window's share.
        let mean_ns = 200 * PROGRAM_NS / room_mw;
        let last = starts[starts.len() - 1];
        assert!(last < mean_ns * 600 * 101 / 100, "{last}");
        let mut sorted = starts;
        sorted.sort_unstable();
        let gaps = sorted.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.max() < Some(WINDOW_NS / SLICES as u64 * 2));
    }

    #[test]
    fn what_is_never_held_up_finds_its_room() {
        let mut pacing = allowed(1);
        // A fifth of what is used are commands, and two fifths reads.
        for window in 0..20 {
            let begin = window * WINDOW_NS;
            pacing.put(begin, 100 * WINDOW_NS);
            pacing.spread(DieWork::Read, begin, WINDOW_NS, 200);
            pacing.spread(DieWork::Program, begin, WINDOW_NS, 200);
            pacing.pass(window + 1);
        }
        assert!(pacing.others_mw(BEHIND).abs_diff(975 * 3 / 5) <= 2);
        assert!(pacing.others_mw(READS).abs_diff(975 / 5) <= 2);
        pacing.credit_pj = 0;
        // What came is not left a second time.
        let begin = 20 * WINDOW_NS;
        let slice_ns = WINDOW_NS / SLICES as u64;
        for slice in 0..SLICES as u64 {
            let at = begin + slice * slice_ns;
            assert_eq!(pacing.put(at, 500 * slice_ns), at);
        }
        let mut fits = |mw| pacing.first_fit(DieWork::Program, begin, WINDOW_NS, mw) == begin;
        let left_mw = 975 - 975 / LEFT - 500;
        assert!(fits(left_mw - 1) && !fits(left_mw + 5));
    }
}
