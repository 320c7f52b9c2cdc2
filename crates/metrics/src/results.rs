//! Closed intervals: announced rows, which may still be cut off, and final rows.

use std::mem;

use crate::edges::Edges;
use crate::error::CollectorError;
use crate::facts::{Drained, Ending, Failure, Overshoot, StartStamp, WorkerTotals};
use crate::measurement::{IntervalHistogram, Measurement, StreamTotals};
use crate::pending::{FAILURES_KEPT, PendingRow};
use crate::row::{Row, Rows};
use crate::tally::{Pacing, StreamSpec, StreamTally, histograms};

/// The part of a collector that only the owner of the run uses.
#[derive(Debug)]
pub(crate) struct Results {
    paced: Vec<bool>,
    interval_ns: u64,
    edges: Edges,
    stop_ns: Option<u64>,
    ramp_ns: u64,
    keep_histograms: bool,
    /// Rows that the last `close_rows` returned; the owner may still end the run with one of them.
    announced: Vec<(Row, PendingRow)>,
    decided_row: Option<u64>,
    pub(crate) start: Option<StartStamp>,
    rows: Rows,
    last_row: Option<Row>,
    totals: Vec<StreamTally>,
    /// The part of the totals that completed after the stop, per stream.
    drained: Vec<Drained>,
    overshoot: Overshoot,
    failures: Vec<Failure>,
    interval_histograms: Vec<IntervalHistogram>,
}

impl Results {
    pub(crate) fn new(
        interval_ns: u64,
        stop_ns: Option<u64>,
        ramp_ns: u64,
        streams: &[StreamSpec],
        keep_histograms: bool,
    ) -> Self {
        Self {
            paced: streams
                .iter()
                .map(|stream| stream.pacing != Pacing::BackToBack)
                .collect(),
            interval_ns,
            edges: Edges::new(interval_ns, stop_ns),
            stop_ns,
            ramp_ns,
            keep_histograms,
            announced: Vec::new(),
            decided_row: None,
            start: None,
            rows: Rows::new(streams.len()),
            last_row: None,
            totals: streams
                .iter()
                .map(|stream| StreamTally::new(stream.pacing))
                .collect(),
            drained: vec![Drained::default(); streams.len()],
            overshoot: Overshoot::default(),
            failures: Vec::new(),
            interval_histograms: Vec::new(),
        }
    }

