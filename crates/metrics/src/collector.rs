//! Brings the workers' counts together: pending intervals, rows that close in order, totals, the append log.
//!
//! Three locks, always taken in this order: `results` (only the owner's thread), `pending` (workers at interval edges, for
//! the time of a merge), `log` (the owner; a worker only when its per-I/O columns find the queue full). No lock is held over
//! a flush to disk that a worker could wait for at an edge.

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::facts::StartStamp;
use crate::io_columns::IoColumns;
use crate::log::{LogError, LogWriter};
use crate::measurement::{Measurement, StreamTotals};
use crate::pending::{LiveCounts, Pending};
use crate::results::Results;
use crate::row::Row;
use crate::tally::Pacing;

/// What is to be recorded.
#[derive(Debug)]
pub struct CollectorSpec {
    /// Length of an interval, ns; at least 1.
    pub interval_ns: u64,
    /// Intervals wholly before this time are flagged as ramp and not in the totals; 0 for none.
    pub ramp_ns: u64,
    /// The streams, in the order of the workload.
    pub streams: Vec<StreamSpec>,
    /// Workers of all streams together: as many recorders must be made and finished.
    pub participants: u32,
    /// Keep the histogram of every interval in memory and in the measurement, not only in the log.
    pub keep_interval_histograms: bool,
    /// Where rows and histograms go as they close, if anywhere.
    pub log: Option<LogWriter>,
    /// What the owner wants to find in the log's header.
    pub header: serde_json::Value,
}

impl CollectorSpec {
    /// A spec without ramp, log or kept histograms.
    pub fn new(interval_ns: u64, streams: Vec<StreamSpec>, participants: u32) -> Self {
        Self {
            interval_ns,
            ramp_ns: 0,
            streams,
            participants,
            keep_interval_histograms: false,
            log: None,
            header: serde_json::Value::Null,
        }
    }
}

/// How a stream is counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamSpec {
    /// The stream's name.
    pub name: String,
    /// What an I/O's intended start is.
    pub pacing: Pacing,
    /// Whether per-I/O columns are kept (in the log).
    pub log_ios: bool,
}

/// Which latency a histogram holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Submit to complete.
    Service = 0,
    /// Intended start to complete.
    Response = 1,
    /// Intended start to submit.
    Lateness = 2,
    /// Submit to failure.
    Failed = 3,
}

/// A misuse of the collector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CollectorError {
    /// The spec cannot be recorded.
    #[error("an interval of 0 ns cannot be recorded: give at least 1 ns")]
    NoInterval,
    /// The log's header could not be written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A row was named as the deciding one that is already in the totals.
    #[error(
        "row {row} is already in the totals, which reach to row {settled}: decide on rows in the order they close"
    )]
    RowSettled {
        /// The row that was named.
        row: u64,
        /// The last row in the totals.
        settled: u64,
    },
}

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

/// The shared end of all recorders.
#[derive(Debug)]
pub struct Collector {
    spec: CollectorSpec,
    in_flight: Vec<Arc<AtomicU32>>,
    joined: Mutex<Vec<bool>>,
    results: Mutex<Results>,
    pending: Mutex<Pending>,
    log: Mutex<LogState>,
}

#[derive(Debug, Default)]
struct LogState {
    writer: Option<LogWriter>,
    error: Option<LogError>,
}

