//! Scratch files as targets, and workloads that differ from a plain one in a few fields.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use engine::{Access, Control, EngineError, Options, Outcome, Target, run};
use metrics::{IoRecord, LogReader, LogWriter};
use workload::spec::{
    Arrival, BlockWeight, Engine, Flush, Ops, Pattern, Process, Rate, Span, Stop, Stream,
};
use workload::{Op, Workload};

pub const MIB: u64 = 1 << 20;
pub const MILLISECOND_NS: u64 = 1_000_000;

/// A path in the system's folder for temporary files; dropping it removes what is there.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn path(name: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("engine-test-{}-{count}-{name}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    /// Creates a file of `bytes` bytes, all of them written.
    pub fn file(bytes: u64) -> Self {
        let scratch = Self::path("file");
        std::fs::write(&scratch.0, vec![0xa5; bytes as usize]).expect("a scratch file");
        scratch
    }

    pub fn open(&self) -> Target {
        let access = Access {
            write: true,
            exclusive: true,
        };
        Target::open(&self.0, access).expect("an open scratch file")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Returns 4 KiB random reads over the first MiB: a closed loop without an end.
pub fn reads(engine: Engine, workers: u32, depth: u32) -> Stream {
    Stream {
        name: "a".into(),
        ops: Ops::Mix { read_pct: 100 },
        block: vec![block(4096)],
        pattern: Pattern::Uniform,
        write_block: None,
        write_pattern: None,
        span: Span {
            start: 0,
            length: MIB,
        },
        workers,
        depth,
        engine,
        batch: None,
        polled: false,
        arrival: Arrival::Closed { think_ns: 0 },
        compressible_pct: 0,
        direct: true,
        dsync: false,
        flush_every: None,
        flush: Flush::Fdatasync,
        cpus: Vec::new(),
        stop: Stop {
            time_ns: None,
            bytes: None,
            ios: None,
            span_once: false,
        },
        log_ios: false,
    }
}

/// Returns a stream for each engine, with `in_flight` I/Os in flight.
pub fn both(in_flight: u32) -> [Stream; 2] {
    [
        reads(Engine::Sync, in_flight, 1),
        reads(Engine::Uring, 1, in_flight),
    ]
}

pub fn block(bytes: u32) -> BlockWeight {
    BlockWeight { bytes, weight: 1 }
}

pub fn ios(count: u64) -> Stop {
    Stop {
        ios: Some(count),
        ..reads(Engine::Sync, 1, 1).stop
    }
}

pub fn milliseconds(count: u64) -> Stop {
    Stop {
        time_ns: Some(count * MILLISECOND_NS),
        ..reads(Engine::Sync, 1, 1).stop
    }
}

/// Returns an open loop of `per_second` I/Os a second.
pub fn open_loop(process: Process, per_second: u64, backlog_ns: u64) -> Arrival {
    let rate = Rate {
        num: per_second,
        den: 1,
    };
    Arrival::Open {
        process,
        rate,
        backlog_ns,
    }
}

pub fn workload(streams: Vec<Stream>) -> Workload {
    Workload {
        seed: 42,
        interval_ns: 50 * MILLISECOND_NS,
        ramp_ns: 0,
        streams,
    }
}

pub fn try_run(target: &Target, streams: Vec<Stream>) -> Result<Outcome, EngineError> {
    run(
        target,
        &workload(streams),
        &Control::new(),
        Options::default(),
    )
}

/// Runs one stream against a file of 4 MiB.
pub fn measure(stream: Stream) -> Outcome {
    let file = Scratch::file(4 * MIB);
    try_run(&file.open(), vec![stream]).expect("a run without errors")
}

/// Runs one stream with every I/O logged; returns the I/Os in the order of their submission.
pub fn logged(target: &Target, stream: Stream) -> (Outcome, Vec<IoRecord>) {
    let log = Scratch::path("log");
    let options = Options {
        log: Some(LogWriter::create(&log.0).expect("a new log")),
        ..Options::default()
    };
    let stream = Stream {
        log_ios: true,
        ..stream
    };
    let outcome = run(target, &workload(vec![stream]), &Control::new(), options);
    let outcome = outcome.expect("a run without errors");
    let mut ios = logged_ios(&log.0);
    ios.sort_by_key(|io| io.submit_ns);
    (outcome, ios)
}

fn logged_ios(path: &Path) -> Vec<IoRecord> {
    let mut reader = LogReader::open(path).expect("a log");
    let mut ios = Vec::new();
    while let Some(columns) = reader.next_ios().expect("a whole log") {
        let ops = [Op::Read, Op::Write, Op::Trim];
        ios.extend((0..columns.len()).map(|i| IoRecord {
            op: ops[usize::from(columns.op[i])],
            offset: columns.offset[i],
            length: columns.length[i],
            submit_ns: columns.submit_ns[i],
            latency_ns: columns.latency_ns[i],
            intended_ns: columns.intended_ns[i],
        }));
    }
    ios
}
