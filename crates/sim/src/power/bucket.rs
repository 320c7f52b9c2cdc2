//! Whether work of a die fits: what each window has for it, and what the windows before leave.

use crate::power::ledger::Classes;

/// Work of a die: its class, how long it takes and what it draws.
#[derive(Debug, Clone, Copy)]
pub(super) struct Planned {
    pub(super) class: usize,
    pub(super) takes_ns: u64,
    pub(super) mw: u64,
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
pub(super) struct Share {
    /// Whether reads ask, which programs and erases have to wait for.
    pub(super) reads: bool,
    pub(super) steady_mw: u64,
    /// To others, and in any case.
    pub(super) others_mw: u64,
    pub(super) margin_mw: u64,
}

impl Share {
    /// What a window has left by a time, so long after its beginning, by which it holds so much.
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

/// The credit at the beginning of a window, as work sees it that begins there or before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bucket {
    /// The most that there can be.
    full_pj: i64,
    /// What there is without the work.
    held_pj: i64,
    /// For all of the work, from the window on in which it begins: the bucket may overflow there, as the work takes it first.
    pj_for_all: i64,
    /// For the part from this window on, behind what the work took before.
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

    /// The start from which work fits until a time in a window that begins at `begin_ns` and has so much left by then.
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

    /// The window is over, and had so much left in all beside the work.
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
