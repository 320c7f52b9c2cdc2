//! The result of a run: totals, rows, and the facts that tell how far to trust them.

use workload::Op;

use crate::facts::{BatchSpans, Drained, Failure, Overshoot, StartStamp, WorkerTotals};
use crate::histogram::Histogram;
use crate::log::LogError;
use crate::operation::{self, Command};
use crate::row::Rows;
use crate::tally::{Kind, OpTally, Place, StreamSpec, StreamTally};

/// Everything that was recorded of a run. The totals are the sum of all rows outside the ramp.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Length of an interval, ns.
    pub interval_ns: u64,
    /// Length of the ramp, ns: intervals that end by then are recorded, but are not in the totals.
    pub ramp_ns: u64,
    /// The absolute time of the run's zero, if the owner gave it.
    pub start: Option<StartStamp>,
    /// Time from the start to the later of the stop and the last completion, ns.
    pub elapsed_ns: u64,
    /// Time that the rates cover, ns: without the ramp rows, without the rows after the one in
    /// which `until` ended the run, and without the drain after a stop by time
    /// ([`StreamTotals::drained`]).
    pub measured_ns: u64,
    /// Time from a stop by time to the last completion, ns. I/O of this time is in the counts, but
    /// not in the rates.
    pub drained_ns: u64,
    /// Totals per stream, in the order of the spec.
    pub streams: Vec<StreamTotals>,
    /// All closed intervals.
    pub rows: Rows,
    /// The row that ended the result, if the owner decided on one.
    pub decided_row: Option<u64>,
    /// I/O that completed after the deciding row; zero if no row decided.
    pub overshoot: Overshoot,
    /// The facts of all workers, added up.
    pub workers: WorkerTotals,
    /// Durations of the batches that share one stamp: the uncertainty of the stamps.
    pub batches: BatchSpans,
    /// The first failed I/Os with all their facts, in order of time; those of the ramp are
    /// included.
    pub failures: Vec<Failure>,
    /// Histograms per interval, if the spec asked for them.
    pub interval_histograms: Vec<IntervalHistogram>,
    /// JSON that the owner stored with the measurement.
    pub footer: serde_json::Value,
    /// Why the append log is incomplete, if it is.
    pub log_error: Option<LogError>,
    /// Whether the run was recorded to its end. A measurement that was read from a torn log is not
    /// complete.
    pub complete: bool,
}

/// Totals of one stream.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamTotals {
    /// The stream's name and how it was counted.
    pub spec: StreamSpec,
    /// Time that the stream's rates cover, ns: [`Measurement::measured_ns`], or less if its workers
    /// finished earlier.
    pub measured_ns: u64,
    /// Counts and histograms.
    pub tally: StreamTally,
    /// The part of the counts that completed after the stop.
    pub drained: Drained,
    /// The facts of the stream's workers, added up.
    pub workers: WorkerTotals,
}

impl StreamTotals {
    /// Returns the mean number of I/Os in flight during [`Self::measured_ns`].
    pub fn in_flight_mean(&self) -> f64 {
        self.measured_area_ns() as f64 / self.measured_ns.max(1) as f64
    }

    /// Returns the I/Os done and the bytes moved by one operation in [`Self::measured_ns`].
    pub fn in_window(&self, op: Op) -> (u64, u64) {
        let (tally, i) = (self.tally.op(op), operation::index(op));
        (
            tally.done - self.drained.done[i],
            tally.bytes - self.drained.bytes[i],
        )
    }

    fn measured_area_ns(&self) -> u128 {
        self.tally.in_flight_area_ns - self.drained.in_flight_area_ns
    }
}

impl Measurement {
    /// Returns the totals of one operation over all streams.
    pub fn op(&self, op: Op) -> OpTally {
        let mut sum = OpTally::default();
        for stream in &self.streams {
            sum.merge(stream.tally.op(op));
        }
        sum
    }

    /// Returns the totals of the flushes over all streams.
    pub fn flush(&self) -> OpTally {
        let mut sum = OpTally::default();
        for stream in &self.streams {
            sum.merge(&stream.tally.flush);
        }
        sum
    }

    /// Returns the I/Os done and the bytes moved by one operation in [`Self::measured_ns`], over
    /// all streams.
    pub fn in_window(&self, op: Op) -> (u64, u64) {
        let of_stream = self.streams.iter().map(|stream| stream.in_window(op));
        of_stream.fold((0, 0), |(ios, bytes), more| (ios + more.0, bytes + more.1))
    }

    /// Returns the mean number of I/Os in flight over all streams during [`Self::measured_ns`].
    pub fn in_flight_mean(&self) -> f64 {
        let area: u128 = self
            .streams
            .iter()
            .map(StreamTotals::measured_area_ns)
            .sum();
        area as f64 / self.measured_ns.max(1) as f64
    }
}

/// The histogram of one interval, in its sparse encoding: for each bucket that holds samples, two
/// bytes or a few more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntervalHistogram {
    /// Number of the interval.
    pub row: u64,
    /// Index of the stream.
    pub stream: usize,
    /// The operation, or flushes.
    pub op: Command,
    /// Which latency. A stream whose response time is its service time has no response histograms.
    pub kind: Kind,
    sparse: Box<[u8]>,
}

impl IntervalHistogram {
    pub(crate) fn new(row: u64, place: Place, histogram: &Histogram) -> Self {
        let sparse = histogram.to_bytes().into_boxed_slice();
        Self {
            row,
            stream: place.stream,
            op: Command::at(place.op).unwrap_or(Command::Flush),
            kind: place.kind,
            sparse,
        }
    }

    /// Decodes the histogram.
    pub fn histogram(&self) -> Histogram {
        Histogram::from_bytes(&self.sparse).unwrap_or_default()
    }
}
