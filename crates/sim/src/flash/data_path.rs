//! The controller's data path: what goes to flash crosses it, units of the host's and those that are moved, one behind the other.
//! What the host reads crosses it in turn with them.

use serde::{Deserialize, Serialize};

use crate::flash::machine::Machine;
use crate::flash::timeline::Timeline;

/// When the data path is free, in ns.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DataPath {
    /// What a unit takes of it, in ns times 1024; 0: it is as fast as need be.
    unit_ns_x1024: u64,
    free: u64,
    /// Since when it is busy until then: what waits for room in the buffer takes it later.
    busy_from: u64,
    /// When it is free of what the drive moves while nobody asks: all else goes before that.
    free_behind: u64,
    /// By how much reads may yet delay what waits: as much again as it takes.
    to_reads_ns: u64,
    /// By how much they have delayed what was waiting already.
    delayed_ns: u64,
    /// What reads take of it.
    reads: Timeline,
    /// When the last unit of the host's has passed.
    passed: u64,
}

impl DataPath {
    /// Free from time zero on.
    pub(crate) fn new(unit_ns_x1024: u64) -> Self {
        Self {
            unit_ns_x1024,
            free: 0,
            busy_from: 0,
            free_behind: 0,
            to_reads_ns: 0,
            delayed_ns: 0,
            reads: Timeline::default(),
            passed: 0,
        }
    }

    fn takes_ns(&self, units: u32) -> u64 {
        u64::from(units) * self.unit_ns_x1024 / 1024
    }

    fn take(&mut self, ready: u64, takes_ns: u64) {
        if self.free < ready {
            (self.busy_from, self.to_reads_ns) = (ready, 0);
        }
        let start = self.free.max(ready);
        let alone = start + takes_ns;
        let beside = self.reads.beside(start, takes_ns).min(alone + takes_ns);
        self.to_reads_ns += alone + takes_ns - beside;
        self.free = beside;
        if self.free_behind > ready {
            self.free_behind += takes_ns;
        }
    }

    /// Units of the host's, in the buffer at `ready`, cross when it is free. Returns when they have.
    #[inline]
    fn pass(&mut self, ready: u64, units: u32) -> u64 {
        self.passed = if self.unit_ns_x1024 == 0 {
            ready
        } else {
            self.take(ready, self.takes_ns(units));
            self.free
        };
        self.passed
    }

    /// What the host reads crosses until `end`, for so long, before what waits; but both take turns.
    #[inline]
    pub(crate) fn read(&mut self, now: u64, end: u64, takes_ns: u64) {
        if self.unit_ns_x1024 == 0 {
            return;
        }
        self.reads.reserve(now, end - takes_ns, takes_ns);
        if (self.busy_from..self.free).contains(&end) {
            let takes_ns = takes_ns.min(self.to_reads_ns);
            self.to_reads_ns -= takes_ns;
            self.delayed_ns += takes_ns;
            self.free += takes_ns;
        }
    }

    /// By how much reads have delayed what was waiting already since the beginning.
    pub(crate) fn delayed_ns(&self) -> u64 {
        self.delayed_ns
    }

    /// When the last unit of the host's that was written so far has passed.
    pub(crate) fn passed(&self) -> u64 {
        self.passed
    }

    /// When it is free of what was moved unasked.
    pub(crate) fn free_behind(&self) -> u64 {
        self.free_behind
    }

    /// When it is free.
    pub(crate) fn idle_at(&self) -> u64 {
        self.free.max(self.free_behind)
    }
}

impl Machine {
    /// Units of the host's that are in the buffer at `ready` take the data path. Returns when they have passed.
    #[inline]
    pub(crate) fn pass(&mut self, ready: u64, units: u32) -> u64 {
        self.path.pass(ready, units)
    }

    /// Units that are moved take it: in turn where the host's writes need the space, else behind all that is asked for.
    #[inline]
    pub(crate) fn pass_moved(&mut self, units: u32) {
        let path_ns = self.path.takes_ns(units);
        if !self.unasked {
            if path_ns > 0 {
                self.path.take(self.at, path_ns);
            }
            self.moving.takes_core(units);
            return;
        }
        let takes_ns = path_ns.max(self.moving.core_of(units));
        self.path.free_behind = self.path.idle_at().max(self.at) + takes_ns;
    }
}
