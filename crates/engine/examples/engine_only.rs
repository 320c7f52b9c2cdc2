//! The engine alone, for counting instructions and for comparing with other tools.
//!
//! `engine_only TARGET WORKLOAD.json [IOS]` runs the workload and prints one JSON object: rates, latencies and CPU time
//! per I/O. `IOS` replaces the workload's own number of I/Os.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;

use engine::{Access, Control, Options, Target, run};
use workload::Workload;
use workload::spec::Ops;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, workload, ios @ ..] = arguments.as_slice() else {
        return Err("engine_only TARGET WORKLOAD.json [IOS]".into());
    };
    let mut workload: Workload = serde_json::from_str(&std::fs::read_to_string(workload)?)?;
    if let [ios] = ios {
        let ios = ios.parse()?;
        workload
            .streams
            .iter_mut()
            .for_each(|stream| stream.stop.ios = Some(ios));
    }
    let write = workload
        .streams
        .iter()
        .any(|s| s.writes() || s.ops == Ops::Trim);
    let target = Target::open(
        Path::new(target),
        Access {
            write,
            exclusive: write,
        },
    )?;
    let outcome = run(&target, &workload, &Control::new(), Options::default())?;

    let measured = outcome.measurement;
    let operations: Vec<_> = metrics::OPS.into_iter().map(|op| measured.op(op)).collect();
    let done: u64 = operations.iter().map(|op| op.done).sum();
    let per_io = |ns: u64| ns as f64 / done.max(1) as f64;
    let summaries: Vec<_> = operations.iter().map(metrics::OpTally::summary).collect();
    let report = serde_json::json!({
        "ios": done,
        "iops": done as f64 / measured.measured_ns.max(1) as f64 * 1e9,
        "user_ns_per_io": per_io(measured.workers.user_cpu_ns),
        "sys_ns_per_io": per_io(measured.workers.system_cpu_ns),
        "in_flight": measured.in_flight_mean(),
        "start_skew_ns": measured.workers.start_skew_ns(),
        "first_issue_max_ns": measured.workers.first_issue_max_ns,
        "run_queue_wait_ns": measured.workers.run_queue_wait_ns,
        "read": summaries[0], "write": summaries[1], "trim": summaries[2],
    });
    println!("{report}");
    Ok(())
}
