//! Interval rows: one at a time as they close, and all of them as columns.

use std::collections::BTreeMap;

use workload::Op;

use crate::histogram::{Histogram, Quantile};
use crate::operation;
use crate::tally::{OpTally, StreamTally};

/// One closed interval of all streams. An I/O belongs to the interval in which it completed, failed
/// or was dropped. An interval includes its end but not its start.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Number of the interval, from 0.
    pub index: u64,
    /// Start, ns since the start of the run.
    pub start_ns: u64,
    /// Length, ns: one interval, or less in the row that the stop cuts short and in the last row.
    pub duration_ns: u64,
    /// Whether the row is shorter than an interval or belongs to the drain after the stop.
    pub partial: bool,
    /// Whether the interval lies wholly within the ramp and so is not in the totals.
    pub ramp: bool,
    /// The streams, in the order of the spec.
    pub streams: Vec<StreamRow>,
}

/// One interval of one stream.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamRow {
    /// Integral of the I/Os in flight over the interval, in I/O nanoseconds.
    pub in_flight_area_ns: u64,
    /// Most I/Os in flight; see [`StreamTally::in_flight_max`].
    pub in_flight_max: u32,
    /// The operations, in the order of [`crate::OPS`].
    pub ops: [OpRow; 3],
    /// Flushes.
    pub flush: OpRow,
}

/// One interval of one operation of one stream. Latencies are 0 if no I/O was done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpRow {
    /// I/Os done.
    pub done: u64,
    /// I/Os failed.
    pub failed: u64,
    /// I/Os dropped.
    pub dropped: u64,
    /// I/Os done late.
    pub late: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Failed I/Os by error number.
    pub errors: BTreeMap<i32, u64>,
    /// Service time: from submission to completion.
    pub service: LatencyRow,
    /// Response time: from intended start to completion. Equals `service` in a closed loop without
    /// think time.
    pub response: LatencyRow,
    /// Longest time from intended start to submission, ns.
    pub lateness_max_ns: u64,
}

/// Latency figures of an interval, ns; 0 without samples. All of them are given however few samples
/// there are: over many rows even a rough p99.9 shows a pattern.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LatencyRow {
    /// Median.
    pub p50_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The 99.9th percentile.
    pub p99_9_ns: u64,
    /// Exact maximum.
    pub max_ns: u64,
}

impl LatencyRow {
    fn of(histogram: &Histogram) -> Self {
        let quantile = |q| histogram.quantile_ns(q).unwrap_or(0);
        Self {
            p50_ns: quantile(Quantile::P50),
            p99_ns: quantile(Quantile::P99),
            p99_9_ns: quantile(Quantile::P99_9),
            max_ns: histogram.max_ns().unwrap_or(0),
        }
    }
}

impl OpRow {
    pub(crate) fn of(tally: &OpTally) -> Self {
        let service = LatencyRow::of(&tally.service);
        Self {
            done: tally.done,
            failed: tally.failed,
            dropped: tally.dropped,
            late: tally.late,
            bytes: tally.bytes,
            errors: tally.errors.clone(),
            service,
            response: tally.response.as_ref().map_or(service, LatencyRow::of),
            lateness_max_ns: tally.lateness.max_ns().unwrap_or(0),
        }
    }

    /// Copies the counts, which the histograms do not hold, into a tally.
    pub(crate) fn give_counts(&self, tally: &mut OpTally) {
        tally.done = self.done;
        tally.failed = self.failed;
        tally.dropped = self.dropped;
        tally.late = self.late;
        tally.bytes = self.bytes;
        tally.errors.clone_from(&self.errors);
    }

    /// Returns the I/Os requested: done, failed and dropped.
    pub fn requested(&self) -> u64 {
        self.done + self.failed + self.dropped
    }
}

impl StreamRow {
    pub(crate) fn of(tally: &StreamTally) -> Self {
        Self {
            in_flight_area_ns: u64::try_from(tally.in_flight_area_ns).unwrap_or(u64::MAX),
            in_flight_max: tally.in_flight_max,
            ops: std::array::from_fn(|i| OpRow::of(&tally.ops[i])),
            flush: OpRow::of(&tally.flush),
        }
    }

    /// Returns the rows of the operations, then that of the flushes.
    pub(crate) fn all(&self) -> impl Iterator<Item = &OpRow> {
        self.ops.iter().chain([&self.flush])
    }

    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut OpRow> {
        self.ops.iter_mut().chain([&mut self.flush])
    }

    /// Returns the row of one operation.
    pub fn op(&self, op: Op) -> &OpRow {
        &self.ops[operation::index(op)]
    }
}

impl Row {
    /// Returns the end, ns since the start of the run.
    pub fn end_ns(&self) -> u64 {
        self.start_ns + self.duration_ns
    }

    /// Returns [`FLAG_PARTIAL`] and [`FLAG_RAMP`] as they apply.
    pub(crate) fn flags(&self) -> u8 {
        u8::from(self.partial) * FLAG_PARTIAL + u8::from(self.ramp) * FLAG_RAMP
    }

    /// Returns the mean number of I/Os of a stream in flight.
    pub fn in_flight_mean(&self, stream: usize) -> f64 {
        self.streams[stream].in_flight_area_ns as f64 / self.duration_ns.max(1) as f64
    }
}

