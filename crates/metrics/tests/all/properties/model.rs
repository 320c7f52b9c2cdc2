//! The slow, obvious model, and the checks of a measurement against it.

use metrics::{Command, Histogram, Measurement, OpTally, Pacing};
use proptest::prelude::*;

use crate::properties::runs::{COMMANDS, Event, Fate, Run};

/// Returns the model's tally of the I/Os of one stream and operation, or of its flushes, that ended
/// in the wanted rows.
pub fn model_tally(run: &Run, stream: usize, op: Command, wanted: impl Fn(u64) -> bool) -> OpTally {
    let pacing = match op {
        Command::Flush => Pacing::BackToBack,
        _ => run.pacings[stream],
    };
    let mut tally = OpTally::default();
    let mut response = Histogram::new();
    let of_stream = run
        .workers
        .iter()
        .filter(|worker| worker.0 == stream)
        .flat_map(|worker| &worker.1);
    for io in of_stream.filter(|io| io.op == op && wanted(run.row_of(io.end_ns))) {
        match io.fate {
            Fate::Done => {
                tally.done += 1;
                tally.bytes += u64::from(io.bytes);
                tally.service.record(io.end_ns - io.submit_ns);
                response.record(io.end_ns - io.intended_ns);
                if pacing != Pacing::BackToBack {
                    tally.lateness.record(io.submit_ns - io.intended_ns);
                }
                let late = pacing == Pacing::Scheduled && io.submit_ns - io.intended_ns > 1_000_000;
                tally.late += u64::from(late);
            }
            Fate::Failed(errno) => {
                tally.failed += 1;
                *tally.errors.entry(errno).or_default() += 1;
                tally.failed_latency.record(io.end_ns - io.submit_ns);
            }
            Fate::Dropped => {
                tally.dropped += 1;
                response.record(io.end_ns - io.intended_ns);
            }
        }
    }
    tally.response = (pacing != Pacing::BackToBack).then_some(response);
    tally
}

/// Returns the sum of the times that the I/Os of a stream were in flight within a span.
pub fn model_area(run: &Run, stream: usize, from_ns: u64, to_ns: u64) -> u64 {
    let ios = run
        .workers
        .iter()
        .filter(|worker| worker.0 == stream)
        .flat_map(|worker| &worker.1);
    let issued = ios.filter(|io| io.is_ever_in_flight());
    issued
        .map(|io| {
            io.end_ns
                .min(to_ns)
                .saturating_sub(io.submit_ns.max(from_ns))
        })
        .sum()
}

/// Returns the most I/Os of a closed loop in flight in a row: the sum over its workers of the most
/// that each had in flight, at the start of the row or later in it.
pub fn model_max(run: &Run, stream: usize, row: u64) -> u32 {
    let of_worker = |worker| {
        let (mut now, mut highest) = (0u32, 0u32);
        for (at_ns, event) in run.events(worker) {
            let in_row = run.row_of(at_ns);
            if in_row > row {
                break;
            }
            if in_row == row {
                highest = highest.max(now);
            }
            match event {
                Event::Submit => now += 1,
                Event::End(io) => now -= u32::from(io.is_ever_in_flight()),
            }
            if in_row == row {
                highest = highest.max(now);
            }
        }
        // Without an event in the row, the worker has in flight what it had before.
        highest.max(now)
    };
    let workers = (0..run.workers.len()).filter(|&worker| run.workers[worker].0 == stream);
    workers.map(of_worker).sum()
}

pub fn check_against_the_model(run: &Run, measurement: &Measurement) -> Result<(), TestCaseError> {
    let rows = &measurement.rows;
    let last = run.row_of(run.end_ns());
    prop_assert_eq!(&rows.index, &(0..=last).collect::<Vec<_>>());
    let whole_ramp =
        |row: u64| ((row + 1) * run.interval_ns).min(run.end_ns()) <= measurement.ramp_ns;
    for (s, stream) in measurement.streams.iter().enumerate() {
        for op in COMMANDS {
            let total = model_tally(run, s, op, |row| !whole_ramp(row));
            prop_assert_eq!(stream.tally.at(op.place()), &total);
            for row in 0..=last {
                let model = model_tally(run, s, op, |of| of == row);
                let i = row as usize;
                let cells = rows.streams[s]
                    .at(op.place())
                    .map(|c| (c.done[i], c.failed[i], c.dropped[i], c.late[i], c.bytes[i]));
                let expected = (
                    model.done,
                    model.failed,
                    model.dropped,
                    model.late,
                    model.bytes,
                );
                prop_assert_eq!(cells.unwrap_or_default(), expected);
                let max_ns = rows.streams[s]
                    .at(op.place())
                    .map_or(0, |columns| columns.response().max_ns[i]);
                prop_assert_eq!(max_ns, model.response().max_ns().unwrap_or(0));
            }
        }
        for row in 0..=last {
            let from_ns = row * run.interval_ns;
            let to_ns = from_ns + rows.duration_ns[row as usize];
            let area = rows.streams[s].in_flight_area_ns[row as usize];
            prop_assert_eq!(area, model_area(run, s, from_ns, to_ns));
            if run.pacings[s] != Pacing::Scheduled {
                let highest = rows.streams[s].in_flight_max[row as usize];
                prop_assert_eq!(highest, model_max(run, s, row));
            }
        }
    }
    Ok(())
}

/// Checks that the rows and interval histograms of a measurement add up to its totals.
pub fn check_sums(measurement: &Measurement) -> Result<(), TestCaseError> {
    let counted = |row: usize| measurement.rows.flags[row] & metrics::FLAG_RAMP == 0;
    let rows: Vec<usize> = (0..measurement.rows.len())
        .filter(|&row| counted(row))
        .collect();
    let span: u64 = rows
        .iter()
        .map(|&row| measurement.rows.duration_ns[row])
        .sum();
    prop_assert_eq!(span, measurement.measured_ns);
    for (s, stream) in measurement.streams.iter().enumerate() {
        let columns = &measurement.rows.streams[s];
        let area: u64 = rows.iter().map(|&row| columns.in_flight_area_ns[row]).sum();
        prop_assert_eq!(u128::from(area), stream.tally.in_flight_area_ns);
        for op in COMMANDS {
            let tally = stream.tally.at(op.place());
            let sum = |column: &Vec<u64>| rows.iter().map(|&row| column[row]).sum::<u64>();
            let sums = columns.at(op.place()).map(|c| {
                (
                    sum(&c.done),
                    sum(&c.failed),
                    sum(&c.dropped),
                    sum(&c.late),
                    sum(&c.bytes),
                )
            });
            prop_assert_eq!(
                sums.unwrap_or_default(),
                (
                    tally.done,
                    tally.failed,
                    tally.dropped,
                    tally.late,
                    tally.bytes
                )
            );
            for kind in [
                metrics::Kind::Service,
                metrics::Kind::Response,
                metrics::Kind::Lateness,
                metrics::Kind::Failed,
            ] {
                let mut merged = Histogram::new();
                let kept = measurement.interval_histograms.iter();
                for interval in kept.filter(|i| {
                    (i.stream, i.op, i.kind) == (s, op, kind) && counted(i.row as usize)
                }) {
                    merged.merge(&interval.histogram());
                }
                prop_assert_eq!(merged, tally.histogram(kind).cloned().unwrap_or_default());
            }
        }
    }
    Ok(())
}
