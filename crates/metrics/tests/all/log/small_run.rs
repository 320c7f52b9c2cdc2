//! A small logged run in a folder of its own, and the frames of its log.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use metrics::log::{Frame, LogEnd};
use metrics::{
    Collector, CollectorSpec, IoRecord, LogReader, LogWriter, Measurement, Pacing, Recorder,
    StartStamp, StreamSpec, WorkerFacts,
};
use serde_json::json;
use workload::Op;

/// A folder of one test, removed when dropped.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Creates the folder, named after the test.
    pub fn new(test: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("ssdlab-metrics-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns a back-to-back stream and a scheduled one.
pub fn streams() -> Vec<StreamSpec> {
    vec![
        StreamSpec {
            name: "closed".into(),
            pacing: Pacing::BackToBack,
            log_ios: true,
        },
        StreamSpec {
            name: "open".into(),
            pacing: Pacing::Scheduled,
            log_ios: false,
        },
    ]
}

/// Runs two streams with everything that a log can hold: ramp, empty rows, failures, drops, per-I/O
/// columns.
pub fn run(path: &Path, ramp_ns: u64, keep: bool) -> Measurement {
    let spec = CollectorSpec {
        ramp_ns,
        keep_interval_histograms: keep,
        log: Some(LogWriter::create(path).unwrap()),
        header: json!({"step": 7}),
        ..CollectorSpec::new(1_000, streams(), 2)
    };
    let collector = Collector::new(spec).unwrap();
    collector.started(StartStamp {
        monotonic_ns: 5_000,
        unix_ns: 1_700_000_000_000_000_000,
    });
    let (mut closed, mut open) = (
        Recorder::new(&collector, 0, 0),
        Recorder::new(&collector, 1, 1),
    );
    for i in 0..6 {
        let submit_ns = i * 700;
        closed.submitted(1, submit_ns);
        closed.completed(Op::Read, 4_096, submit_ns, submit_ns, submit_ns + 100 + i);
        closed.log_io(&io(i));
        open.submitted(1, submit_ns + 3);
        open.completed(Op::Write, 512, submit_ns, submit_ns + 3, submit_ns + 300);
    }
    closed.submitted(1, 4_300);
    closed.failed(Op::Read, 5, 8_192, 4_096, 4_300, 4_300, 4_400);
    open.dropped(Op::Trim, 100, 4_500);
    closed.advance(7_100);
    open.advance(7_100);
    collector.close_rows().unwrap();
    let facts = WorkerFacts {
        user_cpu_ns: 11,
        voluntary_switches: 3,
        ..WorkerFacts::default()
    };
    closed.finish(7_250, &facts);
    open.finish(7_250, &facts);
    collector.close_rows().unwrap();
    collector.set_footer(json!({"cursors": [1, 2]}));
    collector.into_measurement()
}

/// Returns the record of the i-th I/O of that run.
pub fn io(i: u64) -> IoRecord {
    let submit_ns = i * 700;
    IoRecord {
        op: Op::Read,
        offset: i << 20,
        length: 4_096,
        submit_ns,
        latency_ns: 100 + i,
        intended_ns: submit_ns,
    }
}

/// Returns all good frames, and how the log ends.
pub fn frames(bytes: &[u8]) -> (Vec<Frame>, LogEnd) {
    let mut reader = LogReader::new(Cursor::new(bytes), "in memory");
    let mut frames = Vec::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        frames.push(frame);
    }
    (frames, reader.end().unwrap())
}
