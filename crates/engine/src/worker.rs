//! What every worker does, whichever back end issues its I/O: keeps time, judges failures, counts.

use std::sync::{Mutex, MutexGuard, PoisonError};

use metrics::{IoRecord, Recorder, WorkerFacts};
use workload::schedule::DRAIN_LIMIT_NS;
use workload::spec::{self, Stream, Workload};
use workload::{Io, Op};

use crate::control::Control;
use crate::error::EngineError;
use crate::options::Options;
use crate::source::{Arrival, Source};
use crate::start::{Gate, Rendezvous};
use crate::sys::{Clock, ThreadUsage, schedstat_ns, sleep_until, thread_usage};
use crate::target::Target;

/// Consecutive failures of one worker that end the run, unless [`Options::past_failures`] is set.
const FAILURES_IN_A_ROW: u32 = 100;
/// Error number that stands for a short transfer.
pub(crate) const SHORT: i32 = 0;

/// State that all workers of a run share.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    pub(crate) target: &'a Target,
    pub(crate) control: &'a Control,
    pub(crate) gate: Gate,
    pub(crate) interval_ns: u64,
    pub(crate) spin_ns: u64,
    past_failures: bool,
    pub(crate) rendezvous: Rendezvous,
    trouble: Mutex<Trouble>,
}

/// What ended a run early.
#[derive(Debug, Default)]
pub(crate) struct Trouble {
    pub(crate) setup: Option<EngineError>,
    pub(crate) fault: Option<Fault>,
}

/// The failed I/O that ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) errno: i32,
    pub(crate) operation: &'static str,
    pub(crate) offset: u64,
    pub(crate) length: u32,
}

impl<'a> Shared<'a> {
    pub(crate) fn new(
        target: &'a Target,
        control: &'a Control,
        workload: &Workload,
        options: &Options,
    ) -> Self {
        let workers = workload.streams.iter().map(|s| s.workers).sum();
        Self {
            target,
            control,
            gate: Gate::default(),
            interval_ns: workload.interval_ns,
            spin_ns: options.spin_ns,
            past_failures: options.past_failures,
            rendezvous: Rendezvous::of(workers),
            trouble: Mutex::default(),
        }
    }

    /// Records a failed set-up; only the first is kept.
    pub(crate) fn setup_failed(&self, error: EngineError) {
        self.trouble().setup.get_or_insert(error);
    }

    /// Records a fault and stops the run; only the first fault is kept.
    fn faulted(&self, fault: Fault) {
        self.trouble().fault.get_or_insert(fault);
        self.control.halt();
    }

    pub(crate) fn trouble(&self) -> MutexGuard<'_, Trouble> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// State of one worker: clock, recorder, stop and failures.
#[derive(Debug)]
pub(crate) struct Worker<'a> {
    pub(crate) shared: &'a Shared<'a>,
    pub(crate) stream: &'a Stream,
    pub(crate) source: &'a Source,
    pub(crate) clock: Clock,
    pub(crate) recorder: Recorder,
    time_stop_ns: u64,
    backlog_ns: u64,
    failures_in_a_row: u32,
    any_done: bool,
    before: Spent,
    began_ns: u64,
    reported: bool,
}

/// CPU time and scheduler counts of a worker's thread before the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    usage: ThreadUsage,
    schedstat_ns: (u64, u64),
}

impl Spent {
    /// Returns what the calling thread has used up to now.
    pub(crate) fn by_now() -> Self {
        Self {
            usage: thread_usage(),
            schedstat_ns: schedstat_ns().unwrap_or_default(),
        }
    }
}

/// Whether a worker may go on after an I/O.
pub(crate) type GoesOn = bool;

impl<'a> Worker<'a> {
    pub(crate) fn new(
        shared: &'a Shared<'a>,
        stream: &'a Stream,
        source: &'a Source,
        clock: Clock,
        recorder: Recorder,
        before: Spent,
    ) -> Self {
        let mut worker = Self {
            shared,
            stream,
            source,
            clock,
            recorder,
            time_stop_ns: stream.stop.time_ns.unwrap_or(u64::MAX),
            backlog_ns: stream.backlog_ns().unwrap_or(u64::MAX),
            failures_in_a_row: 0,
            any_done: false,
            before,
            began_ns: clock.now(),
            reported: false,
        };
        shared.rendezvous.begin();
        let at_once = matches!(
            stream.arrival,
            spec::Arrival::Closed { think_ns: 0 } | spec::Arrival::Pulses { .. }
        );
        if !at_once {
            // This worker will sleep most of the time, so nobody needs to wait for it.
            worker.report();
        }
        worker
    }

