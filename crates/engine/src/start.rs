//! The start of a run: a gate that starts all workers at the same moment, and a rendezvous after their first I/Os.

use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Release},
};

use crate::sys::{Clock, monotonic_ns, sleep_until, wait_while, wake_all};

/// How long to wait for first I/Os once all workers run.
const DRIVE_LIMIT_NS: u64 = 100_000_000;
/// How long to wait while the host does not let some workers run.
const HOST_LIMIT_NS: u64 = 1_000_000_000;
/// How often to check the two limits.
const LOOK_NS: u64 = 20_000_000;

/// Holds the workers until all are ready, so that their first I/Os go out together.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// Workers that are ready or have failed to set up.
    ready: AtomicU32,
    state: AtomicU32,
    zero_ns: AtomicU64,
}

const CLOSED: u32 = 0;
const OPEN: u32 = 1;
const ABANDONED: u32 = 2;

impl Gate {
    /// Reports that a worker is ready or has failed to set up.
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

    /// Starts the workers; `zero_ns` is time zero of the run.
    pub(crate) fn open(&self, zero_ns: u64) {
        self.zero_ns.store(zero_ns, Release);
        self.set(OPEN);
    }

    /// Tells the workers that the run will not start.
    pub(crate) fn abandon(&self) {
        self.set(ABANDONED);
    }

    /// Waits for the start; `None` if the run will not start.
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
        // The first decision wins: a run abandoned while the gate opens stays as it is.
        if self
            .state
            .compare_exchange(CLOSED, state, AcqRel, Acquire)
            .is_ok()
        {
            wake_all(&self.state);
        }
    }
}

/// Makes each worker wait after its first I/O until all others have done theirs. Otherwise, if I/O does not block and
/// there are more workers than CPUs, the first workers would use up their time slices one after the other. The last
/// would then begin seconds late.
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

    /// Reports that a worker has passed the gate and runs.
    pub(crate) fn begin(&self) {
        self.to_begin.fetch_sub(1, AcqRel);
    }

    /// Reports that a worker has done its first I/O or has none to do.
    pub(crate) fn report(&self) {
        if self.to_report.fetch_sub(1, AcqRel) == 1 {
            wake_all(&self.to_report);
        }
    }

    /// Waits for the other workers. The wait is short if all of them run, because then the drive is slow. It is longer,
    /// but bounded, if the host does not let some of them run. It also ends when `stopped` returns true.
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