/// All rows as columns of equal length. A row takes 25 bytes, 12 more per stream, and 112 more per
/// operation that its stream ever used (80 if response time is service time). A mixed closed loop
/// with one row a second takes 0.7 MB an hour.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    /// Number of the interval.
    pub index: Vec<u64>,
    /// Start, ns since the start of the run.
    pub start_ns: Vec<u64>,
    /// Length, ns.
    pub duration_ns: Vec<u64>,
    /// Sum of [`FLAG_PARTIAL`] and [`FLAG_RAMP`], as they apply.
    pub flags: Vec<u8>,
    /// Columns per stream.
    pub streams: Vec<StreamRows>,
}

/// Flag of a row that is shorter than an interval or belongs to the drain after the stop.
pub const FLAG_PARTIAL: u8 = 1;
/// Flag of a row wholly within the ramp.
pub const FLAG_RAMP: u8 = 2;

/// The rows of one stream.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StreamRows {
    /// Integral of the I/Os in flight over the interval, in I/O nanoseconds.
    pub in_flight_area_ns: Vec<u64>,
    /// Most I/Os in flight; see [`StreamTally::in_flight_max`].
    pub in_flight_max: Vec<u32>,
    /// The operations, in the order of [`crate::OPS`]; `None` for an operation that the stream
    /// never used: read it as zeros.
    pub ops: [Option<OpRows>; 3],
    /// Flushes; `None` if the stream never flushed.
    pub flush: Option<OpRows>,
}

/// The rows of one operation of one stream.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpRows {
    /// I/Os done.
    pub done: Vec<u64>,
    /// I/Os failed.
    pub failed: Vec<u64>,
    /// I/Os dropped.
    pub dropped: Vec<u64>,
    /// I/Os done late.
    pub late: Vec<u64>,
    /// Bytes moved.
    pub bytes: Vec<u64>,
    /// Service time: from submission to completion.
    pub service: LatencyRows,
    /// Response time: from intended start to completion. `None` if it equals `service`.
    pub response: Option<LatencyRows>,
    /// Longest time from intended start to submission, ns.
    pub lateness_max_ns: Vec<u64>,
}

/// Latency columns, ns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LatencyRows {
    /// Median.
    pub p50_ns: Vec<u64>,
    /// The 99th percentile.
    pub p99_ns: Vec<u64>,
    /// The 99.9th percentile.
    pub p99_9_ns: Vec<u64>,
    /// Exact maximum.
    pub max_ns: Vec<u64>,
}

impl LatencyRows {
    fn zeros(rows: usize) -> Self {
        let column = || vec![0; rows];
        Self {
            p50_ns: column(),
            p99_ns: column(),
            p99_9_ns: column(),
            max_ns: column(),
        }
    }

    fn push(&mut self, row: LatencyRow) {
        self.p50_ns.push(row.p50_ns);
        self.p99_ns.push(row.p99_ns);
        self.p99_9_ns.push(row.p99_9_ns);
        self.max_ns.push(row.max_ns);
    }
}

impl OpRows {
    fn zeros(rows: usize, paced: bool) -> Self {
        let column = || vec![0; rows];
        Self {
            done: column(),
            failed: column(),
            dropped: column(),
            late: column(),
            bytes: column(),
            service: LatencyRows::zeros(rows),
            response: paced.then(|| LatencyRows::zeros(rows)),
            lateness_max_ns: column(),
        }
    }

    fn push(&mut self, row: &OpRow) {
        self.done.push(row.done);
        self.failed.push(row.failed);
        self.dropped.push(row.dropped);
        self.late.push(row.late);
        self.bytes.push(row.bytes);
        self.service.push(row.service);
        if let Some(response) = &mut self.response {
            response.push(row.response);
        }
        self.lateness_max_ns.push(row.lateness_max_ns);
    }

    /// Returns the response time: from intended start to completion.
    pub fn response(&self) -> &LatencyRows {
        self.response.as_ref().unwrap_or(&self.service)
    }
}

impl StreamRows {
    /// Returns the rows of one operation; `None` if the stream never used it.
    pub fn op(&self, op: Op) -> Option<&OpRows> {
        self.ops[operation::index(op)].as_ref()
    }

    /// Returns the rows at a position in [`crate::OPS`], or those of flushes at [`crate::FLUSH`].
    pub fn at(&self, place: usize) -> Option<&OpRows> {
        self.ops.get(place).unwrap_or(&self.flush).as_ref()
    }

    fn push(&mut self, row: &StreamRow, before: usize, paced: bool) {
        self.in_flight_area_ns.push(row.in_flight_area_ns);
        self.in_flight_max.push(row.in_flight_max);
        let columns = self.ops.iter_mut().chain([&mut self.flush]);
        for (columns, op_row) in columns.zip(row.all()) {
            if columns.is_none() && op_row.requested() > 0 {
                *columns = Some(OpRows::zeros(before, paced));
            }
            if let Some(columns) = columns {
                columns.push(op_row);
            }
        }
    }
}

impl Rows {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    pub(crate) fn new(streams: usize) -> Self {
        Self {
            streams: vec![StreamRows::default(); streams],
            ..Self::default()
        }
    }

    /// Appends a row. `paced` tells for each stream whether response time differs from service
    /// time.
    pub(crate) fn push(&mut self, row: &Row, paced: &[bool]) {
        let before = self.len();
        self.index.push(row.index);
        self.start_ns.push(row.start_ns);
        self.duration_ns.push(row.duration_ns);
        self.flags.push(row.flags());
        for ((columns, stream_row), paced) in self.streams.iter_mut().zip(&row.streams).zip(paced) {
            columns.push(stream_row, before, *paced);
        }
    }
}
