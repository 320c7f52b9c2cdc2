//! Random runs against a slow, obvious model: lists of I/Os, counted one by one.

use std::sync::Arc;
use std::thread;

use metrics::{
    Collector, CollectorSpec, Histogram, Measurement, OPS, OpTally, Pacing, Recorder, StreamSpec,
    WorkerFacts,
};
use proptest::prelude::*;
use workload::Op;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Done,
    Failed(i32),
    Dropped,
}

#[derive(Debug, Clone, Copy)]
struct Io {
    op: Op,
    bytes: u32,
    intended_ns: u64,
    submit_ns: u64,
    end_ns: u64,
    fate: Fate,
}

#[derive(Debug, Clone)]
struct Run {
    interval_ns: u64,
    ramp_ns: u64,
    pacings: Vec<Pacing>,
    /// Per worker: its stream, and its I/Os.
    workers: Vec<(usize, Vec<Io>)>,
}

/// What a worker tells its recorder, and when.
#[derive(Debug, Clone, Copy)]
enum Event {
    Submit,
    End(Io),
}

fn ios() -> impl Strategy<Value = Vec<Io>> {
    let fate = prop_oneof![
        8 => Just(Fate::Done),
        1 => (1..3i32).prop_map(Fate::Failed),
        1 => Just(Fate::Dropped),
    ];
    let io = (
        0..3usize,
        0..6_000u64,
        0..2_000_000u64,
        prop_oneof![0..50u64, 0..4_000u64],
        fate,
    );
    let io = io.prop_map(|(op, submit_ns, lateness_ns, service_ns, fate)| Io {
        op: OPS[op],
        bytes: 512 * (op as u32 + 1),
        // Zero is the start of the run, so lateness beyond it is cut; the base below leaves room
        // for 1 ms and more.
        intended_ns: (BASE_NS + submit_ns).saturating_sub(lateness_ns),
        submit_ns: BASE_NS + submit_ns,
        end_ns: BASE_NS + submit_ns + service_ns,
        fate,
    });
    prop::collection::vec(io, 0..40)
}

/// All I/Os lie behind this, so that some can be more than 1 ms late.
const BASE_NS: u64 = 1_500_000;

fn runs() -> impl Strategy<Value = Run> {
    let pacing = prop_oneof![
        Just(Pacing::BackToBack),
        Just(Pacing::ThinkTime),
        Just(Pacing::Scheduled)
    ];
    let pacings = prop::collection::vec(pacing, 1..3);
    let workers = prop::collection::vec((0..2usize, ios()), 1..5);
    // The intervals are coarse before BASE_NS in effect: 300 or so rows of zeros come first.
    (5_000..20_000u64, 0..1_520_000u64, pacings, workers).prop_map(
        |(interval_ns, ramp_ns, pacings, workers)| {
            let streams = pacings.len();
            let workers = workers
                .into_iter()
                .map(|(stream, ios)| (stream % streams, ios));
            Run {
                interval_ns,
                ramp_ns,
                workers: workers.collect(),
                pacings,
            }
        },
    )
}

impl Run {
    fn collector(&self, ramp_ns: u64) -> Arc<Collector> {
        let stream = |&pacing| StreamSpec {
            name: "s".into(),
            pacing,
            log_ios: false,
        };
        let streams = self.pacings.iter().map(stream).collect();
        let spec = CollectorSpec::new(self.interval_ns, streams, self.workers.len() as u32);
        let spec = CollectorSpec {
            ramp_ns,
            keep_interval_histograms: true,
            ..spec
        };
        Collector::new(spec).unwrap()
    }

    /// A worker's events in order of time, ends before submits at the same stamp unless they are
    /// the same I/O.
    fn events(&self, worker: usize) -> Vec<(u64, Event)> {
        let mut events = Vec::new();
        for &io in &self.workers[worker].1 {
            if io.fate != Fate::Dropped {
                events.push((io.submit_ns, Event::Submit));
            }
            events.push((io.end_ns, Event::End(io)));
        }
        // Stable: an I/O's submit stays before its end.
        events.sort_by_key(|&(at_ns, _)| at_ns);
        events
    }

