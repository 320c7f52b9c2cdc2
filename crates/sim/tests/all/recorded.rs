//! A recording on a simulated drive: the answer is known to the nanosecond.

use std::path::PathBuf;

use crate::drives::workloads::{run_on, small, workload};
use metrics::{Measurement, OpTally};
use serde_json::{Value, json};
use workload::recording::{MAGIC, Record, Recording};
use workload::{Io, Op};

const MS: u64 = 1_000_000;

/// A recording for one test.
struct Scratch(PathBuf);

impl Scratch {
    fn of(name: &str, records: &[Record]) -> Self {
        let name = format!("ssdlab-sim-recorded-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut bytes = MAGIC.to_vec();
        bytes.extend(records.iter().flat_map(|record| record.to_bytes()));
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }

    fn replayed(&self, depth: u32, arrival: &Value) -> Value {
        let opened = Recording::open(&self.0).unwrap();
        let facts = opened.facts();
        workload(json!({
            "ops": {"recorded": {"reads": facts.reads, "writes": facts.writes, "trims": facts.trims}},
            "block": [{"bytes": 4096, "weight": 1}], "engine": "uring", "depth": depth,
            "pattern": {"recorded": {"path": self.0, "digest": facts.digest}}, "arrival": arrival,
            "stop": {"time_ns": null, "bytes": null, "ios": null, "span_once": false}
        }))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn read(due_ns: u64, block: u64) -> Record {
    let io = Io {
        op: Op::Read,
        offset: block * 4096,
        length: 4096,
    };
    Record { due_ns, io }
}

fn measured(records: &[Record], name: &str, depth: u32, arrival: &Value) -> Measurement {
    let file = Scratch::of(name, records);
    run_on(&mut small(), &file.replayed(depth, arrival)).measurement
}

fn longest_ns(tally: &OpTally) -> u64 {
    tally.service.max_ns().expect("some I/O")
}

fn timed(backlog_ns: u64) -> Value {
    json!({"recorded": {"backlog_ns": backlog_ns}})
}

#[test]
fn with_room_between_them_none_is_late_and_the_drive_is_busy_for_their_sum() {
    let records: Vec<_> = (0..50).map(|n| read(n * n * MS, n * 1000)).collect();
    let measurement = measured(&records, "gaps", 8, &timed(1000 * MS));
    let tally = measurement.op(Op::Read);
    assert_eq!((tally.done, tally.late, tally.dropped), (50, 0, 0));
    assert_eq!(tally.lateness.max_ns(), Some(0));
    let service_ns = tally.service.sum_ns();
    assert_eq!(u128::from(measurement.workers.busy_ns), service_ns);
    // The run ends when the last I/O completes, and each takes as long as the first.
    assert!(measurement.elapsed_ns > 49 * 49 * MS);
    assert!(measurement.elapsed_ns <= 49 * 49 * MS + longest_ns(&tally));
}

#[test]
fn what_waits_for_the_one_slot_is_late_by_what_is_in_front_of_it() {
    // Ten at once, served one at a time: the n-th waits for n services.
    let records: Vec<_> = (0..10).map(|n| read(0, n * 1000)).collect();
    let measurement = measured(&records, "wait", 1, &timed(1000 * MS));
    let tally = measurement.op(Op::Read);
    assert_eq!((tally.done, tally.dropped), (10, 0));
    let service_ns = tally.service.sum_ns();
    assert_eq!(u128::from(measurement.elapsed_ns), service_ns);
    assert_eq!(u128::from(measurement.workers.busy_ns), service_ns);
    let lateness_ns = tally.lateness.sum_ns();
    assert_eq!(tally.response().sum_ns(), service_ns + lateness_ns);
    assert_eq!(
        tally.service.min_ns(),
        tally.service.max_ns(),
        "an idle drive"
    );
    assert_eq!(lateness_ns, 45 * u128::from(longest_ns(&tally)));
}

#[test]
fn what_is_due_longer_than_the_backlog_is_dropped() {
    let records: Vec<_> = (0..10).map(|n| read(0, n * 1000)).collect();
    let whole = measured(&records, "all", 1, &timed(1000 * MS));
    let one_ns = longest_ns(&whole.op(Op::Read));
    // Two and a half service times: only the first three can begin.
    let measurement = measured(&records, "some", 1, &timed(one_ns * 5 / 2));
    let tally = measurement.op(Op::Read);
    assert_eq!((tally.done, tally.dropped), (3, 7));
}

#[test]
fn as_fast_as_possible_keeps_the_depth_and_loses_no_io() {
    let records: Vec<_> = (0..1000)
        .map(|n| read(n * 3600 * 1000 * MS, n * 7919 % 200_000))
        .collect();
    let closed = json!({"closed": {"think_ns": 0}});
    let measurement = measured(&records, "closed", 16, &closed);
    let tally = measurement.op(Op::Read);
    assert_eq!(
        (tally.done, measurement.streams[0].tally.in_flight_max),
        (1000, 16)
    );
    assert_eq!(measurement.workers.busy_ns, measurement.elapsed_ns);
    assert!(
        measurement.elapsed_ns < 1000 * MS,
        "the times of the recording say nothing"
    );
}
