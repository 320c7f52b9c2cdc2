//! Records the I/O of one worker. All state is private to the worker. It takes the collector's lock
//! only when its clock passes an interval edge, and once a second in longer intervals.

mod back_to_back;

pub use back_to_back::Together;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use workload::Op;

use crate::collector::Collector;
use crate::facts::{BatchSpans, Failure, WorkerFacts, WorkerTotals};
use crate::histogram::Histogram;
use crate::io_columns::{IoColumns, IoRecord};
use crate::operation::{self, Command};
use crate::pending::{FAILURES_KEPT, LiveCounts, Pending};
use crate::slot::Slot;
use crate::tally::{OpTally, Pacing};

/// An I/O is late if it was submitted more than this after its intended start, ns.
pub const LATE_NS: u64 = 1_000_000;
/// Longest time between two handovers, however long the interval is: progress stays current, and
/// 32-bit counts suffice.
const HAND_OVER_NS: u64 = 1_000_000_000;

/// Counts the I/Os of one worker. All stamps are ns since the start of the run. A stamp before the
/// latest one does not move the recorder's clock.
#[derive(Debug)]
pub struct Recorder {
    /// Up to this time the recorder only counts; the next later stamp makes it hand over.
    hand_over_at_ns: u64,
    last_ns: u64,
    in_flight_area_ns: u64,
    /// Time without an I/O in flight, ns; the worker was busy for the remaining time.
    idle_ns: u64,
    in_flight: u32,
    in_flight_max: u32,
    /// I/Os in flight that [`LiveCounts`] currently holds for this worker.
    in_flight_told: u32,
    first_issue_ns: u64,
    pacing: Pacing,
    /// I/Os in flight over all workers of a scheduled stream.
    shared_in_flight: Option<Arc<AtomicU32>>,
    ops: [OpSlot; 3],
    flush: OpSlot,
    batches: BatchSpans,
    stream: usize,
    /// The interval that this worker is in.
    row: u64,
    row_end_ns: u64,
    columns: Option<IoColumns>,
    collector: Arc<Collector>,
    finished: bool,
    /// Makes the type not `Sync`: a recorder belongs to one worker. It may move to another thread,
    /// but must not be shared.
    not_sync: PhantomData<Cell<()>>,
}

/// Counts of one operation since the last handover.
#[derive(Debug, Default)]
struct OpSlot {
    bytes: u64,
    late: u64,
    dropped: u64,
    service: Slot,
    response: Slot,
    lateness: Slot,
    failures: Option<Box<FailureSlot>>,
}

#[derive(Debug, Default)]
struct FailureSlot {
    latency: Histogram,
    errors: BTreeMap<i32, u64>,
    kept: Vec<Failure>,
}

impl Recorder {
    /// Creates the recorder of one worker of `stream`. The collector expects exactly as many
    /// recorders as its spec has participants.
    ///
    /// # Panics
    /// If the collector has no such stream or participant, or the participant already has a
    /// recorder.
    pub fn new(collector: &Arc<Collector>, stream: usize, participant: u32) -> Self {
        let spec = &collector.spec().streams[stream];
        collector.join(participant);
        let row_end_ns = collector.spec().edges().end_ns(0);
        Self {
            hand_over_at_ns: row_end_ns.min(HAND_OVER_NS),
            last_ns: 0,
            in_flight_area_ns: 0,
            idle_ns: 0,
            in_flight: 0,
            in_flight_max: 0,
            in_flight_told: 0,
            first_issue_ns: u64::MAX,
            pacing: spec.pacing,
            shared_in_flight: collector.shared_in_flight(stream),
            ops: Default::default(),
            flush: OpSlot::default(),
            batches: BatchSpans::default(),
            stream,
            row: 0,
            row_end_ns,
            columns: spec
                .log_ios
                .then(|| collector.empty_columns(stream, participant)),
            collector: Arc::clone(collector),
            finished: false,
            not_sync: PhantomData,
        }
    }

    /// Counts `n` I/Os as submitted at `at_ns`.
    #[inline]
    pub fn submitted(&mut self, n: u32, at_ns: u64) {
        self.advance(at_ns);
        self.in_flight += n;
        if self.first_issue_ns == u64::MAX {
            self.first_issue_ns = self.last_ns;
        }
        let in_flight = match &self.shared_in_flight {
            None => self.in_flight,
            Some(shared) => shared.fetch_add(n, Relaxed) + n,
        };
        if in_flight > self.in_flight_max {
            self.in_flight_max = in_flight;
        }
    }

