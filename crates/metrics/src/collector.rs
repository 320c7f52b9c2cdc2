//! Merges the workers' counts: pending intervals, rows that close in order, totals, and the append
//! log.
//!
//! Lock order, where a thread holds more than one: `results` (the owner of the run takes it),
//! `pending` (workers take it at interval edges, for the time of a merge), `log` (the owner takes
//! it; a worker only when the queue of per-I/O columns is full). The other locks are innermost: no
//! thread takes another while it holds one of them. A worker at an interval edge never waits for
//! the disk.

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::error::CollectorError;
use crate::facts::{Ending, StartStamp};
use crate::io_columns::{IoColumns, IoQueue};
use crate::log::LogError;
use crate::log::sink::Sink;
use crate::measurement::Measurement;
use crate::pending::{LiveCounts, Pending};
use crate::results::Results;
use crate::row::Row;
use crate::spec::CollectorSpec;
use crate::tally::Pacing;

/// Progress of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Counts so far, of all streams, ramp included.
    pub counts: LiveCounts,
    /// The latest closed row, for recent rates and percentiles.
    pub last_row: Option<Row>,
    /// Workers that have not finished.
    pub working: u32,
}

/// Merges what the recorders of a run count.
#[derive(Debug)]
pub struct Collector {
    spec: CollectorSpec,
    in_flight: Vec<Arc<AtomicU32>>,
    joined: Mutex<Vec<bool>>,
    results: Mutex<Results>,
    pending: Mutex<Pending>,
    log: Mutex<Sink>,
    io_queue: Mutex<IoQueue>,
    footer: Mutex<Value>,
}

