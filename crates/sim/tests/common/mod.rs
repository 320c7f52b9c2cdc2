//! A small drive, and workloads for it.
#![allow(dead_code, reason = "each test file takes what it needs")]

use metrics::Row;
use serde_json::{Value, json};
use sim::drive::{Drive, DriveSpec};
use sim::ftl::Ftl;
use sim::gc::Greedy;
use sim::host::HostSpec;
use sim::nand::{Geometry, Timing};
use sim::options::DriveOptions;
use sim::owner::{Owner, Progress, Unattended};
use sim::runner::{Options, Outcome, run};
use workload::Op;

/// A TLC drive of 2 channels and 8 dies with 1.2 GiB of flash.
pub fn spec() -> DriveSpec {
    let geometry = Geometry {
        channels: 2,
        dies_per_channel: 4,
        planes: 2,
        page_bytes: 16384,
        pages_per_block: 6,
        bits_per_cell: 3,
        superblocks: 800,
    };
    DriveSpec {
        geometry,
        timing: Timing {
            read_ns: [60_000; 4],
            program_ns: 1_700_000,
            erase_ns: 5_000_000,
            unit_transfer_ns: 5_427,
            command_ns: 300,
            suspend_ns: Some(20_000),
            deferral_limit_ns: 20_000_000,
        },
        host: HostSpec {
            queue_limit: None,
            command_ns: 6_000,
            unit_link_ns_x1024: 1_170 * 1024,
            half_duplex: false,
            cores: 2,
            read_core_ns: 3_000,
            write_core_ns: 4_000,
        },
        user_bytes: geometry.raw_bytes() / 100 * 87 / 131_072 * 131_072,
        buffer_bytes: 4 << 20,
        reserve: 4,
        power_loss_protection: true,
        logical_block_bytes: 512,
        erase_every: 16,
        options: DriveOptions::default(),
    }
}

/// The drive with every unit written once.
pub fn filled(spec: &DriveSpec) -> Drive<Ftl<Greedy>> {
    let mut drive = Drive::new(spec, Greedy);
    let mut now = 0;
    for i in 0..spec.user_bytes / 131_072 {
        now = drive.submit(now, Op::Write, i * 131_072, 131_072);
    }
    drive.wait_until(drive.idle_at());
    drive
}

pub fn small() -> Drive<Ftl<Greedy>> {
    filled(&spec())
}

/// 4 KiB random reads at depth 1, a thousand of them; `change` replaces fields of the stream.
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

/// Ends the result at the first row that `accepts`; also gives how many rows were asked about.
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
