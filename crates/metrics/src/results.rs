//! Closed intervals: rows that were announced and may still be cut off, and what is final.

use crate::collector::{CollectorError, CollectorSpec, Kind};
use crate::facts::{Failure, Overshoot, StartStamp};
use crate::histogram::Histogram;
use crate::measurement::IntervalHistogram;
use crate::operation::OPS;
use crate::pending::{FAILURES_KEPT, PendingRow};
use crate::row::{Row, Rows};
use crate::tally::{OpTally, Pacing, StreamTally};

/// The owner's side of a collector.
#[derive(Debug)]
pub(crate) struct Results {
    paced: Vec<bool>,
    interval_ns: u64,
    ramp_ns: u64,
    keep_histograms: bool,
    /// Announced by the last call of `close_rows`; the owner may still decide on one of them.
    announced: Vec<(Row, PendingRow)>,
    /// The deciding row.
    last_wanted: Option<u64>,
    pub(crate) start: Option<StartStamp>,
    pub(crate) rows: Rows,
    pub(crate) last_row: Option<Row>,
    totals: Vec<StreamTally>,
    overshoot: Overshoot,
    pub(crate) failures: Vec<Failure>,
    pub(crate) interval_histograms: Vec<IntervalHistogram>,
}

impl Results {
    pub(crate) fn new(spec: &CollectorSpec) -> Self {
        Self {
            paced: spec
                .streams
                .iter()
                .map(|stream| stream.pacing != Pacing::BackToBack)
                .collect(),
            interval_ns: spec.interval_ns,
            ramp_ns: spec.ramp_ns,
            keep_histograms: spec.keep_interval_histograms,
            announced: Vec::new(),
            last_wanted: None,
            start: None,
            rows: Rows::default(),
            last_row: None,
            totals: spec
                .streams
                .iter()
                .map(|stream| StreamTally::new(stream.pacing))
                .collect(),
            overshoot: Overshoot::default(),
            failures: Vec::new(),
            interval_histograms: Vec::new(),
        }
    }

    /// Takes newly closed intervals and gives their rows, without those beyond the deciding one.
    pub(crate) fn announce(&mut self, closed: Vec<(Row, PendingRow)>) -> Vec<Row> {
        self.announced = closed;
        let wanted = self
            .announced
            .iter()
            .map(|(row, _)| row)
            .filter(|row| self.wants(row.index));
        let rows: Vec<Row> = wanted.cloned().collect();
        self.last_row = rows.last().cloned().or(self.last_row.take());
        rows
    }

    fn wants(&self, row: u64) -> bool {
        self.last_wanted.is_none_or(|last| row <= last)
    }

    pub(crate) fn truncate_after(&mut self, row: u64) -> Result<(), CollectorError> {
        match self.rows.index.last() {
            Some(&settled) if row < settled => Err(CollectorError::RowSettled { row, settled }),
            _ => {
                self.last_wanted = Some(self.last_wanted.map_or(row, |earlier| earlier.min(row)));
                Ok(())
            }
        }
    }

    /// Makes the announced rows final.
    pub(crate) fn settle(&mut self) {
        for (row, pending) in std::mem::take(&mut self.announced) {
            if self.wants(row.index) {
                self.settle_row(&row, pending);
            } else {
                let ops = pending.streams.iter().flat_map(|stream| &stream.ops);
                for tally in ops {
                    self.overshoot.ios += tally.done;
                    self.overshoot.bytes += tally.bytes;
                }
            }
        }
    }

    fn settle_row(&mut self, row: &Row, mut pending: PendingRow) {
        let room = FAILURES_KEPT - self.failures.len();
        pending.failures.truncate(room);
        self.failures.append(&mut pending.failures);
        if !row.ramp {
            for (total, stream) in self.totals.iter_mut().zip(&pending.streams) {
                total.merge(stream);
            }
        }
        if self.keep_histograms {
            let kept = histograms(&pending.streams);
            let kept = kept.map(|(stream, op, kind, histogram)| IntervalHistogram {
                row: row.index,
                stream,
                op: OPS[op],
                kind,
                histogram: histogram.clone(),
            });
            self.interval_histograms.extend(kept);
        }
        self.rows.push(row, self.paced.iter().copied());
    }

    pub(crate) fn take_totals(&mut self) -> Vec<StreamTally> {
        std::mem::take(&mut self.totals)
    }

    /// End of the deciding row, if one decided before `end_ns`.
    fn decided_end_ns(&self) -> Option<u64> {
        let last = self.last_wanted?;
        Some(last.saturating_add(1).saturating_mul(self.interval_ns))
    }

    /// Span of the totals of something that ended at `end_ns`.
    pub(crate) fn measured_ns(&self, end_ns: u64) -> u64 {
        let end_ns = self
            .decided_end_ns()
            .map_or(end_ns, |decided| decided.min(end_ns));
        let ramp_end_ns = if end_ns <= self.ramp_ns {
            end_ns
        } else {
            self.ramp_ns / self.interval_ns * self.interval_ns
        };
        end_ns - ramp_end_ns
    }

    pub(crate) fn overshoot(&self, end_ns: u64) -> Overshoot {
        let ns = self
            .decided_end_ns()
            .map_or(0, |decided| end_ns.saturating_sub(decided));
        Overshoot {
            ns,
            ..self.overshoot
        }
    }
}

/// All histograms with samples: stream, operation index, kind, histogram. A response that is the service is not repeated.
pub(crate) fn histograms(
    streams: &[StreamTally],
) -> impl Iterator<Item = (usize, usize, Kind, &Histogram)> {
    let per_stream = streams.iter().enumerate();
    let per_op = per_stream.flat_map(|(s, stream)| {
        stream
            .ops
            .iter()
            .enumerate()
            .map(move |(o, tally)| (s, o, tally))
    });
    let all = per_op.flat_map(|(s, o, tally)| {
        by_kind(tally).map(move |(kind, histogram)| (s, o, kind, histogram))
    });
    all.filter(|(.., histogram)| !histogram.is_empty())
}

fn by_kind(tally: &OpTally) -> impl Iterator<Item = (Kind, &Histogram)> {
    let response = tally
        .response
        .as_ref()
        .map(|histogram| (Kind::Response, histogram));
    let others = [
        (Kind::Lateness, &tally.lateness),
        (Kind::Failed, &tally.failed_latency),
    ];
    std::iter::once((Kind::Service, &tally.service))
        .chain(response)
        .chain(others)
}