    /// Counts an I/O as done. A back-to-back stream ignores `intended_ns`.
    #[inline]
    pub fn completed(&mut self, op: Op, bytes: u32, intended_ns: u64, submit_ns: u64, at_ns: u64) {
        self.advance(at_ns);
        self.land();
        let slot = &mut self.ops[operation::index(op)];
        slot.bytes += u64::from(bytes);
        slot.service.record(at_ns.saturating_sub(submit_ns));
        if self.pacing != Pacing::BackToBack {
            let lateness_ns = submit_ns.saturating_sub(intended_ns);
            slot.response.record(at_ns.saturating_sub(intended_ns));
            slot.lateness.record(lateness_ns);
            slot.late += u64::from(self.pacing == Pacing::Scheduled && lateness_ns > LATE_NS);
        }
    }

    /// Counts an I/O as failed with error number `errno`. `offset` and `length` are in bytes.
    #[cold]
    #[allow(
        clippy::too_many_arguments,
        reason = "the facts of one I/O, as the engine has them"
    )]
    pub fn failed(
        &mut self,
        op: Op,
        errno: i32,
        offset: u64,
        length: u32,
        intended_ns: u64,
        submit_ns: u64,
        at_ns: u64,
    ) {
        self.advance(at_ns);
        self.land();
        self.ops[operation::index(op)].fail(Failure {
            stream: self.stream,
            op: op.into(),
            errno,
            offset,
            length,
            intended_ns,
            submit_ns,
            at_ns,
        });
    }

    /// Counts a flush as done. A flush is not an I/O and is never counted as in flight.
    pub fn flushed(&mut self, submit_ns: u64, at_ns: u64) {
        self.advance(at_ns);
        self.flush.service.record(at_ns.saturating_sub(submit_ns));
    }

    /// Counts a flush as failed with error number `errno`.
    #[cold]
    pub fn flush_failed(&mut self, errno: i32, submit_ns: u64, at_ns: u64) {
        self.advance(at_ns);
        self.flush.fail(Failure {
            stream: self.stream,
            op: Command::Flush,
            errno,
            offset: 0,
            length: 0,
            intended_ns: submit_ns,
            submit_ns,
            at_ns,
        });
    }

    /// Counts an I/O as dropped: it was due at `intended_ns` and was given up before submission.
    pub fn dropped(&mut self, op: Op, intended_ns: u64, at_ns: u64) {
        self.advance(at_ns);
        let slot = &mut self.ops[operation::index(op)];
        slot.dropped += 1;
        if self.pacing != Pacing::BackToBack {
            slot.response.record(at_ns.saturating_sub(intended_ns));
        }
    }

    /// Records that submitting or reaping a batch with one shared stamp took `span_ns`.
    #[inline]
    pub fn batch(&mut self, span_ns: u64) {
        self.batches.record(span_ns);
    }

    /// Adds one I/O to the per-I/O columns, if the stream's spec asks for them.
    #[inline]
    pub fn log_io(&mut self, io: &IoRecord) {
        if let Some(columns) = &mut self.columns {
            columns.push(io);
            if columns.is_full() {
                self.collector.accept_columns(columns);
            }
        }
    }

    /// Records that time has passed without I/O. A caller that sleeps or polls must call this, so
    /// that intervals can close.
    #[inline]
    pub fn advance(&mut self, at_ns: u64) {
        // The I/Os of a batch share a stamp, so only the first of them moves the clock.
        if at_ns > self.last_ns {
            if at_ns > self.hand_over_at_ns {
                self.hand_over_until(at_ns);
            }
            self.accumulate(at_ns);
        }
    }

    /// Returns the latest stamp that the recorder was given, ns since the start of the run.
    pub fn last_ns(&self) -> u64 {
        self.last_ns
    }

    /// Returns the number of I/Os that this worker has in flight.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Hands over the last counts and ends the recording. `at_ns` is the later of the stop and the
    /// worker's last completion.
    pub fn finish(mut self, at_ns: u64, facts: &WorkerFacts) {
        self.conclude(at_ns, facts);
    }

    #[inline]
    fn land(&mut self) {
        self.in_flight -= 1;
        if let Some(shared) = &self.shared_in_flight {
            shared.fetch_sub(1, Relaxed);
        }
    }

    #[inline]
    fn accumulate(&mut self, until_ns: u64) {
        let span_ns = until_ns - self.last_ns;
        self.in_flight_area_ns += u64::from(self.in_flight) * span_ns;
        if self.in_flight == 0 {
            self.idle_ns += span_ns;
        }
        self.last_ns = until_ns;
    }

    /// Hands over the counts, and passes every interval that ends before `at_ns`.
    #[cold]
    #[inline(never)]
    fn hand_over_until(&mut self, at_ns: u64) {
        let collector = Arc::clone(&self.collector);
        let mut pending = collector.pending();
        while at_ns > self.row_end_ns {
            self.accumulate(self.row_end_ns);
            self.hand_over(&mut pending);
            pending.pass(self.row, self.stream, self.in_flight_max);
            self.in_flight_max = self
                .shared_in_flight
                .as_ref()
                .map_or(self.in_flight, |shared| shared.load(Relaxed));
            self.row += 1;
            self.row_end_ns = collector.spec().edges().end_ns(self.row);
        }
        self.accumulate(at_ns);
        self.hand_over(&mut pending);
        self.hand_over_at_ns = self.row_end_ns.min(at_ns.saturating_add(HAND_OVER_NS));
    }

    /// Moves the counts since the last handover into the interval that this worker is in.
    fn hand_over(&mut self, pending: &mut Pending) {
        pending.live.in_flight -= u64::from(mem::replace(&mut self.in_flight_told, self.in_flight));
        let row = pending.row(self.row);
        let tally = &mut row.streams[self.stream];
        tally.in_flight_area_ns += u128::from(mem::take(&mut self.in_flight_area_ns));
        let mut live = LiveCounts {
            in_flight: u64::from(self.in_flight),
            ..LiveCounts::default()
        };
        for (slot, tally) in self.ops.iter_mut().zip(&mut tally.ops) {
            slot.hand_over(tally, &mut live);
        }
        // The live counts cover I/Os only; a flush is not one.
        self.flush
            .hand_over(&mut tally.flush, &mut LiveCounts::default());
        for failures in self
            .ops
            .iter_mut()
            .chain([&mut self.flush])
            .filter_map(|slot| slot.failures.as_mut())
        {
            row.keep_failures(&mut failures.kept);
        }
        pending.live.add(live);
    }

    fn conclude(&mut self, at_ns: u64, facts: &WorkerFacts) {
        self.finished = true;
        self.advance(at_ns);
        if let Some(columns) = &mut self.columns {
            self.collector.accept_columns(columns);
        }
        if let Some(shared) = &self.shared_in_flight {
            shared.fetch_sub(self.in_flight, Relaxed);
        }
        let collector = Arc::clone(&self.collector);
        let unfinished = u64::from(mem::take(&mut self.in_flight));
        let mut pending = collector.pending();
        self.hand_over(&mut pending);
        let first_issue_ns = (self.first_issue_ns < u64::MAX).then_some(self.first_issue_ns);
        let totals = WorkerTotals::of(
            facts,
            first_issue_ns,
            unfinished,
            self.last_ns - self.idle_ns,
        );
        pending.workers[self.stream].merge(&totals);
        pending.batches.merge(&self.batches);
        pending.finish(self.row, self.stream, self.in_flight_max, self.last_ns);
    }
}

