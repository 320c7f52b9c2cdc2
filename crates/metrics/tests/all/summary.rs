//! The figures of a direction under the keys of `measure --json`, which scripts rely on.

use metrics::{Collector, CollectorSpec, Pacing, Recorder, StreamSpec, Summary, WorkerFacts};
use serde_json::{Value, json};
use workload::Op;

fn summary_of(ios: u64) -> Summary {
    let stream = StreamSpec {
        name: "s".into(),
        pacing: Pacing::Scheduled,
        log_ios: false,
    };
    let collector = Collector::new(CollectorSpec::new(1_000_000_000, vec![stream], 1)).unwrap();
    let mut recorder = Recorder::new(&collector, 0, 0);
    for i in 0..ios {
        let submit_ns = 10 * i + 3;
        recorder.submitted(1, submit_ns);
        recorder.completed(Op::Read, 512, 10 * i, submit_ns, submit_ns + 1 + i % 4);
    }
    recorder.submitted(1, 10 * ios);
    recorder.failed(Op::Read, 5, 0, 512, 10 * ios, 10 * ios, 10 * ios + 2);
    recorder.dropped(Op::Read, 0, 10 * ios + 2);
    recorder.finish(10 * ios + 2, &WorkerFacts::default());
    collector.into_measurement().op(Op::Read).summary()
}

#[test]
fn the_keys_are_those_of_the_contract() {
    let json = serde_json::to_value(summary_of(1_000)).unwrap();
    let expected = json!({
        "requested": 1_002, "ios": 1_000, "failed": 1, "dropped": 1, "late": 0, "bytes": 512_000,
        "errors": {"5": 1},
        "service_ns": {
            "min": 1, "mean": 2.5, "max": 4, "p50": 2, "p90": 4, "p99": 4,
            "p99.9": null, "p99.99": null, "p99.999": null,
        },
        // The dropped I/O was 10002 ns overdue: the mean is (5500 + 10002) ns over 1001 samples.
        "response_ns": {
            "min": 4, "mean": 15.5, "max": 10_002, "p50": 6, "p90": 7, "p99": 7,
            "p99.9": null, "p99.99": null, "p99.999": null,
        },
    });
    assert_eq!(json, expected);
}

#[test]
fn without_io_every_latency_is_null() {
    let collector = Collector::new(CollectorSpec::new(1, Vec::new(), 0)).unwrap();
    let json = serde_json::to_value(collector.into_measurement().op(Op::Write).summary()).unwrap();
    assert_eq!(
        (&json["requested"], &json["errors"]),
        (&json!(0), &json!({}))
    );
    let Value::Object(latency) = &json["service_ns"] else {
        panic!("an object")
    };
    assert_eq!(latency.len(), 9);
    assert!(latency.values().all(Value::is_null));
}
