//! Random runs, recorded on one thread or on many.

use std::sync::Arc;
use std::thread;

use metrics::{
    Collector, CollectorSpec, Command, Measurement, OPS, Pacing, Recorder, StreamSpec, WorkerFacts,
};
use proptest::prelude::*;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fate {
    Done,
    Failed(i32),
    Dropped,
}

/// An I/O, or a flush.
#[derive(Debug, Clone, Copy)]
pub struct Io {
    pub op: Command,
    pub bytes: u32,
    pub intended_ns: u64,
    pub submit_ns: u64,
    pub end_ns: u64,
    pub fate: Fate,
}

impl Io {
    pub fn is_ever_in_flight(&self) -> bool {
        self.op != Command::Flush && self.fate != Fate::Dropped
    }
}

pub const COMMANDS: [Command; 4] = [Command::Read, Command::Write, Command::Trim, Command::Flush];

#[derive(Debug, Clone)]
pub struct Run {
    pub interval_ns: u64,
    pub ramp_ns: u64,
    pub pacings: Vec<Pacing>,
    /// Stream and I/Os of each worker.
    pub workers: Vec<(usize, Vec<Io>)>,
}

/// What a worker tells its recorder.
#[derive(Debug, Clone, Copy)]
pub enum Event {
    Submit,
    End(Io),
}

pub fn ios() -> impl Strategy<Value = Vec<Io>> {
    let fate = prop_oneof![
        8 => Just(Fate::Done),
        1 => (1..3i32).prop_map(Fate::Failed),
        1 => Just(Fate::Dropped),
    ];
    let io = (
        0..COMMANDS.len(),
        0..6_000u64,
        0..2_000_000u64,
        prop_oneof![0..50u64, 0..4_000u64],
        fate,
    );
    let io = io.prop_map(|(op, submit_ns, lateness_ns, service_ns, fate)| {
        let (op, flush) = (COMMANDS[op], COMMANDS[op] == Command::Flush);
        Io {
            op,
            bytes: if flush { 0 } else { 512 },
            // Lateness is capped, because no intended start can lie before the start of the run.
            // `BASE_NS` leaves room for more than 1 ms.
            intended_ns: BASE_NS + submit_ns - if flush { 0 } else { lateness_ns.min(BASE_NS) },
            submit_ns: BASE_NS + submit_ns,
            end_ns: BASE_NS + submit_ns + service_ns,
            fate: match fate {
                Fate::Dropped if flush => Fate::Done,
                other => other,
            },
        }
    });
    prop::collection::vec(io, 0..40)
}

/// All I/Os are submitted after this, so that some can be more than 1 ms late.
const BASE_NS: u64 = 1_500_000;

pub fn runs() -> impl Strategy<Value = Run> {
    let pacing = prop_oneof![
        Just(Pacing::BackToBack),
        Just(Pacing::ThinkTime),
        Just(Pacing::Scheduled)
    ];
    let pacings = prop::collection::vec(pacing, 1..3);
    let workers = prop::collection::vec((0..2usize, ios()), 1..5);
    // Every run begins with 75 to 300 rows without completions, because no I/O is submitted before
    // `BASE_NS`.
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
    pub fn collector(&self, ramp_ns: u64) -> Arc<Collector> {
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

    /// Returns a worker's events in order of time; at the same stamp, in the order of its I/Os.
    pub fn events(&self, worker: usize) -> Vec<(u64, Event)> {
        let mut events = Vec::new();
        for &io in &self.workers[worker].1 {
            if io.is_ever_in_flight() {
                events.push((io.submit_ns, Event::Submit));
            }
            events.push((io.end_ns, Event::End(io)));
        }
        // The sort is stable, so the submit of an I/O stays before its end.
        events.sort_by_key(|&(at_ns, _)| at_ns);
        events
    }

    pub fn end_ns(&self) -> u64 {
        let ends = self
            .workers
            .iter()
            .flat_map(|(_, ios)| ios)
            .map(|io| io.end_ns);
        ends.max().unwrap_or(0).max(1)
    }

    pub fn row_of(&self, at_ns: u64) -> u64 {
        at_ns.div_ceil(self.interval_ns).max(1) - 1
    }
}

pub fn tell(recorder: &mut Recorder, at_ns: u64, event: Event) {
    let io = match event {
        Event::Submit => return recorder.submitted(1, at_ns),
        Event::End(io) => io,
    };
    let Some(&op) = OPS.get(io.op.place()) else {
        return match io.fate {
            Fate::Failed(errno) => recorder.flush_failed(errno, io.submit_ns, at_ns),
            _ => recorder.flushed(io.submit_ns, at_ns),
        };
    };
    let (bytes, intended_ns, submit_ns) = (io.bytes, io.intended_ns, io.submit_ns);
    match io.fate {
        Fate::Done => recorder.completed(op, bytes, intended_ns, submit_ns, at_ns),
        Fate::Failed(errno) => {
            recorder.failed(op, errno, 7, bytes, intended_ns, submit_ns, at_ns);
        }
        Fate::Dropped => recorder.dropped(op, intended_ns, at_ns),
    }
}

/// Records all workers on one thread, in order of time. Closes rows after every `close_each`
/// events.
pub fn in_order_of_time(run: &Run, ramp_ns: u64, close_each: usize) -> Measurement {
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

pub fn recorders(run: &Run, collector: &Arc<Collector>) -> Vec<Recorder> {
    let workers = run.workers.iter().enumerate();
    workers
        .map(|(i, &(stream, _))| Recorder::new(collector, stream, i as u32))
        .collect()
}

/// Records each worker on its own thread, at its own pace, while this thread closes rows.
pub fn on_threads(run: &Run, ramp_ns: u64) -> Measurement {
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

/// Clears the in-flight maxima of scheduled streams, which depend on how threads interleave. All
/// other results must not.
pub fn without_shared_maxima(mut measurement: Measurement) -> Measurement {
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