/// Concludes the recording of a worker that panics or returns early without [`Recorder::finish`];
/// otherwise the rows of the other workers could not close.
impl Drop for Recorder {
    fn drop(&mut self) {
        if !self.finished {
            self.conclude(self.last_ns, &WorkerFacts::default());
        }
    }
}

impl OpSlot {
    fn fail(&mut self, failure: Failure) {
        let failures = self.failures.get_or_insert_default();
        let latency_ns = failure.at_ns.saturating_sub(failure.submit_ns);
        failures.latency.record(latency_ns);
        *failures.errors.entry(failure.errno).or_default() += 1;
        if failures.kept.len() < FAILURES_KEPT {
            failures.kept.push(failure);
        }
    }

    fn hand_over(&mut self, tally: &mut OpTally, live: &mut LiveCounts) {
        let done = self.service.hand_over(&mut tally.service);
        if let Some(response) = &mut tally.response {
            self.response.hand_over(response);
            self.lateness.hand_over(&mut tally.lateness);
        }
        tally.done += done;
        live.ios += done;
        live.bytes += self.bytes;
        live.dropped += self.dropped;
        tally.bytes += mem::take(&mut self.bytes);
        tally.late += mem::take(&mut self.late);
        tally.dropped += mem::take(&mut self.dropped);
        if let Some(failures) = &mut self.failures {
            live.failed += failures.latency.count();
            failures.hand_over(tally);
        }
    }
}

impl FailureSlot {
    fn hand_over(&mut self, tally: &mut OpTally) {
        tally.failed += self.latency.count();
        tally.failed_latency.merge(&mem::take(&mut self.latency));
        for (errno, count) in mem::take(&mut self.errors) {
            *tally.errors.entry(errno).or_default() += count;
        }
    }
}
