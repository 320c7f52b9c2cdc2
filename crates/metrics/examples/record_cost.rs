//! Measures what it costs to record one latency, here and in `hdrhistogram` at a similar precision.
//!
//! Count instructions, because neither the clock nor a busy machine disturbs the count, and subtract
//! those of a run with `nothing`:
//!
//! ```text
//! cargo build --release -p ssdlab-metrics --example record_cost
//! for what in nothing ours hdr worker worker-open; do
//!     valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/record_cost $what 10000000
//! done
//! ```
#![allow(clippy::print_stdout, reason = "a program that prints its result")]

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use metrics::{
    Collector, CollectorSpec, Histogram, OVERFLOW_NS, Pacing, Recorder, StreamSpec, WorkerFacts,
};
use workload::Op;

/// Returns latencies from 8 µs to 1 ms, spread evenly over the octaves as those of drives are. They
/// are drawn in advance, so that every loop pays the same small price for them.
fn latencies_ns() -> Vec<u64> {
    let mut state = 1u64;
    let mut draw = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    (0..4_096)
        .map(|_| (1 << (13 + draw() % 8)) + draw() % 8_192)
        .collect()
}

/// Calls `record` for `n` latencies of the table.
fn each(latencies_ns: &[u64], n: usize, mut record: impl FnMut(u64)) {
    for &latency_ns in latencies_ns.iter().cycle().take(n) {
        record(black_box(latency_ns));
    }
}

fn nothing(latencies_ns: &[u64], n: usize) -> u64 {
    each(latencies_ns, n, |_| {});
    n as u64
}

fn ours(latencies_ns: &[u64], n: usize) -> u64 {
    let mut histogram = Histogram::new();
    each(latencies_ns, n, |latency_ns| histogram.record(latency_ns));
    histogram.count()
}

/// Two significant figures, which is 1 % of error, as ours. The range is the same too, and values
/// beyond it are clamped, as ours.
fn hdr(latencies_ns: &[u64], n: usize) -> Result<u64, hdrhistogram::CreationError> {
    let mut histogram = hdrhistogram::Histogram::<u64>::new_with_bounds(1, OVERFLOW_NS, 2)?;
    each(latencies_ns, n, |latency_ns| {
        histogram.saturating_record(latency_ns);
    });
    Ok(histogram.len())
}

/// Does all that a worker does for one synchronous I/O, submission and completion, on a virtual
/// clock and with one-second rows.
fn worker(
    latencies_ns: &[u64],
    n: usize,
    pacing: Pacing,
) -> Result<u64, Box<dyn std::error::Error>> {
    let stream = StreamSpec {
        name: "worker".into(),
        pacing,
        log_ios: false,
    };
    let collector = Collector::new(CollectorSpec::new(1_000_000_000, vec![stream], 1))?;
    let mut recorder = Recorder::new(&collector, 0, 0);
    let mut now_ns = 0;
    each(latencies_ns, n, |latency_ns| {
        let submit_ns = now_ns;
        recorder.submitted(1, submit_ns);
        now_ns += latency_ns;
        recorder.completed(Op::Read, 4_096, submit_ns, submit_ns, now_ns);
    });
    recorder.finish(now_ns, &WorkerFacts::default());
    Ok(Arc::clone(&collector).into_measurement().op(Op::Read).done)
}

fn run(what: &str, n: usize) -> Result<Option<u64>, Box<dyn std::error::Error>> {
    let latencies_ns = latencies_ns();
    Ok(Some(match what {
        "nothing" => nothing(&latencies_ns, n),
        "ours" => ours(&latencies_ns, n),
        "hdr" => hdr(&latencies_ns, n)?,
        "worker" => worker(&latencies_ns, n, Pacing::BackToBack)?,
        "worker-open" => worker(&latencies_ns, n, Pacing::Scheduled)?,
        _ => return Ok(None),
    }))
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let n = arguments
        .next()
        .map_or(Ok(10_000_000), |text| text.parse())?;
    let start = Instant::now();
    let Some(recorded) = run(&what, n)? else {
        println!("usage: record_cost nothing|ours|hdr|worker|worker-open [N]");
        return Ok(ExitCode::from(2));
    };
    let ns_each = start.elapsed().as_nanos() as f64 / n as f64;
    println!("{what}: {recorded} recorded, {ns_each:.2} ns each");
    Ok(ExitCode::SUCCESS)
}
