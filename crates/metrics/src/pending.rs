//! Intervals that are still open: at least one worker may add to them.

use std::collections::VecDeque;

use crate::edges::Edges;
use crate::facts::{BatchSpans, Ending, Failure, WorkerTotals};
use crate::row::{Row, StreamRow};
use crate::tally::{Pacing, StreamSpec, StreamTally};

/// Failures of which all facts are kept, per interval and per run.
pub(crate) const FAILURES_KEPT: usize = 16;

/// Counts since the start of the run, for progress reports. They lag a busy worker by at most one
/// second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LiveCounts {
    /// I/Os done.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// I/Os failed.
    pub failed: u64,
    /// I/Os dropped.
    pub dropped: u64,
    /// I/Os in flight, as of each worker's last handover.
    pub in_flight: u64,
}

impl LiveCounts {
    pub(crate) fn add(&mut self, more: Self) {
        self.ios += more.ios;
        self.bytes += more.bytes;
        self.failed += more.failed;
        self.dropped += more.dropped;
        self.in_flight += more.in_flight;
    }
}

/// An interval that is still open.
#[derive(Debug)]
pub(crate) struct PendingRow {
    /// Workers that have not passed the end of the interval.
    waiting: u32,
    pub(crate) streams: Vec<StreamTally>,
    pub(crate) failures: Vec<Failure>,
}

impl PendingRow {
    /// Keeps the earliest failures, so that the choice does not depend on the order in which
    /// workers hand over.
    pub(crate) fn keep_failures(&mut self, more: &mut Vec<Failure>) {
        if !more.is_empty() {
            self.failures.append(more);
            self.failures.sort_by_key(|failure| {
                let what = (failure.op, failure.length, failure.errno);
                let when = (failure.submit_ns, failure.intended_ns);
                (failure.at_ns, failure.stream, failure.offset, when, what)
            });
            self.failures.truncate(FAILURES_KEPT);
        }
    }
}

/// The state that the workers share: all open intervals, and the facts of the finished workers.
#[derive(Debug)]
pub(crate) struct Pending {
    pacings: Vec<Pacing>,
    edges: Edges,
    ramp_ns: u64,
    /// Number of the first open interval.
    first: u64,
    rows: VecDeque<PendingRow>,
    pub(crate) working: u32,
    /// Latest finish of a worker so far, ns, per stream.
    ends_ns: Vec<u64>,
    pub(crate) workers: Vec<WorkerTotals>,
    pub(crate) batches: BatchSpans,
    pub(crate) live: LiveCounts,
}

impl Pending {
    pub(crate) fn new(
        edges: Edges,
        ramp_ns: u64,
        streams: &[StreamSpec],
        participants: u32,
    ) -> Self {
        Self {
            pacings: streams.iter().map(|stream| stream.pacing).collect(),
            edges,
            ramp_ns,
            first: 0,
            rows: VecDeque::new(),
            working: participants,
            ends_ns: vec![0; streams.len()],
            workers: vec![WorkerTotals::default(); streams.len()],
            batches: BatchSpans::default(),
            live: LiveCounts::default(),
        }
    }

    /// Returns interval `index`; creates it and all before it if they do not exist. The caller has
    /// not passed this interval, so it cannot have closed.
    pub(crate) fn row(&mut self, index: u64) -> &mut PendingRow {
        let at = (index - self.first) as usize;
        while self.rows.len() <= at {
            let streams = self
                .pacings
                .iter()
                .map(|&pacing| StreamTally::new(pacing))
                .collect();
            self.rows.push_back(PendingRow {
                waiting: self.working,
                streams,
                failures: Vec::new(),
            });
        }
        &mut self.rows[at]
    }

    /// Notes that a worker of `stream` has passed the end of interval `index`, in which it had at
    /// most `in_flight_max` I/Os in flight.
    pub(crate) fn pass(&mut self, index: u64, stream: usize, in_flight_max: u32) {
        let scheduled = self.pacings[stream] == Pacing::Scheduled;
        let row = self.row(index);
        row.waiting -= 1;
        let highest = &mut row.streams[stream].in_flight_max;
        *highest = if scheduled {
            (*highest).max(in_flight_max)
        } else {
            highest.saturating_add(in_flight_max)
        };
    }

    /// Notes that a worker in interval `index` finished at `at_ns`, so that no interval waits for
    /// it.
    pub(crate) fn finish(&mut self, index: u64, stream: usize, in_flight_max: u32, at_ns: u64) {
        self.pass(index, stream, in_flight_max);
        for later in self.rows.range_mut((index - self.first) as usize + 1..) {
            later.waiting -= 1;
        }
        self.working -= 1;
        self.ends_ns[stream] = self.ends_ns[stream].max(at_ns);
    }

    /// Returns what is known of the finished workers.
    pub(crate) fn ending(&self) -> Ending {
        Ending {
            ends_ns: self.ends_ns.clone(),
            workers: self.workers.clone(),
            batches: self.batches,
            complete: self.working == 0,
            ..Ending::default()
        }
    }

    fn end_ns(&self) -> u64 {
        self.ends_ns.iter().copied().max().unwrap_or(0)
    }

    /// Takes the intervals that every worker has passed, in order.
    pub(crate) fn take_closed(&mut self) -> Vec<(Row, PendingRow)> {
        let mut closed = Vec::new();
        while self.rows.front().is_some_and(|row| row.waiting == 0) {
            if let Some(pending) = self.rows.pop_front() {
                closed.push((self.describe(&pending), pending));
            }
            self.first += 1;
        }
        closed
    }

    /// Builds the row of the first open interval.
    fn describe(&self, pending: &PendingRow) -> Row {
        let start_ns = self.edges.start_ns(self.first);
        let full_end_ns = self.edges.end_ns(self.first);
        // As long as a worker is active, it has passed every closed interval, so the interval is
        // full length.
        let end_ns = if self.working == 0 {
            self.end_ns().min(full_end_ns)
        } else {
            full_end_ns
        };
        Row {
            index: self.first,
            start_ns,
            duration_ns: end_ns - start_ns,
            partial: end_ns < full_end_ns || !self.edges.is_whole(self.first),
            ramp: end_ns <= self.ramp_ns,
            streams: pending.streams.iter().map(StreamRow::of).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Command;

    #[test]
    fn failures_of_one_time_are_kept_in_one_order_whoever_hands_over_first() {
        let failed = |submit_ns, errno| Failure {
            stream: 0,
            op: Command::Read,
            errno,
            offset: 4096,
            length: 512,
            intended_ns: submit_ns,
            submit_ns,
            at_ns: 900,
        };
        let all = [failed(100, 5), failed(200, 5), failed(200, 121)];
        let kept = |order: [usize; 3]| {
            let mut row = PendingRow {
                waiting: 0,
                streams: Vec::new(),
                failures: Vec::new(),
            };
            for at in order {
                row.keep_failures(&mut vec![all[at].clone()]);
            }
            row.failures
        };
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            assert_eq!(kept(order), all);
        }
    }
}
