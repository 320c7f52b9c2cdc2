//! The spec as JSON: exactly the names that Python and Rust exchange.

use serde_json::{Value, json};
use workload::Workload;

/// Every field once, under the name that Python and Rust exchange.
fn full() -> Value {
    json!({
        "seed": 7, "interval_ns": 1_000_000_000, "ramp_ns": 0,
        "streams": [{
            "name": "reads", "ops": {"mix": {"read_pct": 70}},
            "block": [{"bytes": 4096, "weight": 70}, {"bytes": 131_072, "weight": 30}],
            "pattern": {"bands": [
                {"access_weight": 80, "span_weight": 20}, {"access_weight": 20, "span_weight": 80}
            ]},
            "span": {"start": 0, "length": 1_073_741_824},
            "workers": 4, "depth": 32, "engine": "uring", "batch": 8, "polled": false,
            "arrival": {"open": {
                "process": {"act2019": {"queues": 2}}, "rate": {"num": 2000, "den": 85},
                "backlog_ns": 10_000_000_000_u64
            }},
            "compressible_pct": 0, "direct": true, "dsync": false, "flush_every": null, "cpus": [0, 1],
            "stop": {"time_ns": 5_000_000_000_u64, "bytes": null, "ios": null, "span_once": false},
            "log_ios": false
        }]
    })
}

fn parsed(value: Value) -> Result<Workload, serde_json::Error> {
    serde_json::from_value(value)
}

#[test]
fn json_goes_both_ways() {
    let workload = parsed(full()).unwrap();
    workload.validate().unwrap();
    assert_eq!(serde_json::to_value(&workload).unwrap(), full());
}

#[test]
fn each_choice_has_its_word() {
    for (path, choices) in [
        (
            "ops",
            vec![
                json!("trim"),
                json!({"mix": {"read_pct": 0}}),
                json!({"ratio": {"reads": 2, "writes": 1}}),
            ],
        ),
        (
            "pattern",
            vec![
                json!("uniform"),
                json!({"sequential": {"cursors": null}}),
                json!({"sequential": {"cursors": [0, 4096]}}),
                json!({"stepped": {"step_bytes": 512}}),
                json!({"zipf": {"theta_milli": 1100}}),
            ],
        ),
        ("engine", vec![json!("sync"), json!("uring")]),
        (
            "arrival",
            vec![
                json!({"closed": {"think_ns": 5}}),
                json!({"bursts": {"bytes": 4096, "every_ns": 1}}),
                json!({"open": {"process": "even", "rate": {"num": 1, "den": 2}, "backlog_ns": 1}}),
                json!({"open": {"process": "poisson", "rate": {"num": 1, "den": 2}, "backlog_ns": 1}}),
                json!({"open": {"process": "act6", "rate": {"num": 1, "den": 2}, "backlog_ns": 1}}),
            ],
        ),
    ] {
        for choice in choices {
            let mut value = full();
            value["streams"][0][path] = choice;
            let workload = parsed(value.clone()).unwrap();
            assert_eq!(serde_json::to_value(&workload).unwrap(), value);
        }
    }
}

#[test]
fn unknown_and_missing_fields_are_refused_at_every_level() {
    for pointer in [
        "",
        "/streams/0",
        "/streams/0/ops/mix",
        "/streams/0/block/0",
        "/streams/0/pattern/bands/0",
        "/streams/0/span",
        "/streams/0/arrival/open",
        "/streams/0/arrival/open/process/act2019",
        "/streams/0/arrival/open/rate",
        "/streams/0/stop",
    ] {
        let mut value = full();
        let object = value.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
        object.insert("blocksize".into(), json!(1));
        let message = parsed(value.clone()).unwrap_err().to_string();
        assert!(
            message.contains("unknown field `blocksize`"),
            "{pointer}: {message}"
        );
        let object = value.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
        object.remove("blocksize");
        let required = object.iter().find(|(_, v)| !v.is_null()).unwrap().0.clone();
        object.remove(&required);
        let message = parsed(value).unwrap_err().to_string();
        assert!(
            message.contains(&format!("missing field `{required}`")),
            "{pointer}: {message}"
        );
    }
}