/// Locks even if an earlier holder panicked: the counts are correct as far as they go.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Collector {
    /// Creates the collector of one run and writes the log's header.
    ///
    /// # Errors
    /// If the spec cannot be recorded or the log cannot be written.
    pub fn new(mut spec: CollectorSpec) -> Result<Arc<Self>, CollectorError> {
        if spec.interval_ns == 0 {
            return Err(CollectorError::NoInterval);
        }
        let log = Sink::open(&mut spec)?;
        if let Some(stream) = spec
            .streams
            .iter()
            .find(|stream| stream.log_ios && !log.takes_columns())
        {
            return Err(CollectorError::NoLogForIos {
                stream: stream.name.clone(),
            });
        }
        let pending = Pending::new(spec.edges(), spec.ramp_ns, &spec.streams, spec.participants);
        let results = Results::new(
            spec.interval_ns,
            spec.stop_ns,
            spec.ramp_ns,
            &spec.streams,
            spec.keep_interval_histograms,
        );
        Ok(Arc::new(Self {
            in_flight: spec.streams.iter().map(|_| Arc::default()).collect(),
            joined: Mutex::new(vec![false; spec.participants as usize]),
            results: Mutex::new(results),
            pending: Mutex::new(pending),
            log: Mutex::new(log),
            io_queue: Mutex::new(IoQueue::new(spec.participants)),
            footer: Mutex::default(),
            spec,
        }))
    }

    /// Returns the spec, without its log writers: the collector has taken them.
    pub fn spec(&self) -> &CollectorSpec {
        &self.spec
    }

    pub(crate) fn pending(&self) -> MutexGuard<'_, Pending> {
        lock(&self.pending)
    }

    pub(crate) fn join(&self, participant: u32) {
        let joined = &mut lock(&self.joined)[participant as usize];
        assert!(!*joined, "participant {participant} has a recorder already");
        *joined = true;
    }

    pub(crate) fn shared_in_flight(&self, stream: usize) -> Option<Arc<AtomicU32>> {
        // The only worker of a run counts exactly by itself and needs no atomic operation.
        let shared =
            self.spec.streams[stream].pacing == Pacing::Scheduled && self.spec.participants > 1;
        shared.then(|| Arc::clone(&self.in_flight[stream]))
    }

    pub(crate) fn empty_columns(&self, stream: usize, participant: u32) -> IoColumns {
        lock(&self.io_queue).empty(stream, participant)
    }

    /// Queues a worker's columns and gives it empty ones. If the queue is full, the worker writes
    /// the queue to the log itself: a log that is too slow then shows as lateness, and no I/O is
    /// lost.
    pub(crate) fn accept_columns(&self, columns: &mut IoColumns) {
        let full = {
            let mut queue = lock(&self.io_queue);
            queue.exchange(columns);
            queue.is_full()
        };
        if full {
            self.write_columns();
        }
    }

    fn write_columns(&self) {
        let mut log = lock(&self.log);
        let chunks = lock(&self.io_queue).take();
        for columns in &chunks {
            log.columns(columns);
        }
        lock(&self.io_queue).give_back(chunks);
    }

    /// Records the absolute time of the run's zero.
    pub fn started(&self, start: StartStamp) {
        lock(&self.results).start = Some(start);
        lock(&self.log).start(start);
    }

    /// Stores JSON from the owner with the measurement and in the log's footer, for facts that are
    /// known only at the end.
    pub fn set_footer(&self, footer: Value) {
        *lock(&self.footer) = footer;
    }

    /// Returns the rows that have closed since the last call, in order. Call it several times per
    /// interval. The rows that the previous call returned become final: they enter the totals and
    /// the log.
    ///
    /// # Errors
    /// If the log could not be written; the error is returned only once. No counts are lost: the run
    /// can continue without a log, and the next call returns the rows.
    pub fn close_rows(&self) -> Result<Vec<Row>, LogError> {
        self.settle();
        lock(&self.log).untold_error()?;
        let mut results = lock(&self.results);
        let closed = self.pending().take_closed();
        Ok(results.announce(closed))
    }

    fn settle(&self) {
        self.write_columns();
        let mut results = lock(&self.results);
        let mut log = lock(&self.log);
        results.settle(|row, pending| log.row(row, &pending.streams, &pending.failures));
    }

    /// Ends the result with row `row`: I/O that completes later counts as overshoot. `row` must be
    /// one that the last [`Self::close_rows`] returned, or a later one.
    ///
    /// # Errors
    /// If the totals already contain a later row.
    pub fn truncate_after(&self, row: u64) -> Result<(), CollectorError> {
        lock(&self.results).truncate_after(row)
    }

    /// Flushes the log to stable storage. Call it every ten seconds.
    ///
    /// # Errors
    /// If the log could not be written or flushed; the error is returned only once.
    pub fn sync_log(&self) -> Result<(), LogError> {
        let mut log = lock(&self.log);
        log.sync();
        log.untold_error()
    }

    /// Returns the progress of the run. Takes two locks for a moment.
    pub fn snapshot(&self) -> Snapshot {
        let last_row = lock(&self.results).last_row().cloned();
        let pending = self.pending();
        Snapshot {
            counts: pending.live,
            last_row,
            working: pending.working,
        }
    }

    /// Closes the remaining intervals, finishes and flushes the log, and returns the result. Every
    /// recorder should have finished: rows that a worker has not passed are missing, and the
    /// measurement is not `complete`. If the log failed, the measurement carries the error.
    pub fn into_measurement(self: Arc<Self>) -> Measurement {
        self.settle();
        let mut results = lock(&self.results);
        let (closed, mut ending) = {
            let mut pending = self.pending();
            (pending.take_closed(), pending.ending())
        };
        results.announce(closed);
        let mut log = lock(&self.log);
        results.settle(|row, pending| log.row(row, &pending.streams, &pending.failures));
        self.complete_ending(&results, &mut ending);
        if ending.complete {
            log.finish(results.totals(), &ending);
        }
        let measurement = results.conclude(&self.spec.streams, ending);
        Measurement {
            log_error: log.error(),
            ..measurement
        }
    }

    fn complete_ending(&self, results: &Results, ending: &mut Ending) {
        let end_ns = ending.ends_ns.iter().copied().max().unwrap_or(0);
        ending.overshoot = results.overshoot(end_ns);
        ending.decided_row = results.decided_row();
        ending.owner = lock(&self.footer).clone();
    }
}
