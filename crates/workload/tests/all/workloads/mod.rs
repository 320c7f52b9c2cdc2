//! Workloads for the tests: one plain stream; each test changes the fields that it is about.
#![allow(dead_code, reason = "each test binary uses its part of this module")]

use workload::spec::{
    Arrival, BlockWeight, Engine, Flush, Ops, Pattern, Process, Rate, Span, Stop, Stream,
};
use workload::{Io, Plan, Workload};

/// 4 KiB uniform random reads of 64 MiB by one synchronous worker.
pub fn stream() -> Stream {
    Stream {
        name: "main".into(),
        ops: Ops::Mix { read_pct: 100 },
        block: blocks(&[(4096, 1)]),
        pattern: Pattern::Uniform,
        write_block: None,
        write_pattern: None,
        span: Span {
            start: 0,
            length: 64 << 20,
        },
        workers: 1,
        depth: 1,
        engine: Engine::Sync,
        batch: None,
        polled: false,
        arrival: Arrival::Closed { think_ns: 0 },
        compressible_pct: 0,
        direct: true,
        dsync: false,
        flush_every: None,
        flush: Flush::Fdatasync,
        cpus: vec![],
        stop: Stop {
            time_ns: None,
            bytes: None,
            ios: None,
            span_once: false,
        },
        log_ios: false,
    }
}

pub fn blocks(sizes: &[(u32, u32)]) -> Vec<BlockWeight> {
    let block = |&(bytes, weight)| BlockWeight { bytes, weight };
    sizes.iter().map(block).collect()
}

pub fn open(process: Process, num: u64, den: u64) -> Arrival {
    Arrival::Open {
        process,
        rate: Rate { num, den },
        backlog_ns: 10_000_000_000,
    }
}

pub fn workload(seed: u64, stream: Stream) -> Workload {
    Workload {
        seed,
        interval_ns: 1_000_000_000,
        ramp_ns: 0,
        streams: vec![stream],
    }
}

pub fn plan(seed: u64, stream: Stream) -> Plan {
    Plan::new(&workload(seed, stream)).expect("the test's workload is valid")
}

/// Returns the first I/Os of a source.
pub fn ios(plan: &Plan, source: u32, count: usize) -> Vec<Io> {
    let mut generator = plan.stream(0).generator(source);
    (0..count).map(|_| generator.next()).collect()
}

/// Returns the first due times of a source.
pub fn dues(plan: &Plan, source: u32, count: usize) -> Vec<u64> {
    let mut schedule = plan.stream(0).schedule(source).expect("an open loop");
    (0..count).map(|_| schedule.next()).collect()
}
