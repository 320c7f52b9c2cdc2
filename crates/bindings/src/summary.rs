//! The totals under the keys of `measure --json`, as far as they are known here; Python adds the drive and the warnings.

use std::collections::BTreeMap;

use metrics::{LatencySummary, Measurement, OPS, OpTally, StartStamp};
use serde::Serialize;
use workload::spec::{Arrival, Engine, Stream, Workload};

use crate::host::{Build, build};

/// Version of the keys.
const SCHEMA: &str = "ssdlab.measurement/1";

/// The keys of the schema, and further facts.
#[derive(Debug, Serialize)]
pub(crate) struct Totals {
    schema: &'static str,
    iops: f64,
    mb_s: f64,
    elapsed_s: f64,
    read: Option<Side>,
    write: Option<Side>,
    trim: Option<Side>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flush: Option<Flushes>,
    intervals: usize,
    requested_iops: Option<f64>,
    in_flight: f64,
    in_flight_max: u32,
    cpu: Cpu,
    power: Option<()>,
    seed: Option<u64>,
    engine: Option<String>,
    warnings: [(); 0],
    streams: Vec<StreamTotals>,
    total_s: f64,
    started: Option<StartStamp>,
    lateness_ns: LatencySummary,
    failed_ns: LatencySummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_failure: Option<metrics::Failure>,
    overshoot: Option<metrics::Overshoot>,
    drained: Option<Drained>,
    workers: Workers,
    batch_spans: metrics::BatchSpans,
    complete: bool,
    build: Build,
}

/// One direction: counts and latencies of all I/Os, and rates of the I/Os that completed in the measured time.
#[derive(Debug, Serialize)]
struct Side {
    iops: f64,
    mb_s: f64,
    #[serde(flatten)]
    counts: metrics::Summary,
}

impl Side {
    fn of(tally: &OpTally, (ios, bytes): (u64, u64), measured_ns: u64) -> Self {
        Self {
            iops: rate(ios, measured_ns),
            mb_s: rate(bytes, measured_ns) / 1e6,
            counts: tally.summary(),
        }
    }
}

/// Flushes, which are not I/Os: their count and their latency.
#[derive(Debug, Serialize)]
struct Flushes {
    #[serde(rename = "flushes")]
    done: u64,
    failed: u64,
    errors: BTreeMap<i32, u64>,
    latency_ns: LatencySummary,
}

impl From<&OpTally> for Flushes {
    fn from(tally: &OpTally) -> Self {
        Self {
            done: tally.done,
            failed: tally.failed,
            errors: tally.errors.clone(),
            latency_ns: LatencySummary::of(&tally.service),
        }
    }
}

/// I/O that completed after the stop.
#[derive(Debug, Serialize)]
struct Drained {
    ios: u64,
    bytes: u64,
    ns: u64,
}

/// Totals of one stream.
#[derive(Debug, Serialize)]
struct StreamTotals {
    name: String,
    iops: f64,
    mb_s: f64,
    elapsed_s: f64,
    read: Option<Side>,
    write: Option<Side>,
    trim: Option<Side>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flush: Option<Flushes>,
    requested_iops: Option<f64>,
    in_flight: f64,
    in_flight_max: u32,
    engine: Option<&'static str>,
    workers: Workers,
}

/// CPU time of all workers.
#[derive(Debug, Serialize)]
struct Cpu {
    user_s: f64,
    sys_s: f64,
    per_io_ns: Option<f64>,
}

/// Totals of the workers, and the skew of their starts.
#[derive(Debug, Serialize)]
pub(crate) struct Workers {
    #[serde(flatten)]
    totals: metrics::WorkerTotals,
    start_skew_ns: Option<u64>,
}

