//! Under a limit work is spread evenly: a drive that used up what a window may hold as fast as it can would work at full speed and
//! then stand still until the next.
//!
//! A window is cut into slices. Until the end of each the window holds no more than that part of what it may hold, so later slices
//! have what earlier ones left, and all of them the limit itself. Only dies are held up: commands and what crosses channels is
//! counted when it comes, and work of the dies leaves room for as much of it as came lately.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::power::energy::DieWork;

/// Slices of a window: few programs begin in one.
const SLICES: u64 = 16;
/// A part of the room so small is left in any case: what comes varies from one window to the next.
const LEFT: u64 = 64;

/// Energy of a slice in pJ: what was never held up, reads, and what reads go before.
type Slice = [u64; 3];
const UNHELD: usize = 0;
const READS: usize = 1;
const BEHIND: usize = 2;

/// What dies may do under a limit, and what is planned.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Pacing {
    window_ns: u64,
    /// Power for work, beside what is always drawn.
    room_mw: u64,
    /// What commands and transfers draw, and array reads, as seen in windows that are over, each half as much as the next.
    unheld_mw: u64,
    reads_mw: u64,
    /// The slices that are not over; the first is number `first`, the first of a window.
    slices: VecDeque<Slice>,
    first: u64,
}

impl Pacing {
    /// A limit that comes into force when windows from number `first` on hold so much work already.
    pub(crate) fn new(window_ns: u64, first: u64, planned: impl Iterator<Item = u64>) -> Self {
        let even = |pj: u64| {
            (0..SLICES).map(move |slice| [0, 0, pj * (slice + 1) / SLICES - pj * slice / SLICES])
        };
        Self {
            window_ns,
            room_mw: 0,
            unheld_mw: 0,
            reads_mw: 0,
            slices: planned.flat_map(even).collect(),
            first: first * SLICES,
        }
    }

    /// So much power is there for work from now on.
    pub(crate) fn allow(&mut self, room_mw: u64) {
        self.room_mw = room_mw;
    }

    /// All windows before this one are over; in the last of them commands and transfers drew so much in the mean, and reads.
    pub(crate) fn pass(&mut self, window: u64, unheld_mw: u64, reads_mw: u64) {
        self.unheld_mw = u64::midpoint(self.unheld_mw, unheld_mw);
        self.reads_mw = u64::midpoint(self.reads_mw, reads_mw);
        let over = (window * SLICES).saturating_sub(self.first);
        self.slices.drain(..self.slices.len().min(over as usize));
        self.first += over;
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

    /// When a slice of a window ends, from the window's beginning.
    fn end_ns(&self, slice: u64) -> u64 {
        if slice + 1 == SLICES {
            self.window_ns
        } else {
            (slice + 1) * (self.window_ns / SLICES)
        }
    }

    /// The slice of a time, counted through all windows.
    fn slice_at(&self, at: u64) -> u64 {
        let slice = at % self.window_ns / (self.window_ns / SLICES);
        at / self.window_ns * SLICES + slice.min(SLICES - 1)
    }

    fn held(&self, slice: u64) -> Slice {
        let index = slice.saturating_sub(self.first) as usize;
        self.slices.get(index).copied().unwrap_or_default()
    }

    /// The first start at or after `at` from which a die may work for `duration_ns`.
    pub(crate) fn first_fit(&self, work: DieWork, at: u64, duration_ns: u64, mw: u64) -> u64 {
        let class = class_of(work);
        // One die can always work, else a drive with a low limit would stand still.
        let room_mw = (self.room_mw - self.room_mw / LEFT).max(mw);
        let left_mw = self.left_mw(class).min(room_mw - mw);
        let mut start = at;
        let mut window = at / self.window_ns;
        loop {
            let planned = (start, duration_ns, mw);
            if let Some(later) = self.later_start(window, planned, class, [room_mw, left_mw]) {
                start = later;
                window = start / self.window_ns;
            } else if start + duration_ns <= (window + 1) * self.window_ns {
                return start;
            } else {
                window += 1;
            }
        }
    }

    /// When work could start if a slice of this window has no room for its part of it; later ones may still have none.
    fn later_start(
        &self,
        window: u64,
        (start, takes_ns, mw): (u64, u64, u64),
        class: usize,
        [room_mw, left_mw]: [u64; 2],
    ) -> Option<u64> {
        let window_start = window * self.window_ns;
        let begin = start.max(window_start);
        let (mut held, mut others) = (0, 0);
        for slice in 0..SLICES {
            let [unheld, reads, behind] = self.held(window * SLICES + slice);
            held += behind;
            if class == READS {
                held += reads;
                others += unheld;
            } else {
                others += unheld + reads;
            }
            let end = window_start + self.end_ns(slice);
            let part = (start + takes_ns).min(end).saturating_sub(begin) * mw;
            let passed_ns = end - window_start;
            let used = held + others.max(left_mw * passed_ns);
            let left = (room_mw * passed_ns).saturating_sub(used);
            if part > left {
                return Some(end - left / mw);
            }
        }
        None
    }

    /// A die works from `start` on.
    pub(crate) fn spread(&mut self, work: DieWork, start: u64, duration_ns: u64, mw: u64) {
        let end = start + duration_ns;
        let mut begin = start;
        while begin < end {
            let slice = self.slice_at(begin);
            let slice_end = slice / SLICES * self.window_ns + self.end_ns(slice % SLICES);
            let part_end = end.min(slice_end);
            self.put_in(slice, class_of(work), (part_end - begin) * mw);
            begin = part_end;
        }
    }

    /// Energy is used at one time, whatever else is planned.
    pub(crate) fn put(&mut self, at: u64, pj: u64) {
        self.put_in(self.slice_at(at), UNHELD, pj);
    }

    fn put_in(&mut self, slice: u64, class: usize, pj: u64) {
        let index = slice.saturating_sub(self.first) as usize;
        if index >= self.slices.len() {
            self.slices.resize(index + 1, Slice::default());
        }
        self.slices[index][class] += pj;
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

    #[test]
    fn programs_that_wait_together_begin_one_after_the_other() {
        let mut pacing = Pacing::new(WINDOW_NS, 0, std::iter::empty());
        pacing.allow(1_000);
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
        assert!(gaps.max() < Some(WINDOW_NS / SLICES * 2));
    }

    #[test]
    fn what_is_never_held_up_finds_its_room() {
        let mut pacing = Pacing::new(WINDOW_NS, 0, std::iter::empty());
        pacing.allow(1_000);
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
        for slice in 0..SLICES {
            pacing.put(
                begin + slice * (WINDOW_NS / SLICES),
                500 * WINDOW_NS / SLICES,
            );
        }
        let fits = |mw| pacing.first_fit(DieWork::Program, begin, WINDOW_NS, mw) == begin;
        assert!(fits(480) && !fits(490));
    }
}