    fn end_ns(&self) -> u64 {
        let ends = self
            .workers
            .iter()
            .flat_map(|(_, ios)| ios)
            .map(|io| io.end_ns);
        ends.max().unwrap_or(0).max(1)
    }

    fn row_of(&self, at_ns: u64) -> u64 {
        at_ns.div_ceil(self.interval_ns).max(1) - 1
    }
}

fn tell(recorder: &mut Recorder, at_ns: u64, event: Event) {
    match event {
        Event::Submit => recorder.submitted(1, at_ns),
        Event::End(io) => match io.fate {
            Fate::Done => recorder.completed(io.op, io.bytes, io.intended_ns, io.submit_ns, at_ns),
            Fate::Failed(errno) => {
                recorder.failed(
                    io.op,
                    errno,
                    7,
                    io.bytes,
                    io.intended_ns,
                    io.submit_ns,
                    at_ns,
                );
            }
            Fate::Dropped => recorder.dropped(io.op, io.intended_ns, at_ns),
        },
    }
}

/// All workers on one thread, in order of time, rows closed after every `close_each` events.
fn in_order_of_time(run: &Run, ramp_ns: u64, close_each: usize) -> Measurement {
    let collector = run.collector(ramp_ns);
    let mut recorders: Vec<Recorder> = recorders(run, &collector);
    let of_worker = |worker| {
        run.events(worker)
            .into_iter()
            .map(move |(at_ns, event)| (at_ns, worker, event))
    };
    let mut events: Vec<(u64, usize, Event)> = (0..run.workers.len()).flat_map(of_worker).collect();
    events.sort_by_key(|&(at_ns, _, _)| at_ns);
    for (i, (at_ns, worker, event)) in events.into_iter().enumerate() {
        tell(&mut recorders[worker], at_ns, event);
        if i % close_each == 0 {
            collector.close_rows().unwrap();
        }
    }
    for recorder in recorders {
        recorder.finish(run.end_ns(), &WorkerFacts::default());
    }
    collector.into_measurement()
}

fn recorders(run: &Run, collector: &Arc<Collector>) -> Vec<Recorder> {
    let workers = run.workers.iter().enumerate();
    workers
        .map(|(i, &(stream, _))| Recorder::new(collector, stream, i as u32))
        .collect()
}

/// One thread per worker, at whatever pace they run, while this thread closes rows.
fn on_threads(run: &Run, ramp_ns: u64) -> Measurement {
    let collector = run.collector(ramp_ns);
    thread::scope(|scope| {
        for (worker, mut recorder) in recorders(run, &collector).into_iter().enumerate() {
            scope.spawn(move || {
                for (at_ns, event) in run.events(worker) {
                    tell(&mut recorder, at_ns, event);
                }
                recorder.finish(run.end_ns(), &WorkerFacts::default());
            });
        }
        while collector.snapshot().working > 0 {
            collector.close_rows().unwrap();
        }
    });
    collector.into_measurement()
}

/// The most in flight of a scheduled stream depends on who was where when; everything else may not.
fn without_shared_maxima(mut measurement: Measurement) -> Measurement {
    for (totals, rows) in measurement
        .streams
        .iter_mut()
        .zip(&mut measurement.rows.streams)
    {
        if totals.spec.pacing == Pacing::Scheduled {
            totals.tally.in_flight_max = 0;
            rows.in_flight_max.fill(0);
        }
    }
    measurement
}

