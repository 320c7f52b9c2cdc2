//! Failures are counted and reported; a hopeless run ends and keeps what it measured.

use std::fs::OpenOptions;
use std::path::Path;
use std::process::Command;

use crate::scratch::{MIB, Scratch, both, ios, reads, try_run, workload};
use engine::{Access, EngineError, IoFailure, Target};
use workload::Op;
use workload::spec::{Engine, Ops, Pattern, Span, Stop, Stream};

fn io_failure(result: Result<engine::Outcome, EngineError>) -> IoFailure {
    match result {
        Err(EngineError::Io(failure)) => *failure,
        other => panic!("an I/O failure was expected, not {other:?}"),
    }
}

/// Returns a file of 4 MiB that loses its upper half after it was opened.
fn shrunken() -> (Scratch, Target) {
    let file = Scratch::file(4 * MIB);
    let target = file.open();
    let handle = OpenOptions::new()
        .write(true)
        .open(&file.0)
        .expect("the file");
    handle.set_len(2 * MIB).expect("a shorter file");
    (file, target)
}

#[test]
fn short_reads_are_counted_and_the_run_goes_on() {
    for stream in both(2) {
        let (_file, target) = shrunken();
        let stream = Stream {
            span: Span {
                start: 0,
                length: 4 * MIB,
            },
            stop: ios(400),
            ..stream
        };
        let measured = try_run(&target, vec![stream]).expect("a run").measurement;
        let tally = measured.op(Op::Read);
        assert_eq!(tally.requested(), 400);
        assert!(tally.done > 100 && tally.failed > 100);
        assert_eq!(tally.errors.get(&0), Some(&tally.failed));
        assert_eq!(tally.failed_latency.count(), tally.failed);
        assert!(
            measured
                .failures
                .iter()
                .all(|f| f.offset >= 2 * MIB && f.length == 4096)
        );
    }
}

#[test]
fn a_run_that_goes_past_failures_does_all_that_was_asked() {
    for stream in both(1) {
        let (_file, target) = shrunken();
        let stream = Stream {
            span: Span {
                start: 0,
                length: 4 * MIB,
            },
            pattern: Pattern::Sequential { cursors: None },
            stop: ios(1024),
            ..stream
        };
        let options = engine::Options {
            past_failures: true,
            ..engine::Options::default()
        };
        let control = engine::Control::new();
        let outcome = engine::run(&target, &workload(vec![stream]), &control, options);
        let tally = outcome.expect("a run").measurement.op(Op::Read);
        assert_eq!((tally.done, tally.failed), (512, 512));
    }
}

#[test]
fn a_hundred_failures_in_a_row_end_the_run_with_what_was_measured() {
    for stream in both(1) {
        let (file, target) = shrunken();
        let stream = Stream {
            span: Span {
                start: 0,
                length: 4 * MIB,
            },
            pattern: Pattern::Sequential { cursors: None },
            ..stream
        };
        let failure = io_failure(try_run(&target, vec![stream]));
        assert_eq!((failure.errno, failure.operation), (0, "read"));
        assert_eq!(failure.device, file.0);
        assert_eq!(failure.offset, 2 * MIB + 99 * 4096);
        assert!(
            failure.to_string().contains("the transfer was short"),
            "{failure}"
        );
        let measured = failure.measured.expect("a measurement").measurement;
        assert_eq!(measured.op(Op::Read).done, 512);
        assert_eq!(measured.op(Op::Read).failed, 100);
        assert_eq!(measured.workers.unfinished_ios, 0);
    }
}

/// A file system of 1 MiB in memory; `mount` returns `None` where mounting is not allowed.
struct SmallFileSystem(Scratch);

impl SmallFileSystem {
    fn mount() -> Option<Self> {
        let folder = Scratch::path("small");
        std::fs::create_dir(&folder.0).expect("a folder");
        let small = Self(folder);
        let options = ["-t", "tmpfs", "-o", "size=1m", "none"];
        let status = Command::new("mount")
            .args(options)
            .arg(small.path())
            .status();
        status.is_ok_and(|s| s.success()).then_some(small)
    }

    fn path(&self) -> &Path {
        &self.0.0
    }
}

impl Drop for SmallFileSystem {
    fn drop(&mut self) {
        // Unmounts lazily, because the kernel lets go of a loop device a moment after it was detached.
        let _ = Command::new("umount")
            .arg("--lazy")
            .arg(self.path())
            .status();
        let _ = std::fs::remove_dir(self.path());
    }
}

