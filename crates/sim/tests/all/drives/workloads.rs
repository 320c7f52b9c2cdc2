//! Workloads for the small drive, and runs of them.

use metrics::Row;
use serde_json::{Value, json};
use sim::drive::Drive;
use sim::ftl::{Ftl, Greedy};
use sim::runner::Progress;
use sim::{Options, Outcome, Owner, Unattended, run};

use super::{SMALL, filled};

/// The small drive, with every unit written once.
pub fn small() -> Drive<Ftl<Greedy>> {
    filled(&SMALL.spec())
}

/// A thousand random reads of 4 KiB at depth 1; `change` replaces fields of the stream.
pub fn workload(change: Value) -> Value {
    let mut text = json!({
        "seed": 1, "interval_ns": 100_000_000, "ramp_ns": 0,
        "streams": [{
            "name": "main", "ops": {"mix": {"read_pct": 100}}, "block": [{"bytes": 4096, "weight": 1}],
            "pattern": "uniform", "span": {"start": 0, "length": 1 << 30}, "workers": 1, "depth": 1,
            "engine": "sync", "batch": null, "polled": false, "arrival": {"closed": {"think_ns": 0}},
            "compressible_pct": 0, "direct": true, "dsync": false, "flush_every": null, "cpus": [],
            "stop": {"time_ns": null, "bytes": null, "ios": 1000, "span_once": false}, "log_ios": false
        }]
    });
    let Value::Object(change) = change else {
        panic!("fields of a stream")
    };
    text["streams"][0].as_object_mut().unwrap().extend(change);
    text
}

/// Reads and writes of several sizes by many workers, beside an open loop.
pub fn mixed(workers: u32) -> Value {
    let mut text = workload(json!({
        "workers": workers, "ops": {"mix": {"read_pct": 60}}, "pattern": {"zipf": {"theta_milli": 1100}},
        "block": [{"bytes": 4096, "weight": 6}, {"bytes": 16384, "weight": 2}, {"bytes": 512, "weight": 1}]
    }));
    text["streams"][0]["stop"]["ios"] = json!(60_000);
    let open = json!({"open": {"process": "poisson", "rate": {"num": 3000, "den": 1}, "backlog_ns": 500_000_000}});
    let mut second = workload(
        json!({"name": "log", "ops": {"mix": {"read_pct": 0}}, "workers": 2, "arrival": open}),
    );
    second["streams"][0]["stop"]["ios"] = json!(2000);
    let second = second["streams"][0].take();
    text["streams"].as_array_mut().unwrap().push(second);
    text
}

pub fn run_on(drive: &mut Drive<Ftl<Greedy>>, text: &Value) -> Outcome {
    let workload = serde_json::from_value(text.clone()).unwrap();
    run(drive, &workload, &mut Unattended, Options::default()).unwrap()
}

pub fn run_with(text: &Value) -> Outcome {
    run_on(&mut small(), text)
}

/// Ends the result at the first row that `accepts`. Also returns how many rows it was asked about.
pub fn run_until(text: &Value, accepts: impl Fn(&Row) -> bool) -> (Outcome, usize) {
    struct Until<F>(F, usize);
    impl<F: Fn(&Row) -> bool> Owner for Until<F> {
        fn wants_end(&mut self) -> bool {
            false
        }
        fn closed(&mut self, _: &Progress, rows: Vec<Row>) -> Option<u64> {
            let mut found = None;
            for row in rows {
                self.1 += usize::from(found.is_none());
                if (self.0)(&row) {
                    found = found.or(Some(row.index));
                }
            }
            found
        }
    }
    let workload = serde_json::from_value(text.clone()).unwrap();
    let mut until = Until(accepts, 0);
    let outcome = run(&mut small(), &workload, &mut until, Options::default()).unwrap();
    (outcome, until.1)
}
