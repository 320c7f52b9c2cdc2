//! What a run records beside latencies: CPU cost and start of the workers, precision of the stamps,
//! the first failures, and how the run ended.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::operation::Command;
use crate::tally::StreamTally;

/// The absolute time of the run's zero on two clocks, so that rows can be aligned with other
/// records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartStamp {
    /// `CLOCK_MONOTONIC` at the run's zero, ns.
    pub monotonic_ns: u64,
    /// Unix time at the run's zero, ns.
    pub unix_ns: u64,
}

/// What one worker reports when it finishes. The caller that runs the workers fills it in; zero
/// means unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WorkerFacts {
    /// CPU time in user mode, ns.
    pub user_cpu_ns: u64,
    /// CPU time in the kernel, ns.
    pub system_cpu_ns: u64,
    /// Time on a CPU (schedstat, first column), ns.
    pub run_ns: u64,
    /// Time runnable but waiting for a CPU (schedstat, second column), ns.
    pub run_queue_wait_ns: u64,
    /// Context switches because the worker blocked.
    pub voluntary_switches: u64,
    /// Context switches because another thread took the CPU.
    pub involuntary_switches: u64,
    /// Time from the run's zero until the worker was ready, ns.
    pub start_lateness_ns: u64,
}

/// The facts of several workers, added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerTotals {
    /// Workers that finished.
    pub workers: u64,
    /// Sum of CPU time in user mode, ns.
    pub user_cpu_ns: u64,
    /// Sum of CPU time in the kernel, ns.
    pub system_cpu_ns: u64,
    /// Sum of time on a CPU, ns.
    pub run_ns: u64,
    /// Sum of time runnable but waiting for a CPU, ns.
    pub run_queue_wait_ns: u64,
    /// Sum of context switches because a worker blocked.
    pub voluntary_switches: u64,
    /// Sum of context switches because another thread took the CPU.
    pub involuntary_switches: u64,
    /// Longest time from the run's zero until a worker was ready, ns.
    pub start_lateness_max_ns: u64,
    /// Earliest first I/O of any worker, ns since the start of the run; `None` if no worker issued
    /// one.
    pub first_issue_min_ns: Option<u64>,
    /// Latest first I/O of any worker, ns since the start of the run; `None` if no worker issued
    /// one.
    pub first_issue_max_ns: Option<u64>,
    /// Workers that never issued an I/O.
    pub never_issued: u64,
    /// I/Os still in flight when their worker finished: neither done nor failed nor dropped.
    pub unfinished_ios: u64,
    /// Sum over the workers of the time with an I/O in flight, ns, ramp and overshoot included. For
    /// a single worker this is the time that it kept the drive busy; the times of several workers
    /// overlap.
    #[serde(default)]
    pub busy_ns: u64,
}

impl WorkerTotals {
    pub(crate) fn of(
        facts: &WorkerFacts,
        first_issue_ns: Option<u64>,
        unfinished_ios: u64,
        busy_ns: u64,
    ) -> Self {
        Self {
            workers: 1,
            user_cpu_ns: facts.user_cpu_ns,
            system_cpu_ns: facts.system_cpu_ns,
            run_ns: facts.run_ns,
            run_queue_wait_ns: facts.run_queue_wait_ns,
            voluntary_switches: facts.voluntary_switches,
            involuntary_switches: facts.involuntary_switches,
            start_lateness_max_ns: facts.start_lateness_ns,
            first_issue_min_ns: first_issue_ns,
            first_issue_max_ns: first_issue_ns,
            never_issued: u64::from(first_issue_ns.is_none()),
            unfinished_ios,
            busy_ns,
        }
    }