#[test]
#[ignore = "needs root, to mount a small file system; `cargo test -- --include-ignored` runs it"]
fn a_full_file_system_ends_the_run_with_its_errno() {
    for stream in both(1) {
        let small = SmallFileSystem::mount().expect("root");
        let path = small.path().join("file");
        let file = std::fs::File::create(&path).expect("a file");
        file.set_len(4 * MIB).expect("a sparse file");
        let access = Access {
            write: true,
            exclusive: false,
        };
        let target = Target::open(&path, access).expect("the file");
        let stream = Stream {
            ops: Ops::Mix { read_pct: 0 },
            span: Span {
                start: 0,
                length: 4 * MIB,
            },
            pattern: Pattern::Sequential { cursors: None },
            stop: Stop {
                span_once: true,
                ..stream.stop
            },
            ..stream
        };
        let failure = io_failure(try_run(&target, vec![stream]));
        assert_eq!((failure.errno, failure.operation), (libc::ENOSPC, "write"));
        let measured = failure.measured.expect("a measurement").measurement;
        assert!(measured.op(Op::Write).done > 200);
        drop((target, file));
    }
}

/// A loop device over a file of 4 MiB on a file system with room for 1 MiB.
struct SmallLoop {
    device: String,
    _small: SmallFileSystem,
}

impl SmallLoop {
    fn attach() -> Self {
        let small = SmallFileSystem::mount().expect("root");
        let path = small.path().join("file");
        let file = std::fs::File::create(&path).expect("a file");
        file.set_len(4 * MIB).expect("a sparse file");
        let attached = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(&path)
            .output();
        let told = attached.expect("losetup").stdout;
        let device = String::from_utf8(told).expect("a path").trim().to_owned();
        Self {
            device,
            _small: small,
        }
    }
}

impl Drop for SmallLoop {
    fn drop(&mut self) {
        let _ = Command::new("losetup")
            .args(["--detach", &self.device])
            .status();
    }
}

#[test]
#[ignore = "needs root, to mount a small file system; `cargo test -- --include-ignored` runs it"]
fn a_failed_flush_is_counted_and_ends_the_run() {
    for stream in both(1) {
        let small = SmallLoop::attach();
        let access = Access {
            write: true,
            exclusive: true,
        };
        let target = Target::open(Path::new(&small.device), access).expect("the device");
        let stream = Stream {
            ops: Ops::Mix { read_pct: 0 },
            span: Span {
                start: 0,
                length: 4 * MIB,
            },
            pattern: Pattern::Sequential { cursors: None },
            direct: false,
            flush_every: Some(64),
            stop: ios(1024),
            ..stream
        };
        let failure = io_failure(try_run(&target, vec![stream]));
        assert_eq!((failure.errno, failure.operation), (libc::EIO, "flush"));
        let begins = format!("flush of {} failed", small.device);
        assert!(failure.to_string().starts_with(&begins), "{failure}");
        let measured = failure.measured.expect("a measurement").measurement;
        let (flushes, writes) = (measured.flush(), measured.op(Op::Write).done);
        assert_eq!(
            (flushes.failed, flushes.errors.get(&libc::EIO)),
            (1, Some(&1))
        );
        assert_eq!(flushes.done, writes / 64 - 1);
        assert!((1..=4).contains(&flushes.done), "there is room for 1 MiB");
        assert_eq!(measured.failures[0].op, metrics::Command::Flush);
        drop((target, small));
    }
}

#[test]
fn buffers_beyond_the_bound_are_refused() {
    let file = Scratch::file(4 * MIB);
    let options = engine::Options {
        buffer_bytes_max: 63 * 4096,
        ..engine::Options::default()
    };
    let workload = crate::scratch::workload(vec![reads(Engine::Uring, 2, 32)]);
    let error = engine::run(&file.open(), &workload, &engine::Control::new(), options);
    assert!(matches!(
        error,
        Err(EngineError::Buffers {
            needed_bytes: 262_144,
            limit_bytes: 258_048
        })
    ));
}

#[test]
fn sync_has_one_io_in_flight() {
    let file = Scratch::file(4 * MIB);
    let error = try_run(&file.open(), vec![reads(Engine::Sync, 1, 2)]);
    match error {
        Err(EngineError::Spec(spec)) => assert_eq!(spec.field, "streams[0].depth"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn polling_a_file_without_poll_queues_is_unsupported() {
    let file = Scratch::file(4 * MIB);
    let stream = Stream {
        polled: true,
        stop: ios(10),
        ..reads(Engine::Uring, 1, 4)
    };
    // On a drive that can poll, the I/Os are done.
    match try_run(&file.open(), vec![stream]) {
        Err(EngineError::Unsupported { feature, advice }) => {
            assert_eq!(feature, "polling for completions");
            assert!(advice.contains("poll queues"));
        }
        Ok(outcome) => assert_eq!(outcome.measurement.op(Op::Read).done, 10),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_cpu_that_is_not_there_is_named() {
    let file = Scratch::file(4 * MIB);
    let stream = Stream {
        cpus: vec![0, 9999],
        stop: ios(1),
        ..reads(Engine::Sync, 1, 1)
    };
    let error = try_run(&file.open(), vec![stream]);
    assert!(matches!(error, Err(EngineError::Cpu { cpu: 9999 })));
}
