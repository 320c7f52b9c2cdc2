//! What may be a target, and what a workload may do to it.

use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Command;

use crate::scratch::{MIB, Scratch, ios, reads, try_run};
use engine::{Access, EngineError, Kind, Target};
use workload::spec::{Engine, Ops, Span, Stream};

fn error_of(path: &Path) -> EngineError {
    Target::open(path, Access::default()).expect_err("must be refused")
}

#[test]
fn a_file_tells_its_size_and_what_it_must_be_aligned_to() {
    let file = Scratch::file(MIB + 100);
    let target = file.open();
    assert_eq!(
        (target.kind(), target.size_bytes()),
        (Kind::File, MIB + 100)
    );
    assert!(target.logical_block_bytes().is_power_of_two());
    assert!(target.writable() && !target.exclusive());
    target.flush().expect("a flush");
}

#[test]
fn only_devices_and_files_are_drives() {
    for (path, what) in [("/tmp", "a directory"), ("/dev/null", "a character device")] {
        let error = error_of(Path::new(path));
        assert!(matches!(error, EngineError::NotADrive { found, .. } if found == what));
    }
    let link = Scratch::path("link");
    std::os::unix::fs::symlink("/dev/null", &link.0).expect("a link");
    let error = error_of(&link.0);
    assert!(
        matches!(error, EngineError::NotADrive { found, .. } if found == "a symbolic link"),
        "what a link leads to may have changed since it was looked at"
    );
    let error = error_of(Path::new("/nowhere/at/all"));
    assert_eq!(error.errno(), Some(libc::ENOENT));
    assert!(error.advice().contains("size"), "{}", error.advice());
}

#[test]
fn a_pipe_in_place_of_a_file_is_refused_and_not_waited_for() {
    let pipe = Scratch::path("pipe");
    make_pipe(&pipe.0);
    let error = error_of(&pipe.0);
    assert!(matches!(error, EngineError::NotADrive { found, .. } if found == "a pipe"));
}

#[test]
fn a_descriptor_is_shared_and_not_taken_away() {
    let file = Scratch::file(MIB);
    let write = Access {
        write: true,
        exclusive: true,
    };
    let opened = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&file.0)
        .expect("the file");
    let target =
        Target::from_descriptor(opened.as_raw_fd(), Path::new("label"), write).expect("it");
    assert_eq!(target.path(), Path::new("label"));
    assert!(
        target.writable() && !target.exclusive(),
        "no file is claimed"
    );
    drop(target);
    assert_eq!(opened.metadata().expect("still open").len(), MIB);

    let reading = std::fs::File::open(&file.0).expect("the file");
    let error =
        Target::from_descriptor(reading.as_raw_fd(), &file.0, write).expect_err("no writes");
    assert_eq!(error.errno(), Some(libc::EBADF));
    let error = Target::from_descriptor(-1, &file.0, write).expect_err("nothing");
    assert_eq!(error.errno(), Some(libc::EBADF));
}

fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().expect("mkfifo");
    assert!(made.success());
}

#[test]
fn a_span_beyond_the_end_is_refused() {
    let file = Scratch::file(MIB);
    let stream = Stream {
        span: Span {
            start: 4096,
            length: MIB,
        },
        ..reads(Engine::Sync, 1, 1)
    };
    let error = try_run(&file.open(), vec![stream]).expect_err("beyond the end");
    assert!(matches!(
        error,
        EngineError::BeyondEnd { end, size_bytes: MIB, .. } if end == MIB + 4096
    ));
}

#[test]
fn writing_needs_a_target_opened_for_it() {
    let file = Scratch::file(MIB);
    let target = Target::open(&file.0, Access::default()).expect("the file");
    for ops in [Ops::Mix { read_pct: 99 }, Ops::Trim] {
        let stream = Stream {
            ops,
            ..reads(Engine::Sync, 1, 1)
        };
        let error = try_run(&target, vec![stream]).expect_err("opened for reading");
        assert!(matches!(error, EngineError::ReadOnly { .. }));
    }
}