impl From<&metrics::WorkerTotals> for Workers {
    fn from(totals: &metrics::WorkerTotals) -> Self {
        Self {
            totals: *totals,
            start_skew_ns: totals.start_skew_ns(),
        }
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn rate(count: u64, ns: u64) -> f64 {
    if ns == 0 {
        0.0
    } else {
        count as f64 * 1e9 / ns as f64
    }
}

/// Returns all totals of a measurement.
pub(crate) fn totals(measurement: &Measurement, workload: Option<&Workload>) -> Totals {
    let spec = |i: usize| workload.and_then(|workload| workload.streams.get(i));
    let streams = || measurement.streams.iter().enumerate();
    let tallies = OPS.map(|op| measurement.op(op));
    let asked: [bool; 3] = std::array::from_fn(|op| {
        streams().any(|(i, stream)| asks(spec(i), &stream.tally.ops[op], op))
    });
    let window = OPS.map(|op| measurement.in_window(op));
    let side = |op: usize| Side::of(&tallies[op], window[op], measurement.measured_ns);
    let [read, write, trim] = std::array::from_fn(|op| asked[op].then(|| side(op)));
    let (ios, bytes) = done(window);
    let requested: Vec<f64> = (0..measurement.streams.len())
        .filter_map(|i| spec(i).and_then(requested_iops))
        .collect();
    Totals {
        schema: SCHEMA,
        iops: rate(ios, measurement.measured_ns),
        mb_s: rate(bytes, measurement.measured_ns) / 1e6,
        elapsed_s: seconds(measurement.measured_ns),
        read,
        write,
        trim,
        flush: streams()
            .any(|(i, stream)| flushes(spec(i), &stream.tally.flush))
            .then(|| Flushes::from(&measurement.flush())),
        intervals: measurement.rows.len(),
        requested_iops: (!requested.is_empty()).then(|| requested.iter().sum()),
        in_flight: measurement.in_flight_mean(),
        in_flight_max: measurement
            .streams
            .iter()
            .map(|stream| stream.tally.in_flight_max)
            .sum(),
        cpu: cpu(measurement),
        power: None,
        seed: workload.map(|workload| workload.seed),
        engine: workload.map(engines),
        warnings: [],
        streams: streams()
            .map(|(i, stream)| stream_totals(stream, spec(i)))
            .collect(),
        total_s: seconds(measurement.elapsed_ns),
        started: measurement.start,
        lateness_ns: merged(&tallies, |tally| &tally.lateness),
        failed_ns: merged(&tallies, |tally| &tally.failed_latency),
        first_failure: measurement.failures.first().cloned(),
        drained: drained(measurement),
        overshoot: measurement.decided_row.map(|_| measurement.overshoot),
        workers: Workers::from(&measurement.workers),
        batch_spans: measurement.batches,
        complete: measurement.complete,
        build: build(),
    }
}

fn stream_totals(stream: &metrics::StreamTotals, spec: Option<&Stream>) -> StreamTotals {
    let tallies = &stream.tally.ops;
    let window = OPS.map(|op| stream.in_window(op));
    let side = |op: usize| Side::of(&tallies[op], window[op], stream.measured_ns);
    let [read, write, trim] =
        std::array::from_fn(|op| asks(spec, &tallies[op], op).then(|| side(op)));
    let (ios, bytes) = done(window);
    StreamTotals {
        name: stream.spec.name.clone(),
        iops: rate(ios, stream.measured_ns),
        mb_s: rate(bytes, stream.measured_ns) / 1e6,
        elapsed_s: seconds(stream.measured_ns),
        read,
        write,
        trim,
        flush: flushes(spec, &stream.tally.flush).then(|| Flushes::from(&stream.tally.flush)),
        requested_iops: spec.and_then(requested_iops),
        in_flight: stream.in_flight_mean(),
        in_flight_max: stream.tally.in_flight_max,
        engine: spec.map(|spec| engine_name(spec.engine)),
        workers: Workers::from(&stream.workers),
    }
}

/// Returns whether a direction was asked for, even if no I/O was done, or was used.
fn asks(spec: Option<&Stream>, tally: &OpTally, op: usize) -> bool {
    use workload::spec::Ops::{Mix, Ratio, Recorded, Trim};
    let wanted = spec.is_some_and(|spec| match spec.ops {
        Mix { read_pct } => [read_pct > 0, read_pct < 100, false][op],
        Ratio { .. } => op < 2,
        Trim => op == 2,
        Recorded {
            reads,
            writes,
            trims,
        } => [reads, writes, trims][op] > 0,
    });
    wanted || !tally.is_empty()
}

/// Returns whether flushes were asked for or done.
fn flushes(spec: Option<&Stream>, tally: &OpTally) -> bool {
    spec.is_some_and(|spec| spec.flush_every.is_some()) || !tally.is_empty()
}

fn done(window: [(u64, u64); 3]) -> (u64, u64) {
    window
        .iter()
        .fold((0, 0), |(ios, bytes), op| (ios + op.0, bytes + op.1))
}

/// Returns what completed after a stop by time; `None` if nothing was left to complete.
fn drained(measurement: &Measurement) -> Option<Drained> {
    let parts = || measurement.streams.iter().map(|stream| stream.drained);
    let found = Drained {
        ios: parts().map(|part| part.ios()).sum(),
        bytes: parts().flat_map(|part| part.bytes).sum(),
        ns: measurement.drained_ns,
    };
    (found.ns > 0).then_some(found)
}

fn merged(
    tallies: &[OpTally; 3],
    histogram: impl Fn(&OpTally) -> &metrics::Histogram,
) -> LatencySummary {
    let mut sum = metrics::Histogram::new();
    for tally in tallies {
        sum.merge(histogram(tally));
    }
    LatencySummary::of(&sum)
}

/// Returns the CPU time. It is known for whole workers only, so it is divided by all their I/Os, including those of the
/// ramp and the overshoot.
fn cpu(measurement: &Measurement) -> Cpu {
    let rows = measurement
        .rows
        .streams
        .iter()
        .flat_map(|stream| stream.ops.iter().flatten());
    let ios = rows.map(|op| op.done.iter().sum::<u64>()).sum::<u64>() + measurement.overshoot.ios;
    let workers = &measurement.workers;
    let cpu_ns = workers.user_cpu_ns + workers.system_cpu_ns;
    Cpu {
        user_s: seconds(workers.user_cpu_ns),
        sys_s: seconds(workers.system_cpu_ns),
        per_io_ns: (ios > 0).then(|| (cpu_ns as f64 / ios as f64 * 10.0).round() / 10.0),
    }
}

/// Returns the I/Os per second that a stream asks for. `None` for closed loops and pulses, which ask for as many as
/// they get, and for recordings.
fn requested_iops(stream: &Stream) -> Option<f64> {
    match stream.arrival {
        Arrival::Closed { .. } | Arrival::Pulses { .. } | Arrival::Recorded { .. } => None,
        Arrival::Open { rate, .. } => Some(rate.num as f64 / rate.den as f64),
        Arrival::Bursts { bytes, every_ns } => {
            let weights: f64 = stream
                .block
                .iter()
                .map(|block| f64::from(block.weight))
                .sum();
            let weighted: f64 = stream
                .block
                .iter()
                .map(|block| f64::from(block.bytes) * f64::from(block.weight))
                .sum();
            Some(bytes as f64 * weights / weighted * 1e9 / every_ns as f64)
        }
    }
}

fn engine_name(engine: Engine) -> &'static str {
    match engine {
        Engine::Sync => "sync",
        Engine::Uring => "uring",
    }
}

/// Returns the engine of all streams; if the streams differ, both names joined by a plus.
fn engines(workload: &Workload) -> String {
    let mut names: Vec<_> = workload
        .streams
        .iter()
        .map(|stream| engine_name(stream.engine))
        .collect();
    names.sort_unstable();
    names.dedup();
    names.join("+")
}