    /// Adds the totals of other workers.
    pub fn merge(&mut self, other: &Self) {
        self.workers += other.workers;
        self.user_cpu_ns += other.user_cpu_ns;
        self.system_cpu_ns += other.system_cpu_ns;
        self.run_ns += other.run_ns;
        self.run_queue_wait_ns += other.run_queue_wait_ns;
        self.voluntary_switches += other.voluntary_switches;
        self.involuntary_switches += other.involuntary_switches;
        self.start_lateness_max_ns = self.start_lateness_max_ns.max(other.start_lateness_max_ns);
        let firsts = [self.first_issue_min_ns, other.first_issue_min_ns];
        self.first_issue_min_ns = firsts.into_iter().flatten().min();
        self.first_issue_max_ns = self.first_issue_max_ns.max(other.first_issue_max_ns);
        self.never_issued += other.never_issued;
        self.unfinished_ios += other.unfinished_ios;
        self.busy_ns += other.busy_ns;
    }

    /// Returns the time between the earliest and the latest first I/O of a worker, ns; `None` if no
    /// worker issued one.
    pub fn start_skew_ns(&self) -> Option<u64> {
        Some(self.first_issue_max_ns? - self.first_issue_min_ns?)
    }
}

/// How far the shared stamp of a batch can lie from the moment at which one of its I/Os was really
/// submitted or reaped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchSpans {
    /// Batches stamped.
    pub batches: u64,
    /// Sum of the time each batch took, ns.
    pub sum_ns: u64,
    /// Longest batch, ns.
    pub max_ns: u64,
}

impl BatchSpans {
    #[inline]
    pub(crate) fn record(&mut self, span_ns: u64) {
        self.batches += 1;
        self.sum_ns += span_ns;
        self.max_ns = self.max_ns.max(span_ns);
    }

    /// Adds the batches of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.batches += other.batches;
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Returns the mean time per batch, ns; `None` without batches.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.batches > 0).then(|| self.sum_ns as f64 / self.batches as f64)
    }
}

/// I/O that completed after the row that decided the end of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overshoot {
    /// I/Os done.
    pub ios: u64,
    /// Bytes that these I/Os moved.
    pub bytes: u64,
    /// Time from the end of the deciding row to the end of the run, ns.
    pub ns: u64,
}

/// What a stream completed after the stop. It is part of the counts and latencies, but not of the
/// rates, which cover the time in which I/O was issued.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Drained {
    /// I/Os done, in the order of [`crate::OPS`].
    pub done: [u64; 3],
    /// Bytes moved, in the order of [`crate::OPS`].
    pub bytes: [u64; 3],
    /// Integral of the I/Os in flight over time, in I/O nanoseconds.
    pub in_flight_area_ns: u128,
}

impl Drained {
    pub(crate) fn add(&mut self, row: &StreamTally) {
        for (i, op) in row.ops.iter().enumerate() {
            self.done[i] += op.done;
            self.bytes[i] += op.bytes;
        }
        self.in_flight_area_ns += row.in_flight_area_ns;
    }

    /// Returns the I/Os done, over all operations.
    pub fn ios(&self) -> u64 {
        self.done.iter().sum()
    }
}

/// All facts of one failed I/O or flush.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Index of the stream.
    pub stream: usize,
    /// The operation, or a flush.
    pub op: Command,
    /// The kernel's error number.
    pub errno: i32,
    /// Offset from the start of the target, in bytes; 0 for a flush.
    pub offset: u64,
    /// Length in bytes; 0 for a flush.
    pub length: u32,
    /// Intended start, ns since the start of the run.
    pub intended_ns: u64,
    /// Time of submission, ns since the start of the run.
    pub submit_ns: u64,
    /// Time of the failure, ns since the start of the run.
    pub at_ns: u64,
}

/// What is known at the end of a run, beside its rows; the log's footer.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Ending {
    /// Time at which the last worker of each stream finished, ns since the start of the run.
    pub(crate) ends_ns: Vec<u64>,
    pub(crate) decided_row: Option<u64>,
    pub(crate) overshoot: Overshoot,
    pub(crate) workers: Vec<WorkerTotals>,
    pub(crate) batches: BatchSpans,
    pub(crate) owner: Value,
    #[serde(skip)]
    pub(crate) complete: bool,
}