#[test]
fn buffered_io_need_not_be_aligned_to_the_drive() {
    let file = Scratch::file(MIB);
    let target = file.open();
    let stream = Stream {
        block: vec![crate::scratch::block(512)],
        direct: false,
        stop: ios(50),
        ..reads(Engine::Uring, 1, 4)
    };
    let measured = try_run(&target, vec![stream]).expect("a run").measurement;
    assert_eq!(measured.op(workload::Op::Read).done, 50);
}

#[test]
fn a_run_goes_on_in_the_file_it_was_given_though_the_path_is_gone() {
    let file = Scratch::file(MIB);
    let target = file.open();
    std::fs::remove_file(&file.0).expect("the file");
    let stream = Stream {
        stop: ios(50),
        ..reads(Engine::Sync, 1, 1)
    };
    assert!(try_run(&target, vec![stream]).is_ok());
}

#[test]
#[ignore = "needs root and zram; `cargo test -- --include-ignored` runs it"]
fn a_claimed_device_is_busy_to_others_and_takes_trims() {
    let number = std::fs::read_to_string("/sys/class/zram-control/hot_add").expect("root and zram");
    let device = ZramDevice(number.trim().to_owned());
    device.set("disksize", "64M");
    let write = Access {
        write: true,
        exclusive: true,
    };
    let target = Target::open(&device.path(), write).expect("the device");
    assert_eq!(
        (target.kind(), target.size_bytes()),
        (Kind::Block, 64 * MIB)
    );
    assert_eq!(target.logical_block_bytes(), 4096);
    assert!(target.exclusive());
    let error = Target::open(&device.path(), write).expect_err("claimed");
    assert_eq!(error.errno(), Some(libc::EBUSY));

    for stream in crate::scratch::both(4) {
        for ops in [
            Ops::Mix { read_pct: 0 },
            Ops::Trim,
            Ops::Mix { read_pct: 100 },
        ] {
            let stream = Stream {
                ops,
                stop: ios(200),
                ..stream.clone()
            };
            let measured = try_run(&target, vec![stream]).expect("a run").measurement;
            let done: u64 = metrics::OPS.iter().map(|&op| measured.op(op).done).sum();
            assert_eq!(done, 200);
        }
    }
    let unaligned = Stream {
        block: vec![crate::scratch::block(512)],
        ..reads(Engine::Sync, 1, 1)
    };
    let error = try_run(&target, vec![unaligned.clone()]).expect_err("smaller than a block");
    assert!(matches!(
        error,
        EngineError::Unaligned {
            field: "block",
            value: 512,
            multiple_of: 4096,
            ..
        }
    ));
    let buffered = Stream {
        ops: Ops::Mix { read_pct: 0 },
        direct: false,
        stop: ios(50),
        ..unaligned
    };
    let measured = try_run(&target, vec![buffered]).expect("the cache takes any size");
    assert_eq!(measured.measurement.op(workload::Op::Write).done, 50);
}

/// A compressed RAM disk for the tests alone.
struct ZramDevice(String);

impl ZramDevice {
    fn path(&self) -> std::path::PathBuf {
        format!("/dev/zram{}", self.0).into()
    }

    fn set(&self, attribute: &str, value: &str) {
        let path = format!("/sys/block/zram{}/{attribute}", self.0);
        std::fs::write(path, value).expect("a zram attribute");
    }
}

impl Drop for ZramDevice {
    fn drop(&mut self) {
        // The kernel closes a ring's files a moment after the ring is gone; until then the device is busy.
        let removed = || std::fs::write("/sys/class/zram-control/hot_remove", &self.0).is_ok();
        let _ = (0..100).any(|_| {
            let gone = removed();
            if !gone {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            gone
        });
    }
}
