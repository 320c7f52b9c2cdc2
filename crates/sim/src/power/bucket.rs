//! Checks whether work of a die fits into the power of each window and the credit that earlier windows leave.

use crate::power::ledger::Classes;

/// Work of a die that has no start time yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Planned {
    pub(super) class: usize,
    pub(super) takes_ns: u64,
    pub(super) mw: u64,
}

impl Planned {
    /// Returns the start of the work if `left_pj` is left for its part between two times: `start`, or late enough that this
    /// part needs no more.
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

/// The power for one piece of work, and how much of it the work must leave.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// Whether the work is a host read. It leaves room for commands and transfers; programs and erases leave room for host
    /// reads too.
    pub(super) reads: bool,
    pub(super) steady_mw: u64,
    /// Power left to those classes. `margin_mw` is left on top of it.
    pub(super) others_mw: u64,
    pub(super) margin_mw: u64,
}

impl Share {
    /// Energy left in a window from its beginning until `lasts_ns` later, given what the window holds by then. Negative if
    /// overdrawn.
    pub(super) fn left_pj(&self, [at_once, reads, behind]: Classes, lasts_ns: u64) -> i64 {
        let (waited_for, others) = if self.reads {
            (reads + behind, at_once)
        } else {
            (behind, at_once + reads)
        };
        let kept_free = others.max(self.others_mw * lasts_ns) + self.margin_mw * lasts_ns;
        (self.steady_mw * lasts_ns) as i64 - (waited_for + kept_free) as i64
    }
}

/// The credit at the beginning of a window, as seen by work that begins in that window or earlier.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bucket {
    /// The most credit that can accumulate.
    full_pj: i64,
    /// Credit without the work.
    held_pj: i64,
    /// Bound on all the energy of the work, counted from the window in which it begins. It is not capped at `full_pj`: the work
    /// uses that energy before it could overflow.
    pj_for_all: i64,
    /// Bound on the energy of the work from this window on, after what the work took earlier.
    pj_for_part: i64,
}

impl Bucket {
    pub(super) fn new(held_pj: i64, full_pj: i64) -> Self {
        Self {
            full_pj,
            held_pj,
            pj_for_all: held_pj,
            pj_for_part: full_pj,
        }
    }

    /// Returns the first start at or after `start` at which the work fits until `until_ns`. That time lies in the window that
    /// begins at `begin_ns` and has `left_pj` left by then.
    pub(super) fn start(
        &self,
        work: Planned,
        mut start: u64,
        [begin_ns, until_ns]: [u64; 2],
        left_pj: i64,
    ) -> u64 {
        if start < begin_ns {
            start = work.start(start, [start, until_ns], self.pj_for_all + left_pj);
            start = work.start(start, [begin_ns, until_ns], self.pj_for_part + left_pj);
        }
        if start >= begin_ns {
            start = work.start(start, [start, until_ns], self.held_pj + left_pj);
        }
        start
    }

    /// Moves on to the next window. `left_pj` is what the whole window had left beside the work.
    pub(super) fn pass(
        &mut self,
        work: Planned,
        start: u64,
        [begin_ns, end_ns]: [u64; 2],
        left_pj: i64,
    ) {
        if start < begin_ns {
            let part_ns = end_ns.min(start + work.takes_ns).saturating_sub(begin_ns);
            let part_pj = (part_ns * work.mw) as i64;
            self.pj_for_all += left_pj;
            self.pj_for_part = self.full_pj.min(self.pj_for_part + left_pj - part_pj);
        } else {
            self.pj_for_all = self.held_pj + left_pj;
            self.pj_for_part = self.full_pj;
        }
        self.held_pj = self.full_pj.min(self.held_pj + left_pj);
    }
}