    /// Reports that the worker has done its first I/O, or never will.
    fn report(&mut self) {
        if !std::mem::replace(&mut self.reported, true) {
            self.shared.rendezvous.report();
        }
    }

    /// Waits for the other workers, after the first I/O of a closed loop.
    #[cold]
    pub(crate) fn meet(&mut self) {
        self.report();
        let control = self.shared.control;
        self.shared.rendezvous.wait(|| control.is_stopping());
    }

    /// Returns whether nothing new may be issued at `at_ns`.
    #[inline]
    pub(crate) fn is_over(&self, at_ns: u64) -> bool {
        at_ns >= self.time_stop_ns || self.shared.control.is_past(at_ns)
    }

    /// Stops the run if its deadline has passed by `at_ns`; for loops that only ask for [`Self::stop_ns`].
    #[inline]
    pub(crate) fn heed(&self, at_ns: u64) {
        let _ = self.shared.control.is_past(at_ns);
    }

    /// Returns when the stream ends: at its own time limit, or when the run was told to stop.
    pub(crate) fn stop_ns(&self) -> u64 {
        self.time_stop_ns
            .min(self.shared.control.stopped_at(self.clock))
    }

    /// Returns which arrivals to drop at `at_ns`: those due before the first time; they count at the second.
    fn giving_up(&self, at_ns: u64) -> (u64, u64) {
        let drain_ns = self.backlog_ns.min(DRAIN_LIMIT_NS);
        let drained_ns = self.stop_ns().saturating_add(drain_ns);
        if at_ns > drained_ns {
            // These arrivals count as dropped when the drain ended, however late the worker notices.
            return (u64::MAX, drained_ns.max(self.recorder.last_ns()));
        }
        (at_ns.saturating_sub(self.backlog_ns), at_ns)
    }

    /// Drops an arrival that is too late to be issued at `at_ns`, and all later arrivals that are too late, at one
    /// stamp. Returns the next arrival, if there is one. `Err` returns the arrival that is to be issued instead.
    /// Dropping them one by one would take the very time that is missing.
    pub(crate) fn give_up(
        &mut self,
        mut arrival: Arrival,
        at_ns: u64,
    ) -> Result<Option<Arrival>, Arrival> {
        let (before_ns, at_ns) = self.giving_up(at_ns);
        if arrival.due_ns >= before_ns {
            return Err(arrival);
        }
        let stop_ns = self.stop_ns();
        let mut feed = self.source.lock();
        loop {
            self.recorder.dropped(arrival.io.op, arrival.due_ns, at_ns);
            match feed.next_due(stop_ns) {
                Some(next) if next.due_ns < before_ns => arrival = next,
                next => return Ok(next),
            }
        }
    }

    /// Sleeps until `due_ns`, or until the run is told to stop; returns the time. Moves the recorder past interval
    /// edges on time.
    pub(crate) fn wait_until(&mut self, due_ns: u64) -> u64 {
        let (word, running) = self.shared.control.word();
        loop {
            let now = self.clock.now();
            if now >= due_ns || self.is_over(now) {
                return now;
            }
            self.recorder.advance(now);
            let wake_ns = self.wake_at(due_ns, now);
            if wake_ns > now {
                sleep_until(self.clock.zero_ns() + wake_ns, word, running);
            } else {
                std::hint::spin_loop();
            }
        }
    }

    /// Returns when to wake on the way to `due_ns`: at the next interval edge, at the stream's time limit, or before
    /// `due_ns` by the time to spend spinning, whichever comes first.
    pub(crate) fn wake_at(&self, due_ns: u64, now_ns: u64) -> u64 {
        let edge_ns = (now_ns / self.shared.interval_ns + 1) * self.shared.interval_ns;
        (due_ns - self.shared.spin_ns.min(due_ns))
            .min(edge_ns + 1)
            .min(self.time_stop_ns)
    }

