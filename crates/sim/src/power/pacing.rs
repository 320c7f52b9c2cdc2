//! Under a limit work is spread evenly: a drive that used up what it may in a stretch of time as fast as it can would work at full
//! speed and then stand still until the next.
//!
//! Windows of the trace are cut into slices. Work begins where until the end of each of its slices the stretch holds no more than
//! that part of what it may hold, so later slices have what earlier ones left, and the stretch has the limit itself. Only dies are
//! held up: commands and what crosses channels is counted when it comes, and work of the dies leaves room for as much of it as came
//! lately.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::power::energy::DieWork;
use crate::power::stretch::Stretches;

/// Slices of a window: few programs begin in one.
const SLICES: usize = 16;
/// A part of the room so small is left in any case: what comes varies from one window to the next.
const LEFT: u64 = 64;
/// A part of what a stretch may hold that is kept for heavier work.
const KEPT: u64 = 8;

/// Energy in pJ: what was never held up, reads, and what reads go before.
type Classes = [u64; 3];
const UNHELD: usize = 0;
const READS: usize = 1;
const BEHIND: usize = 2;

fn sum(a: Classes, b: Classes) -> Classes {
    std::array::from_fn(|class| a[class] + b[class])
}

/// What is done and planned in a window, and in its stretch before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Window {
    before: Classes,
    slices: [Classes; SLICES],
    all: Classes,
}

impl Window {
    fn until_end(&self) -> Classes {
        sum(self.before, self.all)
    }
}

/// What a stretch holds until some time as work of a class sees it: what it waits for, and what goes on whatever it does.
#[derive(Debug, Clone, Copy)]
struct Held {
    waited_for: u64,
    others: u64,
}

impl Held {
    fn of([unheld, reads, behind]: Classes, class: usize) -> Self {
        let (waited_for, others) = match class {
            READS => (reads + behind, unheld),
            _ => (behind, unheld + reads),
        };
        Self { waited_for, others }
    }
}

/// What dies may do under a limit, and what is planned.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Pacing {
    window_ns: u64,
    /// The limit holds over each of them.
    stretches: Stretches,
    /// Power for work, beside what is always drawn.
    room_mw: u64,
    /// What commands and transfers draw, and array reads, as seen in windows that are over, each half as much as the next.
    unheld_mw: u64,
    reads_mw: u64,
    /// The windows that are not over; the first is number `first`.
    windows: VecDeque<Window>,
    first: u64,
    /// What those hold that are over, of the stretch that is not.
    over: Classes,
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

impl Pacing {
    /// A limit that comes into force when windows from number `first` on hold so much work already.
    pub(crate) fn new(window_ns: u64, first: u64, planned: impl Iterator<Item = u64>) -> Self {
        let mut pacing = Self {
            window_ns,
            stretches: Stretches::new(first, 1),
            room_mw: 0,
            unheld_mw: 0,
            reads_mw: 0,
            windows: VecDeque::new(),
            first,
            over: Classes::default(),
            held_up_ns: None,
        };
        let slices = SLICES as u64;
        for (window, pj) in (first..).zip(planned) {
            for slice in 0..slices {
                let part = pj * (slice + 1) / slices - pj * slice / slices;
                pacing.put_in(window, slice as usize, BEHIND, part);
            }
        }
        pacing
    }

    /// So much power is there for work from now on, in each of these stretches. None of them has begun before the first window that
    /// is not over, or they are those that held before.
    pub(crate) fn allow(&mut self, room_mw: u64, stretches: Stretches) {
        self.room_mw = room_mw;
        if self.stretches != stretches {
            (self.stretches, self.over) = (stretches, Classes::default());
            let mut before = Classes::default();
            for (number, window) in (self.first..).zip(&mut self.windows) {
                if stretches.first(number) == number {
                    before = Classes::default();
                }
                window.before = before;
                before = window.until_end();
            }
        }
    }

    /// All windows before this one are over; in the last of them commands and transfers drew so much in the mean, and reads.
    pub(crate) fn pass(&mut self, window: u64, unheld_mw: u64, reads_mw: u64) {
        self.unheld_mw = u64::midpoint(self.unheld_mw, unheld_mw);
        self.reads_mw = u64::midpoint(self.reads_mw, reads_mw);
        self.over = self.before(window);
        let over = window.saturating_sub(self.first) as usize;
        self.windows.drain(..self.windows.len().min(over));
        self.first = self.first.max(window);
        self.forgo(self.first);
    }

