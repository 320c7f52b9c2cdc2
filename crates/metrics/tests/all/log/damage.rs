//! Logs that were cut short, damaged, or could not be written.

use std::fs::{self, File, OpenOptions};
use std::path::Path;

use metrics::log::{FrameType, HEADER_BYTES, LogEnd};
use metrics::{
    Collector, CollectorSpec, LogError, LogWriter, Measurement, Pacing, Recorder, StreamSpec,
    WorkerFacts, read_log,
};
use workload::Op;

use crate::log::small_run::{Scratch, frames, run, streams};

#[test]
fn cut_at_any_byte_the_frames_before_are_whole() {
    let scratch = Scratch::new("tear");
    let path = scratch.path("log");
    let whole = run(&path, 0, false);
    let bytes = fs::read(&path).unwrap();
    let (all, end) = frames(&bytes);
    assert_eq!(end, LogEnd::Clean);
    let mut frame_ends = vec![0];
    for frame in &all {
        frame_ends.push(frame_ends.last().unwrap() + HEADER_BYTES + frame.payload.len());
    }
    assert_eq!(frame_ends.last(), Some(&bytes.len()));
    let torn_path = scratch.path("torn");
    for cut in 0..=bytes.len() {
        let before = frame_ends
            .iter()
            .filter(|&&frame_end| frame_end <= cut)
            .count()
            - 1;
        let (read, end) = frames(&bytes[..cut]);
        assert_eq!(read, all[..before], "cut at byte {cut}");
        assert_eq!(
            end == LogEnd::Clean,
            frame_ends.contains(&cut),
            "cut at byte {cut}"
        );

        fs::write(&torn_path, &bytes[..cut]).unwrap();
        check_torn(&torn_path, before, cut == bytes.len(), &whole);
        let (mut writer, reported) = LogWriter::reopen(&torn_path).unwrap();
        assert_eq!(reported, end);
        writer.append(FrameType::Failures, b"[]").unwrap();
        let (reopened, end) = frames(&fs::read(&torn_path).unwrap());
        assert_eq!(
            (reopened.len(), end),
            (before + 1, LogEnd::Clean),
            "cut at byte {cut}"
        );
        assert_eq!(reopened[..before], all[..before]);
    }
}

/// Checks that a torn log holds the rows that were written before the tear, and their exact totals.
fn check_torn(path: &Path, frames: usize, complete: bool, whole: &Measurement) {
    if frames == 0 {
        assert_eq!(
            read_log(path, false),
            Err(LogError::NoHeader { path: path.into() })
        );
        return;
    }
    let contents = read_log(path, false).unwrap();
    assert_eq!(
        (contents.torn, contents.measurement.complete),
        (!complete, complete)
    );
    let rows = contents.measurement.rows.len();
    assert_eq!(
        contents.measurement.rows.index[..],
        whole.rows.index[..rows]
    );
    for (stream, columns) in contents.measurement.streams.iter().zip(&whole.rows.streams) {
        for op in metrics::OPS {
            let done = columns
                .op(op)
                .map_or(0, |columns| columns.done[..rows].iter().sum());
            let tally = stream.tally.op(op);
            assert_eq!((tally.done, tally.service.count()), (done, done));
        }
    }
}

#[test]
fn any_flipped_byte_is_found() {
    let scratch = Scratch::new("flip");
    let path = scratch.path("log");
    run(&path, 0, false);
    let bytes = fs::read(&path).unwrap();
    let (all, _) = frames(&bytes);
    let mut frame_end = 0;
    let mut damaged = bytes.clone();
    for (i, frame) in all.iter().enumerate() {
        let start = frame_end;
        frame_end += HEADER_BYTES + frame.payload.len();
        for at in start..frame_end {
            for flip in [0x01, 0x80, 0xff] {
                damaged[at] = bytes[at] ^ flip;
                let (read, end) = frames(&damaged);
                assert_eq!(read, all[..i], "byte {at} flipped by {flip:#x}");
                assert_ne!(end, LogEnd::Clean);
            }
            damaged[at] = bytes[at];
        }
    }
}

#[test]
fn a_full_disk_is_told_once_and_loses_nothing_measured() {
    let full = || {
        let file = OpenOptions::new().append(true).open("/dev/full").unwrap();
        LogWriter::from_file(file, "run.log")
    };
    let no_space = LogError::NoSpace {
        path: "run.log".into(),
        errno: Some(28), // ENOSPC
    };
    assert_eq!(no_space.errno(), Some(28));
    assert_eq!(full().append(FrameType::Row, b"").unwrap_err(), no_space);
    assert!(no_space.to_string().ends_with("its file system is full"));
    let closed = || streams()[..1].to_vec();
    let spec = CollectorSpec {
        log: Some(full()),
        ..CollectorSpec::new(1_000, closed(), 1)
    };
    assert_eq!(Collector::new(spec).unwrap_err(), no_space.into());
}

#[test]
fn a_log_that_fails_in_mid_run_lets_the_run_go_on() {
    let scratch = Scratch::new("midrun");
    let path = scratch.path("log");
    // A pipe whose reader is gone is the portable way to make later writes fail.
    let (pipe_reader, pipe_writer) = std::io::pipe().unwrap();
    let file = File::from(std::os::fd::OwnedFd::from(pipe_writer));
    let streams = vec![StreamSpec {
        name: "s".into(),
        pacing: Pacing::BackToBack,
        log_ios: false,
    }];
    let log = Some(LogWriter::from_file(file, &path));
    let collector = Collector::new(CollectorSpec {
        log,
        ..CollectorSpec::new(1_000, streams, 1)
    })
    .unwrap();
    drop(pipe_reader);
    let mut recorder = Recorder::new(&collector, 0, 0);
    recorder.submitted(1, 0);
    recorder.completed(Op::Read, 512, 0, 0, 900);
    recorder.advance(1_100);
    assert_eq!(collector.close_rows().unwrap().len(), 1);
    recorder.advance(2_100);
    let error = collector.close_rows().unwrap_err();
    assert!(
        matches!(
            &error,
            LogError::Io {
                action: "append to",
                errno: Some(32),
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(
        collector.close_rows().unwrap().len(),
        1,
        "the row that the failed call would have given"
    );
    assert_eq!(collector.sync_log(), Ok(()));
    recorder.finish(2_500, &WorkerFacts::default());
    let measurement = collector.into_measurement();
    assert_eq!(measurement.log_error, Some(error));
    assert_eq!(
        (measurement.rows.len(), measurement.op(Op::Read).done),
        (3, 1)
    );
}