    /// Takes newly closed intervals and returns their rows, except those after the deciding row.
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
        self.decided_row.is_none_or(|last| row <= last)
    }

    pub(crate) fn last_row(&self) -> Option<&Row> {
        self.last_row.as_ref()
    }

    pub(crate) fn decided_row(&self) -> Option<u64> {
        self.decided_row
    }

    pub(crate) fn truncate_after(&mut self, row: u64) -> Result<(), CollectorError> {
        match self.rows.index.last() {
            Some(&settled) if row < settled => Err(CollectorError::RowSettled { row, settled }),
            _ => {
                self.decided_row = Some(self.decided_row.map_or(row, |earlier| earlier.min(row)));
                Ok(())
            }
        }
    }

    /// Makes the announced rows final. Passes those up to the deciding row to `log`; the later ones
    /// are overshoot.
    pub(crate) fn settle(&mut self, mut log: impl FnMut(&Row, &PendingRow)) {
        for (row, pending) in mem::take(&mut self.announced) {
            if self.wants(row.index) {
                log(&row, &pending);
                self.settle_row(&row, &pending.streams, pending.failures);
            } else {
                for tally in pending.streams.iter().flat_map(|stream| &stream.ops) {
                    self.overshoot.ios += tally.done;
                    self.overshoot.bytes += tally.bytes;
                }
            }
        }
    }

    /// Adds an interval to the rows and, outside the ramp, to the totals.
    pub(crate) fn settle_row(
        &mut self,
        row: &Row,
        streams: &[StreamTally],
        failures: Vec<Failure>,
    ) {
        let room = FAILURES_KEPT - self.failures.len();
        self.failures.extend(failures.into_iter().take(room));
        if !row.ramp {
            for (total, stream) in self.totals.iter_mut().zip(streams) {
                total.merge(stream);
            }
            if self.edges.is_drain(row.start_ns) {
                for (drained, stream) in self.drained.iter_mut().zip(streams) {
                    drained.add(stream);
                }
            }
        }
        if self.keep_histograms {
            let kept = histograms(streams)
                .map(|(place, histogram)| IntervalHistogram::new(row.index, place, histogram));
            self.interval_histograms.extend(kept);
        }
        self.rows.push(row, &self.paced);
    }

    pub(crate) fn totals(&self) -> &[StreamTally] {
        &self.totals
    }

    /// Returns the overshoot of a run that ended at `end_ns`.
    pub(crate) fn overshoot(&self, end_ns: u64) -> Overshoot {
        let ns = self
            .decided_end_ns(self.decided_row)
            .map_or(0, |decided| end_ns.saturating_sub(decided));
        Overshoot {
            ns,
            ..self.overshoot
        }
    }

    fn decided_end_ns(&self, decided_row: Option<u64>) -> Option<u64> {
        decided_row.map(|row| self.edges.end_ns(row))
    }

    /// Returns the end of the time that the rates cover. I/O that completes after the stop is
    /// excluded, unless none completed before: then it is all that there is.
    fn window_end_ns(&mut self, decided_row: Option<u64>) -> u64 {
        let done = |tally: &StreamTally| tally.ops.iter().map(|op| op.done).sum::<u64>();
        let done: u64 = self.totals.iter().map(done).sum();
        let drained: u64 = self.drained.iter().map(Drained::ios).sum();
        let decided_end_ns = self.decided_end_ns(decided_row).unwrap_or(u64::MAX);
        if done == drained {
            self.drained.fill(Drained::default());
            return decided_end_ns;
        }
        decided_end_ns.min(self.stop_ns.unwrap_or(u64::MAX))
    }

    /// Builds the result. `start`, the rows and their sums come from `self`, all other facts from
    /// `ending`.
    pub(crate) fn conclude(&mut self, streams: &[StreamSpec], ending: Ending) -> Measurement {
        let elapsed_ns = ending.ends_ns.iter().copied().max().unwrap_or(0);
        let whole_ramp_ns = self.ramp_ns / self.interval_ns * self.interval_ns;
        let ramp_end_ns = if elapsed_ns <= self.ramp_ns {
            elapsed_ns
        } else {
            whole_ramp_ns
        };
        let window_end_ns = self.window_end_ns(ending.decided_row);
        let measured_ns = |end_ns: u64| end_ns.min(window_end_ns).saturating_sub(ramp_end_ns);
        let drained = mem::take(&mut self.drained);
        let mut workers = WorkerTotals::default();
        ending.workers.iter().for_each(|more| workers.merge(more));
        let totals = mem::take(&mut self.totals)
            .into_iter()
            .zip(streams)
            .enumerate();
        let totals = totals.map(|(i, (tally, spec))| StreamTotals {
            spec: spec.clone(),
            measured_ns: measured_ns(ending.ends_ns[i]),
            drained: drained[i],
            tally,
            workers: ending.workers[i],
        });
        Measurement {
            interval_ns: self.interval_ns,
            ramp_ns: self.ramp_ns,
            start: self.start,
            elapsed_ns,
            measured_ns: measured_ns(elapsed_ns),
            drained_ns: if self.stop_ns == Some(window_end_ns) {
                elapsed_ns.saturating_sub(window_end_ns)
            } else {
                0
            },
            streams: totals.collect(),
            rows: mem::take(&mut self.rows),
            decided_row: ending.decided_row,
            overshoot: ending.overshoot,
            workers,
            batches: ending.batches,
            failures: mem::take(&mut self.failures),
            interval_histograms: mem::take(&mut self.interval_histograms),
            footer: ending.owner,
            log_error: None,
            complete: ending.complete,
        }
    }
}
