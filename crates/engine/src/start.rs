//! The start of a run: a gate that lets all workers go at one moment, and a rendezvous after their first I/Os.

use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Release},
};

use crate::sys::{Clock, monotonic_ns, sleep_until, wait_while, wake_all};

/// How long to wait for first I/Os that are under way.
const DRIVE_LIMIT_NS: u64 = 100_000_000;
/// How long to wait for workers that the host does not let run.
const HOST_LIMIT_NS: u64 = 1_000_000_000;
/// How often to look whether a limit is reached.
const LOOK_NS: u64 = 20_000_000;

/// Holds the workers until all of them are ready, so that their first I/Os go out together.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// Workers that are ready, or failed to become so.
    ready: AtomicU32,
    state: AtomicU32,
    zero_ns: AtomicU64,
}

const CLOSED: u32 = 0;
const OPEN: u32 = 1;
const ABANDONED: u32 = 2;

impl Gate {
    /// A worker is ready, or will never be.
    pub(crate) fn arrive(&self) {
        self.ready.fetch_add(1, Release);
        wake_all(&self.ready);
    }

    /// Waits until `workers` have arrived.
    pub(crate) fn await_all(&self, workers: u32) {
        loop {
            let ready = self.ready.load(Acquire);
            if ready >= workers {
                return;
            }
            wait_while(&self.ready, ready);
        }
    }

    /// Lets the workers go; time zero is `zero_ns`.
    pub(crate) fn open(&self, zero_ns: u64) {
        self.zero_ns.store(zero_ns, Release);
        self.set(OPEN);
    }

    /// Sends the workers home.
    pub(crate) fn abandon(&self) {
        self.set(ABANDONED);
    }

    /// Waits for the start; `None` if there will be none.
    pub(crate) fn pass(&self) -> Option<Clock> {
        wait_while(&self.state, CLOSED);
        if self.state.load(Acquire) == ABANDONED {
            return None;
        }
        let zero_ns = self.zero_ns.load(Acquire);
        while monotonic_ns() < zero_ns {
            sleep_until(zero_ns, &self.state, OPEN);
        }
        Some(Clock::starting_at(zero_ns))
    }

    fn set(&self, state: u32) {
        // The first to decide wins: a run abandoned while it opens stays as it is.
        if self
            .state
            .compare_exchange(CLOSED, state, AcqRel, Acquire)
            .is_ok()
        {
            wake_all(&self.state);
        }
    }
}

/// After its first I/O each worker waits until all others have done theirs. Where I/O does not block, the first of more
/// workers than CPUs would otherwise use up their time slices one after the other, and the last would begin seconds late.
#[derive(Debug)]
pub(crate) struct Rendezvous {
    /// Workers that do not run yet.
    to_begin: AtomicU32,
    /// Workers that have not done their first I/O.
    to_report: AtomicU32,
}

impl Rendezvous {
    pub(crate) fn of(workers: u32) -> Self {
        Self {
            to_begin: AtomicU32::new(workers),
            to_report: AtomicU32::new(workers),
        }
    }

    /// A worker has passed the gate and runs.
    pub(crate) fn begin(&self) {
        self.to_begin.fetch_sub(1, AcqRel);
    }

    /// A worker has done its first I/O, or has none to do.
    pub(crate) fn report(&self) {
        if self.to_report.fetch_sub(1, AcqRel) == 1 {
            wake_all(&self.to_report);
        }
    }

    /// Waits for the others, but not for long if they all run: then the drive is slow. Nor for ever if the host does not let
    /// them run, nor when `stopped`.
    pub(crate) fn wait(&self, stopped: impl Fn() -> bool) {
        let from_ns = monotonic_ns();
        loop {
            let missing = self.to_report.load(Acquire);
            let waited_ns = monotonic_ns() - from_ns;
            let limit_ns = match self.to_begin.load(Acquire) {
                0 => DRIVE_LIMIT_NS,
                _ => HOST_LIMIT_NS,
            };
            if missing == 0 || waited_ns >= limit_ns || stopped() {
                return;
            }
            sleep_until(from_ns + waited_ns + LOOK_NS, &self.to_report, missing);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_a_worker_that_has_reported() {
        let rendezvous = Rendezvous::of(2);
        rendezvous.report();
        rendezvous.report();
        rendezvous.wait(|| panic!("there is nothing to wait for"));
    }

    #[test]
    fn a_stop_ends_the_wait() {
        let rendezvous = Rendezvous::of(2);
        rendezvous.report();
        rendezvous.wait(|| true);
        assert_eq!(rendezvous.to_report.load(Acquire), 1);
    }

    #[test]
    fn an_abandoned_gate_lets_nobody_through() {
        let gate = Gate::default();
        gate.abandon();
        gate.open(1);
        assert!(gate.pass().is_none());
    }
}