    /// Counts a completed I/O. Called for each I/O; the rest of the loop is the system call.
    #[inline]
    pub(crate) fn done(&mut self, io: Io, intended_ns: u64, submit_ns: u64, at_ns: u64) {
        self.recorder
            .completed(io.op, io.length, intended_ns, submit_ns, at_ns);
        if self.stream.log_ios {
            self.log(io, intended_ns, submit_ns, at_ns);
        }
        self.some_done(1);
    }

    /// Counts a completed I/O that had no intended start and was this worker's only I/O in flight.
    #[inline]
    pub(crate) fn done_alone(&mut self, io: Io, submit_ns: u64, at_ns: u64) {
        self.recorder.alone(io.op, io.length, submit_ns, at_ns);
        if self.stream.log_ios {
            self.log(io, submit_ns, submit_ns, at_ns);
        }
        self.some_done(1);
    }

    /// Notes that `count` I/Os were done, which ends a series of failures.
    #[inline]
    pub(crate) fn some_done(&mut self, count: u32) {
        if count > 0 {
            self.failures_in_a_row = 0;
            self.any_done = true;
        }
    }

    #[cold]
    fn log(&mut self, io: Io, intended_ns: u64, submit_ns: u64, at_ns: u64) {
        self.recorder.log_io(&IoRecord {
            op: io.op,
            offset: io.offset,
            length: io.length,
            submit_ns,
            latency_ns: at_ns - submit_ns,
            intended_ns,
        });
    }

    /// Counts a failed I/O. Returns whether the worker goes on.
    #[cold]
    #[inline(never)]
    pub(crate) fn failed(
        &mut self,
        io: Io,
        errno: i32,
        intended_ns: u64,
        submit_ns: u64,
        at_ns: u64,
    ) -> GoesOn {
        self.recorder.failed(
            io.op,
            errno,
            io.offset,
            io.length,
            intended_ns,
            submit_ns,
            at_ns,
        );
        self.failures_in_a_row += 1;
        let hopeless = match errno {
            libc::ENODEV | libc::ENXIO | libc::EBADF => true,
            libc::EINVAL | libc::EOPNOTSUPP => !self.any_done,
            _ => false,
        };
        let dead = self.failures_in_a_row >= FAILURES_IN_A_ROW && !self.shared.past_failures;
        if hopeless || dead {
            let operation = name_of(io.op);
            self.shared.faulted(Fault {
                errno,
                operation,
                offset: io.offset,
                length: io.length,
            });
            return false;
        }
        true
    }

    /// Ends the run because the ring itself failed.
    #[cold]
    pub(crate) fn ring_failed(&self, errno: i32) {
        self.shared.faulted(Fault {
            errno,
            operation: "io_uring_enter",
            offset: 0,
            length: 0,
        });
    }

    /// Counts a flush. A failed flush ends the run, because no write can be trusted after it.
    pub(crate) fn flushed(&mut self, outcome: Result<(), i32>, submit_ns: u64, at_ns: u64) {
        let Err(errno) = outcome else {
            return self.recorder.flushed(submit_ns, at_ns);
        };
        self.recorder.flush_failed(errno, submit_ns, at_ns);
        self.shared.faulted(Fault {
            errno,
            operation: "flush",
            offset: 0,
            length: 0,
        });
    }

    /// Hands over the worker's counts and its costs.
    pub(crate) fn finish(mut self) {
        self.report();
        // The time spent counting dropped arrivals is not part of the run.
        let now = match self.stream.arrival {
            spec::Arrival::Closed { .. } => self.clock.now(),
            _ => (self.clock.now().min(self.stop_ns())).max(self.recorder.last_ns()),
        };
        let (was, is) = (self.before, Spent::by_now());
        let facts = WorkerFacts {
            user_cpu_ns: is.usage.user_ns.saturating_sub(was.usage.user_ns),
            system_cpu_ns: is.usage.sys_ns.saturating_sub(was.usage.sys_ns),
            run_ns: is.schedstat_ns.0.saturating_sub(was.schedstat_ns.0),
            run_queue_wait_ns: is.schedstat_ns.1.saturating_sub(was.schedstat_ns.1),
            voluntary_switches: is.usage.voluntary_switches - was.usage.voluntary_switches,
            involuntary_switches: is.usage.involuntary_switches - was.usage.involuntary_switches,
            start_lateness_ns: self.began_ns,
        };
        self.recorder.finish(now, &facts);
    }
}

/// Returns the name of an operation for errors.
pub(crate) fn name_of(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Trim => "trim",
    }
}
