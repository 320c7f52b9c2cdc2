//! A recording is replayed exactly: each I/O, its place in the sequence and its time, whatever the
//! length of the file.

use std::path::{Path, PathBuf};

use crate::workloads::{blocks, dues, ios, stream, workload};
use proptest::prelude::*;
use workload::recording::{MAGIC, Record, Recording, RecordingError};
use workload::spec::{Arrival, Engine, Ops, Pattern, Span, Stop, Stream};
use workload::{Io, Op, Plan};

/// Changes a stream so that it cannot replay the recording.
type Change<'a> = &'a dyn Fn(&mut Stream);

/// A file that is removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn of(name: &str, records: &[Record]) -> Self {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(records.iter().flat_map(|record| record.to_bytes()));
        Self::holding(name, &bytes)
    }

    fn holding(name: &str, bytes: &[u8]) -> Self {
        let name = format!("ssdlab-recording-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn record(due_ns: u64, op: Op, offset: u64, length: u32) -> Record {
    let io = Io { op, offset, length };
    Record { due_ns, io }
}

/// Returns several chunks of I/Os whose fields all depend on their index.
fn long() -> Vec<Record> {
    let ops = [Op::Read, Op::Write, Op::Read, Op::Trim];
    let one = |n: u64| {
        let length = 512 * (1 + n % 9) as u32;
        record(n * n / 3, ops[n as usize % 4], n * 7 * 512, length)
    };
    (0..5000).map(one).collect()
}

/// Returns the stream that replays a file, built from the file's facts.
fn replay(path: &Path, arrival: Arrival) -> Stream {
    let opened = Recording::open(path).unwrap();
    let facts = opened.facts();
    let mut sizes = vec![(facts.unit_bytes, 1)];
    if facts.longest_bytes != facts.unit_bytes {
        sizes.push((facts.longest_bytes, 1));
    }
    let unit = u64::from(facts.unit_bytes);
    Stream {
        ops: Ops::Recorded {
            reads: facts.reads,
            writes: facts.writes,
            trims: facts.trims,
        },
        block: blocks(&sizes),
        pattern: Pattern::Recorded {
            path: path.to_str().unwrap().to_owned(),
            digest: facts.digest.clone(),
        },
        span: Span {
            start: 0,
            length: facts.end.next_multiple_of(unit),
        },
        engine: Engine::Uring,
        depth: 4,
        arrival,
        ..stream()
    }
}

const TIMED: Arrival = Arrival::Recorded {
    backlog_ns: 1_000_000_000,
};
const AT_ONCE: Arrival = Arrival::Closed { think_ns: 0 };

fn plan_of(stream: Stream) -> Result<Plan, String> {
    Plan::new(&workload(1, stream)).map_err(|error| error.to_string())
}

#[test]
fn every_record_comes_once_in_order_and_at_its_time() {
    let records = long();
    let file = Scratch::of("long", &records);
    for arrival in [TIMED, AT_ONCE] {
        let plan = plan_of(replay(file.path(), arrival)).unwrap();
        let replayed = plan.stream(0);
        assert_eq!((replayed.sources(), replayed.quota(0).ios), (1, 5000));
        let wanted: Vec<Io> = records.iter().map(|record| record.io).collect();
        assert_eq!(ios(&plan, 0, records.len()), wanted);
        assert_eq!(replayed.schedule(0).is_some(), arrival == TIMED);
    }
    let plan = plan_of(replay(file.path(), TIMED)).unwrap();
    let mut wanted: Vec<u64> = records.iter().map(|record| record.due_ns).collect();
    wanted.extend([u64::MAX; 2]);
    assert_eq!(
        dues(&plan, 0, records.len() + 2),
        wanted,
        "nothing is due behind the end"
    );
}

#[test]
fn a_reader_that_looks_ahead_of_the_end_begins_anew() {
    let records = long();
    let file = Scratch::of("ahead", &records);
    let plan = plan_of(replay(file.path(), AT_ONCE)).unwrap();
    let drawn = ios(&plan, 0, records.len() + 40);
    assert_eq!(drawn[records.len()..], drawn[..40]);
}

#[test]
fn a_bound_in_bytes_counts_each_io_with_its_own_length() {
    let file = Scratch::of("bytes", &long());
    let stop = Stop {
        bytes: Some(10_000),
        ios: None,
        time_ns: None,
        span_once: false,
    };
    let stream = Stream {
        stop,
        ..replay(file.path(), TIMED)
    };
    let quota = plan_of(stream).unwrap().stream(0).quota(0);
    assert_eq!((quota.ios, quota.bytes), (5000, 10_000));
}

#[test]
fn facts_are_sums_and_the_digest_is_of_every_byte() {
    let records = [
        record(0, Op::Read, 8192, 4096),
        record(5, Op::Write, 0, 16_384),
        record(5, Op::Trim, 1 << 20, 8192),
    ];
    let file = Scratch::of("facts", &records);
    let facts = Recording::open(file.path()).unwrap().facts().clone();
    assert_eq!((facts.reads, facts.writes, facts.trims), (1, 1, 1));
    assert_eq!(
        (facts.read_bytes, facts.write_bytes, facts.trim_bytes),
        (4096, 16_384, 8192)
    );
    assert_eq!((facts.duration_ns, facts.end), (5, (1 << 20) + 8192));
    assert_eq!((facts.longest_bytes, facts.unit_bytes), (16_384, 4096));
    // Compared with an independent implementation: b3sum of the same bytes.
    assert_eq!(facts.digest, GOLDEN);
    let mut other = records;
    other[2].due_ns += 1;
    let other = Scratch::of("other", &other);
    assert_ne!(
        Recording::open(other.path()).unwrap().facts().digest,
        GOLDEN
    );
}

/// BLAKE3 of the three records above. It must never change, because results store it.
const GOLDEN: &str = "ece0834f7dd9650c44d441d540df00f638726a8dd9c3155794f00404ae7afc2a";

#[test]
fn what_is_no_recording_is_told_with_the_record() {
    let opened = |file: &Scratch| Recording::open(file.path()).unwrap_err();
    let text = Scratch::holding("text", b"fio version 2 iolog\n");
    assert!(matches!(opened(&text), RecordingError::NotOne { .. }));
    let mut cut = MAGIC.to_vec();
    cut.extend([0; 23]);
    let cut = Scratch::holding("cut", &cut);
    assert!(matches!(opened(&cut), RecordingError::NotOne { .. }));
    let empty = Scratch::of("empty", &[]);
    assert!(matches!(opened(&empty), RecordingError::Empty { .. }));
    let good = record(7, Op::Read, 0, 512);
    let wrong = [
        (record(6, Op::Read, 0, 512), "before"),
        (record(7, Op::Read, 0, 0), "length"),
        (record(7, Op::Read, 100, 512), "sectors"),
        (record(7, Op::Read, u64::MAX - 511, 1024), "beyond"),
    ];
    for (record, word) in wrong {
        let told = opened(&Scratch::of("wrong", &[good, record])).to_string();
        assert!(told.contains("record 1 ") && told.contains(word), "{told}");
    }
    let mut bytes = [MAGIC.to_vec(), good.to_bytes().to_vec()].concat();
    bytes[MAGIC.len() + 20] = 3;
    let unknown = opened(&Scratch::holding("unknown", &bytes)).to_string();
    assert!(
        unknown.contains("record 0 ") && unknown.contains("operation"),
        "{unknown}"
    );
}

#[test]
fn a_stream_that_says_something_else_of_its_recording_is_refused() {
    let file = Scratch::of("else", &long());
    let right = || replay(file.path(), TIMED);
    let told = |change: &dyn Fn(&mut Stream)| {
        let mut stream = right();
        change(&mut stream);
        plan_of(stream).expect_err("another recording")
    };
    let digest = |stream: &mut Stream| {
        stream.pattern = Pattern::Recorded {
            path: file.path().to_str().unwrap().to_owned(),
            digest: "00".repeat(32),
        };
    };
    let gone = |stream: &mut Stream| {
        stream.pattern = Pattern::Recorded {
            path: "/nowhere/at/all".into(),
            digest: String::new(),
        };
    };
    let ops = Ops::Recorded {
        reads: 1,
        writes: 1,
        trims: 1,
    };
    let cases: [(Change<'_>, &str); 8] = [
        (&digest, "pattern.recorded.digest"),
        (&gone, "pattern.recorded.path"),
        (&|s| s.ops = ops, "ops.recorded"),
        (&|s| s.block = blocks(&[(512, 1)]), "block"),
        (&|s| s.span.length = 512 * 1000, "span.length"),
        (&|s| s.ops = Ops::Trim, "ops"),
        (&|s| s.pattern = Pattern::Uniform, "ops"),
        (&|s| (s.workers, s.arrival) = (2, AT_ONCE), "workers"),
    ];
    for (change, field) in cases {
        let error = told(change);
        assert!(error.starts_with(&format!("streams[0].{field}")), "{error}");
    }
    assert!(plan_of(right()).is_ok());
}

proptest! {
    #[test]
    fn a_record_is_read_as_it_was_written(due_ns: u64, offset: u64, length: u32, op in 0_usize..3) {
        let op = [Op::Read, Op::Write, Op::Trim][op];
        let record = record(due_ns, op, offset, length);
        prop_assert_eq!(Record::parse(&record.to_bytes()), Some(record));
    }
}