/// A lock whose holder panicked still guards counts that are right as far as they go.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Collector {
    /// A collector for one run.
    ///
    /// # Errors
    /// If the spec cannot be recorded or the log cannot be written.
    pub fn new(mut spec: CollectorSpec) -> Result<Arc<Self>, CollectorError> {
        if spec.interval_ns == 0 {
            return Err(CollectorError::NoInterval);
        }
        let writer = spec.log.take();
        let pending = Pending::new(
            spec.interval_ns,
            spec.ramp_ns,
            &spec.streams,
            spec.participants,
        );
        Ok(Arc::new(Self {
            in_flight: spec.streams.iter().map(|_| Arc::default()).collect(),
            joined: Mutex::new(vec![false; spec.participants as usize]),
            results: Mutex::new(Results::new(&spec)),
            pending: Mutex::new(pending),
            log: Mutex::new(LogState {
                writer,
                error: None,
            }),
            spec,
        }))
    }

    /// The spec; its log has been taken out.
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
        (self.spec.streams[stream].pacing == Pacing::Scheduled)
            .then(|| Arc::clone(&self.in_flight[stream]))
    }

    pub(crate) fn empty_columns(&self, stream: usize, participant: u32) -> IoColumns {
        let each = IO_COLUMNS_BUDGET / self.spec.participants.max(1) as usize;
        IoColumns::with_capacity(stream, participant, each.clamp(64, 8192))
    }

    pub(crate) fn accept_columns(&self, columns: &mut IoColumns) {
        columns.clear();
    }

    /// Gives the absolute stamp of the run's zero.
    pub fn started(&self, start: StartStamp) {
        lock(&self.results).start = Some(start);
    }

    /// Rows that have closed since the last call, in order. Those of the call before become final with this call: they enter
    /// the totals and the log.
    ///
    /// # Errors
    /// If the log cannot be written. Nothing measured is lost: the run can go on without a log, and the next call gives the
    /// rows.
    pub fn close_rows(&self) -> Result<Vec<Row>, LogError> {
        let mut results = lock(&self.results);
        results.settle();
        let closed = self.pending().take_closed();
        Ok(results.announce(closed))
    }

    /// The run ends with row `row`: what completes later is overshoot. `row` is one of those that the last
    /// [`Self::close_rows`] gave, or later.
    ///
    /// # Errors
    /// If a later row is in the totals already.
    pub fn truncate_after(&self, row: u64) -> Result<(), CollectorError> {
        lock(&self.results).truncate_after(row)
    }

    /// Flushes the log to disk; to be called every ten seconds.
    ///
    /// # Errors
    /// If the log cannot be flushed.
    pub fn sync_log(&self) -> Result<(), LogError> {
        lock(&self.log)
            .writer
            .as_mut()
            .map_or(Ok(()), LogWriter::sync)
    }

    /// Progress; takes two locks for a moment.
    pub fn snapshot(&self) -> Snapshot {
        let last_row = lock(&self.results).last_row.clone();
        let pending = self.pending();
        Snapshot {
            counts: pending.live,
            last_row,
            working: pending.working,
        }
    }

    /// Closes what is left and gives the result. Every recorder must have finished; rows of workers that have not are
    /// missing, and the measurement is not `complete`.
    pub fn into_measurement(self: Arc<Self>) -> Measurement {
        // Once to announce what is left, once to make it final; a log that fails is told of in the measurement.
        for _ in 0..2 {
            if let Err(error) = self.close_rows() {
                lock(&self.log).error.get_or_insert(error);
            }
        }
        let mut results = lock(&self.results);
        let pending = self.pending();
        let elapsed_ns = pending.end_ns();
        let streams = results
            .take_totals()
            .into_iter()
            .zip(&self.spec.streams)
            .enumerate();
        let streams = streams.map(|(i, (tally, spec))| StreamTotals {
            spec: spec.clone(),
            measured_ns: results.measured_ns(pending.ends_ns[i]),
            tally,
            workers: pending.workers[i],
        });
        let streams = streams.collect();
        let mut workers = crate::facts::WorkerTotals::default();
        pending.workers.iter().for_each(|more| workers.merge(more));
        Measurement {
            interval_ns: self.spec.interval_ns,
            ramp_ns: self.spec.ramp_ns,
            start: results.start,
            elapsed_ns,
            measured_ns: results.measured_ns(elapsed_ns),
            streams,
            rows: std::mem::take(&mut results.rows),
            overshoot: results.overshoot(elapsed_ns),
            workers,
            batches: pending.batches,
            failures: std::mem::take(&mut results.failures),
            interval_histograms: std::mem::take(&mut results.interval_histograms),
            log_error: lock(&self.log).error.take(),
            complete: pending.working == 0,
        }
    }
}

/// I/Os that all workers' column buffers hold together.
const IO_COLUMNS_BUDGET: usize = 1 << 18;
