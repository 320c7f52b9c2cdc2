//! Draws I/Os of one kind, to count the instructions of one `next()`.
//!
//! The cost of an I/O is the difference of two runs, divided by the difference of their lengths:
//!
//! ```sh
//! cargo build --release -p ssdlab-workload --example cost
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/cost uniform 100000
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/cost uniform 200000
//! ```
//!
//! The program prints the sum of what it drew, so that the compiler cannot remove the draws. The count
//! includes the three additions for the sum and the loop itself; the kind `none` measures their cost.
#![allow(
    clippy::print_stdout,
    reason = "a program for the terminal, not the library"
)]

use std::error::Error;
use std::hint::black_box;

use serde_json::{Value, json};
use workload::{Generator, Io, Op, Plan, Schedule, Workload};

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: cost KIND COUNT; see the source for the kinds";
    let mut arguments = std::env::args().skip(1);
    let (kind, count) = arguments.next().zip(arguments.next()).ok_or(usage)?;
    let count: u64 = count.parse()?;
    if kind == "none" {
        println!("{}", nothing(count));
        return Ok(());
    }
    let changes = changes(&kind).ok_or(usage)?;
    let plan = Plan::new(&workload(changes)?)?;
    let sum = match plan.stream(0).schedule(0) {
        Some(mut schedule) => due(&mut schedule, count),
        None => drawn(&mut plan.stream(0).generator(0), count),
    };
    println!("{sum}");
    Ok(())
}

/// Returns the fields in which a kind differs from the plain stream of uniform 4 KiB reads.
fn changes(kind: &str) -> Option<Value> {
    let open = |process: Value| {
        let rate = json!({"num": 2000, "den": 85});
        json!({"arrival": {"open": {"process": process, "rate": rate, "backlog_ns": 1}}})
    };
    let sizes = json!([{"bytes": 4096, "weight": 70}, {"bytes": 131_072, "weight": 30}]);
    Some(match kind {
        "uniform" => json!({}),
        "mix" => json!({"ops": {"mix": {"read_pct": 70}}}),
        "sequential" => json!({"pattern": {"sequential": {"cursors": null}}}),
        "sizes" => json!({"block": sizes}),
        "zipf" => json!({"pattern": {"zipf": {"theta_milli": 1100}}}),
        "bands" => json!({"pattern": {"bands": [
            {"access_weight": 80, "span_weight": 20}, {"access_weight": 20, "span_weight": 80}
        ]}}),
        "even" => open(json!("even")),
        "poisson" => open(json!("poisson")),
        "bursts" => json!({"arrival": {"bursts": {"bytes": 1_048_576, "every_ns": 1000}}}),
        _ => return None,
    })
}

fn workload(changes: Value) -> Result<Workload, serde_json::Error> {
    let mut stream = json!({
        "name": "cost", "ops": {"mix": {"read_pct": 100}},
        "block": [{"bytes": 4096, "weight": 1}], "pattern": "uniform",
        "span": {"start": 0, "length": 480_103_981_056_u64},
        "workers": 1, "depth": 1, "engine": "sync", "batch": null, "polled": false,
        "arrival": {"closed": {"think_ns": 0}},
        "compressible_pct": 0, "direct": true, "dsync": false, "flush_every": null, "cpus": [],
        "stop": {"time_ns": null, "bytes": null, "ios": null, "span_once": false}, "log_ios": false
    });
    if let (Some(stream), Value::Object(changes)) = (stream.as_object_mut(), changes) {
        stream.extend(changes);
    }
    serde_json::from_value(json!({
        "seed": 1, "interval_ns": 1_000_000_000, "ramp_ns": 0, "streams": [stream]
    }))
}

#[inline]
fn add(sum: u64, io: Io) -> u64 {
    let io = io.offset + u64::from(io.length) + io.op as u64;
    sum.wrapping_add(io)
}

fn nothing(count: u64) -> u64 {
    let io = black_box(Io {
        op: Op::Read,
        offset: 4096,
        length: 4096,
    });
    (0..count).fold(0, |sum, _| add(black_box(sum), io))
}

fn drawn(generator: &mut Generator, count: u64) -> u64 {
    (0..count).fold(0, |sum, _| {
        add(black_box(sum), black_box(&mut *generator).next())
    })
}

fn due(schedule: &mut Schedule, count: u64) -> u64 {
    (0..count).fold(0, |sum: u64, _| {
        black_box(sum).wrapping_add(black_box(&mut *schedule).next())
    })
}