    /// What lighter work has left in the stretch of a window is there for heavier work up to a part of what a stretch may hold: a second
    /// that begins within a stretch holds no more above the limit than that.
    fn forgo(&mut self, window: u64) {
        let stretch = self.stretches.first(window);
        let may = self.room_mw * (window - stretch) * self.window_ns;
        let at_most = self.room_mw * self.stretches.windows() * self.window_ns / KEPT;
        let left = may.saturating_sub(self.over.iter().sum());
        let forgone = left.saturating_sub(at_most);
        if forgone > 0 {
            self.over[UNHELD] += forgone;
            let until = (self.stretches.end(window) - window) as usize;
            let in_stretch = self.windows.len().min(until);
            let windows = self.windows.range_mut(..in_stretch);
            windows.for_each(|later| later.before[UNHELD] += forgone);
        }
    }

    /// Whether work of a die had to wait within a stretch before this time, or will have to.
    pub(crate) fn holds_up(&self, now: u64) -> bool {
        let stretch_ns = self.stretches.windows() * self.window_ns;
        self.held_up_ns.is_some_and(|at| at + stretch_ns > now)
    }

    /// What is left to others, while they use less, of the power for work: to commands and transfers, and before what reads go
    /// before to reads, since what is planned already would make them wait. Half is left to each in any case.
    fn left_mw(&self, class: usize) -> u64 {
        let others_mw = match class {
            READS => self.unheld_mw,
            _ => self.unheld_mw + self.reads_mw,
        };
        others_mw.min(self.room_mw / 2)
    }

    /// When a slice of a window ends.
    fn end_ns(&self, window: u64, slice: usize) -> u64 {
        let from_begin = match slice + 1 {
            SLICES => self.window_ns,
            over => over as u64 * (self.window_ns / SLICES as u64),
        };
        window * self.window_ns + from_begin
    }

    fn window(&self, window: u64) -> Option<&Window> {
        self.windows.get(window.checked_sub(self.first)? as usize)
    }

    /// What the stretch of a window holds before it.
    fn before(&self, window: u64) -> Classes {
        let stretch = self.stretches.first(window);
        let last = self.first + self.windows.len() as u64;
        match (self.window(window), self.windows.back()) {
            (Some(window), _) => window.before,
            (None, Some(back)) if last > stretch => back.until_end(),
            (None, None) if self.first >= stretch => self.over,
            _ => Classes::default(),
        }
    }

    /// What a stretch holds until the end of a window.
    fn until_end(&self, window: u64) -> Classes {
        match self.window(window) {
            Some(window) => window.until_end(),
            None => self.before(window),
        }
    }

    /// The first start at or after `at` from which a die may work for `duration_ns`.
    pub(crate) fn first_fit(&mut self, work: DieWork, at: u64, duration_ns: u64, mw: u64) -> u64 {
        let planned = Planned {
            class: class_of(work),
            takes_ns: duration_ns,
            mw,
        };
        let mut start = at;
        let mut window = at / self.window_ns;
        loop {
            let end = self.stretches.end(window);
            start = self.fit_in(window, start, planned);
            if start + duration_ns <= end * self.window_ns {
                break;
            }
            window = end;
        }
        if start > at {
            self.held_up_ns = self.held_up_ns.max(Some(start));
        }
        start
    }