/// The model's tally of the I/Os of one stream and operation that ended in the given rows.
fn model_tally(run: &Run, stream: usize, op: Op, wanted: impl Fn(u64) -> bool) -> OpTally {
    let pacing = run.pacings[stream];
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

/// Time that the I/Os of a stream were in flight within a span, added up.
fn model_area(run: &Run, stream: usize, from_ns: u64, to_ns: u64) -> u64 {
    let ios = run
        .workers
        .iter()
        .filter(|worker| worker.0 == stream)
        .flat_map(|worker| &worker.1);
    let issued = ios.filter(|io| io.fate != Fate::Dropped);
    issued
        .map(|io| {
            io.end_ns
                .min(to_ns)
                .saturating_sub(io.submit_ns.max(from_ns))
        })
        .sum()
}

/// Most in flight of a closed loop: the sum over its workers of what each had at the start of the
/// row or later in it.
fn model_max(run: &Run, stream: usize, row: u64) -> u32 {
    let of_worker = |worker| {
        let (mut now, mut most) = (0u32, 0u32);
        for (at_ns, event) in run.events(worker) {
            let in_row = run.row_of(at_ns);
            if in_row > row {
                break;
            }
            if in_row == row {
                most = most.max(now);
            }
            match event {
                Event::Submit => now += 1,
                Event::End(io) => now -= u32::from(io.fate != Fate::Dropped),
            }
            if in_row == row {
                most = most.max(now);
            }
        }
        // Without an event in the row it is what was in flight before.
        most.max(now)
    };
    let workers = (0..run.workers.len()).filter(|&worker| run.workers[worker].0 == stream);
    workers.map(of_worker).sum()
}

fn check_against_the_model(run: &Run, measurement: &Measurement) -> Result<(), TestCaseError> {
    let rows = &measurement.rows;
    let last = run.row_of(run.end_ns());
    prop_assert_eq!(&rows.index, &(0..=last).collect::<Vec<_>>());
    let whole_ramp =
        |row: u64| ((row + 1) * run.interval_ns).min(run.end_ns()) <= measurement.ramp_ns;
    for (s, stream) in measurement.streams.iter().enumerate() {
        for op in OPS {
            let total = model_tally(run, s, op, |row| !whole_ramp(row));
            prop_assert_eq!(stream.tally.op(op), &total);
            for row in 0..=last {
                let model = model_tally(run, s, op, |of| of == row);
                let i = row as usize;
                let cells = rows.streams[s]
                    .op(op)
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
                    .op(op)
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
                let most = rows.streams[s].in_flight_max[row as usize];
                prop_assert_eq!(most, model_max(run, s, row));
            }
        }
    }
    Ok(())
}

/// Rows and interval histograms add up to the totals, from the measurement alone.
fn check_sums(measurement: &Measurement) -> Result<(), TestCaseError> {
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
        for op in OPS {
            let tally = stream.tally.op(op);
            let sum = |column: &Vec<u64>| rows.iter().map(|&row| column[row]).sum::<u64>();
            let sums = columns.op(op).map(|c| {
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rows_and_totals_are_what_the_model_counts(run in runs(), close_each in 1..20usize) {
        let measurement = in_order_of_time(&run, run.ramp_ns, close_each);
        check_against_the_model(&run, &measurement)?;
        check_sums(&measurement)?;
    }

    #[test]
    fn threads_at_any_pace_count_the_same(run in runs()) {
        let expected = without_shared_maxima(in_order_of_time(&run, run.ramp_ns, 3));
        prop_assert_eq!(without_shared_maxima(on_threads(&run, run.ramp_ns)), expected);
    }

    #[test]
    fn what_is_cut_off_is_overshoot(run in runs(), close_each in 1..20usize) {
        let whole = in_order_of_time(&run, 0, close_each);
        let decided = whole.rows.len() as u64 / 2;
        let collector = run.collector(0);
        let mut recorders = recorders(&run, &collector);
        collector.truncate_after(decided).unwrap();
        for (worker, recorder) in recorders.iter_mut().enumerate() {
            for (at_ns, event) in run.events(worker) {
                tell(recorder, at_ns, event);
            }
        }
        for recorder in recorders {
            recorder.finish(run.end_ns(), &WorkerFacts::default());
        }
        let cut = collector.into_measurement();
        check_sums(&cut)?;
        let done = |m: &Measurement| OPS.map(|op| m.op(op).done).iter().sum::<u64>();
        let bytes = |m: &Measurement| OPS.map(|op| m.op(op).bytes).iter().sum::<u64>();
        prop_assert_eq!(done(&cut) + cut.overshoot.ios, done(&whole));
        prop_assert_eq!(bytes(&cut) + cut.overshoot.bytes, bytes(&whole));
        prop_assert_eq!(cut.measured_ns + cut.overshoot.ns, whole.elapsed_ns);
        prop_assert_eq!(cut.rows.len() as u64, (decided + 1).min(whole.rows.len() as u64));
    }
}