    /// When work can start as far as the stretch is concerned that a window lies in. It may lie in later ones too, or all of it.
    fn fit_in(&self, window: u64, at: u64, work: Planned) -> u64 {
        // One die can always work, else a drive with a low limit would stand still.
        let room_mw = (self.room_mw - self.room_mw / LEFT).max(work.mw);
        let left_mw = self.left_mw(work.class).min(room_mw - work.mw);
        let (stretch, stretch_end) = (self.stretches.first(window), self.stretches.end(window));
        let stretch_ns = stretch * self.window_ns;
        let open_ns = self.first.max(stretch) * self.window_ns;
        let over = if stretch <= self.first {
            Held::of(self.over, work.class).others
        } else {
            0
        };
        let fitted = |start: u64, end: u64, held: Classes| {
            let begin = start.max(stretch_ns);
            let part = (start + work.takes_ns).min(end).saturating_sub(begin) * work.mw;
            let held = Held::of(held, work.class);
            let others = held.others.max(over + left_mw * (end - open_ns));
            let left = (room_mw * (end - stretch_ns)).saturating_sub(held.waited_for + others);
            if part > left {
                end - left / work.mw
            } else {
                start
            }
        };
        let mut start = at;
        // What began earlier counts from the first window that is not over.
        'windows: for number in window.max(self.first)..stretch_end {
            let mut held = self.before(number);
            let known = self.window(number);
            for slice in 0..SLICES {
                let end = self.end_ns(number, slice);
                held = known.map_or(held, |window| sum(held, window.slices[slice]));
                start = fitted(start, end, held);
                if start + work.takes_ns <= end {
                    break 'windows;
                }
            }
        }
        let end = stretch_end * self.window_ns;
        fitted(start, end, self.until_end(stretch_end - 1))
    }

    /// A die works from `start` on.
    pub(crate) fn spread(&mut self, work: DieWork, start: u64, duration_ns: u64, mw: u64) {
        let end = start + duration_ns;
        let mut begin = start;
        while begin < end {
            let (window, slice) = self.place(begin);
            let part_end = end.min(self.end_ns(window, slice));
            self.put_in(window, slice, class_of(work), (part_end - begin) * mw);
            begin = part_end;
        }
    }

    /// Energy is used at one time, or as soon as its window has room for it, and the stretch. Returns when.
    pub(crate) fn put(&mut self, at: u64, pj: u64) -> u64 {
        let mut window = at / self.window_ns;
        while !self.has_room(window, pj) {
            window += 1;
        }
        let at = at.max(window * self.window_ns);
        let (window, slice) = self.place(at);
        self.put_in(window, slice, UNHELD, pj);
        at
    }

    /// What alone is more than a window may hold has room where nothing else is.
    fn has_room(&self, window: u64, pj: u64) -> bool {
        let (stretch, last) = (self.stretches.first(window), self.stretches.end(window) - 1);
        [window, last].into_iter().all(|window| {
            let held: u64 = self.until_end(window).iter().sum();
            let room = self.room_mw * (window + 1 - stretch) * self.window_ns;
            held == 0 || held + pj <= room
        })
    }

    /// The window and the slice of a time.
    fn place(&self, at: u64) -> (u64, usize) {
        let slice = at % self.window_ns / (self.window_ns / SLICES as u64);
        (at / self.window_ns, (slice as usize).min(SLICES - 1))
    }

    fn put_in(&mut self, window: u64, slice: usize, class: usize, pj: u64) {
        let window = window.max(self.first);
        while self.window(window).is_none() {
            let number = self.first + self.windows.len() as u64;
            self.windows.push_back(Window {
                before: self.before(number),
                ..Window::default()
            });
        }
        let end = self.stretches.end(window);
        let index = (window - self.first) as usize;
        let in_stretch = self.windows.len().min((end - self.first) as usize);
        let mut from_here = self.windows.range_mut(index..in_stretch);
        if let Some(here) = from_here.next() {
            here.slices[slice][class] += pj;
            here.all[class] += pj;
        }
        from_here.for_each(|later| later.before[class] += pj);
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

    const WINDOW_NS: u64 = 10_000_000;
    const PROGRAM_NS: u64 = 1_700_000;

    /// A watt, over stretches of so many windows.
    fn allowed(windows: u64) -> Pacing {
        let mut pacing = Pacing::new(WINDOW_NS, 0, std::iter::empty());
        pacing.allow(1_000, Stretches::new(0, windows));
        pacing
    }

    #[test]
    fn programs_that_wait_together_begin_one_after_the_other() {
        let mut pacing = allowed(1);
        let room_mw = 1_000 - 1_000 / LEFT;
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
        for window in 1..20 {
            pacing.pass(window, 160, 320);
        }
        // Halves are rounded down.
        assert!(pacing.left_mw(BEHIND).abs_diff(480) <= 4);
        assert!(pacing.left_mw(READS).abs_diff(160) <= 2);
        pacing.pass(20, 4_000, 0);
        assert_eq!(pacing.left_mw(BEHIND), 500);
        // What came is not left a second time.
        let begin = 20 * WINDOW_NS;
        let slice_ns = WINDOW_NS / SLICES as u64;
        for slice in 0..SLICES as u64 {
            let at = begin + slice * slice_ns;
            assert_eq!(pacing.put(at, 500 * slice_ns), at);
        }
        let mut fits = |mw| pacing.first_fit(DieWork::Program, begin, WINDOW_NS, mw) == begin;
        assert!(fits(480) && !fits(490));
    }
}
