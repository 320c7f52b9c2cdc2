//! The format, byte by byte, and files that are refused because they are not logs.

use std::fs;

use metrics::log::{FrameType, HEADER_BYTES, LogEnd};
use metrics::{
    Collector, CollectorSpec, Command, LogError, LogWriter, Recorder, WorkerFacts, read_log,
};

use crate::log::small_run::{Scratch, frames, run, streams};

#[test]
fn what_is_no_log_of_this_version_is_refused() {
    let scratch = Scratch::new("refuse");
    let missing = scratch.path("missing");
    assert!(matches!(
        read_log(&missing, false),
        Err(LogError::Io { errno: Some(2), .. })
    ));
    let text = scratch.path("text");
    fs::write(&text, "a,b,c\n1,2,3\n and more than sixteen bytes").unwrap();
    assert_eq!(
        read_log(&text, false),
        Err(LogError::NoHeader { path: text })
    );
    let newer = scratch.path("newer");
    let mut writer = LogWriter::create(&newer).unwrap();
    writer
        .append(FrameType::Header, br#"{"format": 4, "anything": "else"}"#)
        .unwrap();
    assert_eq!(
        read_log(&newer, false),
        Err(LogError::NewerFormat {
            path: newer.clone(),
            found: 4,
            known: 3
        })
    );
    assert!(matches!(
        LogWriter::create(&newer),
        Err(LogError::Io {
            action: "create",
            errno: Some(17),
            ..
        })
    ));
    let wrong = scratch.path("wrong");
    run(&wrong, 0, false);
    LogWriter::reopen(&wrong)
        .unwrap()
        .0
        .append(FrameType::Row, b"\xff")
        .unwrap();
    assert_eq!(
        read_log(&wrong, false).unwrap_err(),
        LogError::Malformed {
            path: wrong,
            frame_type: FrameType::Row
        }
    );
}

#[test]
fn totals_that_contradict_the_intervals_are_refused() {
    let scratch = Scratch::new("contradict");
    let path = scratch.path("log");
    run(&path, 0, false);
    let (all, _) = frames(&fs::read(&path).unwrap());
    let forged = scratch.path("forged");
    let mut writer = LogWriter::create(&forged).unwrap();
    let first_interval = all
        .iter()
        .position(|frame| frame.frame_type() == Some(FrameType::IntervalHistogram));
    for (i, frame) in all.iter().enumerate() {
        if Some(i) != first_interval {
            writer
                .append(frame.frame_type().unwrap(), &frame.payload)
                .unwrap();
        }
    }
    assert_eq!(
        read_log(&forged, false),
        Err(LogError::Inconsistent { path: forged })
    );
}

#[test]
fn frames_of_later_versions_are_passed_over() {
    let mut bytes = Vec::new();
    bytes.extend(*b"sLG1");
    bytes.extend(999u16.to_le_bytes());
    bytes.extend([0, 0, 1, 0, 0, 0]);
    let checked = [&bytes[4..], b"x".as_slice()].concat();
    bytes.extend(crc32(&checked).to_le_bytes());
    bytes.push(b'x');
    let (read, end) = frames(&bytes);
    assert_eq!(
        (read[0].code, read[0].frame_type(), end),
        (999, None, LogEnd::Clean)
    );
}

/// CRC-32 bit by bit, so that the format is not checked with the library that writes it.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 * (crc & 1))
        })
    })
}

/// Format version 3, byte by byte, one frame a line. A change of the golden file needs a new
/// version number.
#[test]
fn the_format_is_that_of_the_golden_file() {
    let scratch = Scratch::new("golden");
    let path = scratch.path("log");
    run(&path, 2_000, false);
    let bytes = fs::read(&path).unwrap();
    let mut rest = bytes.as_slice();
    let mut written = String::new();
    for frame in frames(&bytes).0 {
        let (frame, more) = rest.split_at(HEADER_BYTES + frame.payload.len());
        written.extend(
            frame
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .chain(["\n".to_owned()]),
        );
        rest = more;
    }
    assert_eq!(
        written,
        include_str!("../../golden/log-v3.hex"),
        "the bytes of a log have changed"
    );
}

fn bytes_of(digits: &str) -> Vec<u8> {
    let digits = digits.replace('\n', "");
    let pairs = (0..digits.len()).step_by(2);
    pairs
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

/// Logs of earlier versions stay readable; what version 1 did not know is zero.
#[test]
fn logs_of_earlier_versions_are_read() {
    let scratch = Scratch::new("earlier");
    let new = scratch.path("new");
    run(&new, 2_000, false);
    let new = read_log(new, false).unwrap().measurement;
    let versions = [
        (include_str!("../../golden/log-v1.hex"), 0),
        (include_str!("../../golden/log-v2.hex"), new.workers.busy_ns),
    ];
    for (digits, busy_ns) in versions {
        let old = scratch.path("old");
        fs::write(&old, bytes_of(digits)).unwrap();
        let old = read_log(old, false).unwrap().measurement;
        assert!(old.complete);
        assert_eq!((&old.rows, old.elapsed_ns), (&new.rows, new.elapsed_ns));
        assert_eq!(old.workers.busy_ns, busy_ns);
    }
}

#[test]
fn flushes_are_read_back_as_they_were_counted() {
    let scratch = Scratch::new("flushes");
    let path = scratch.path("log");
    let spec = CollectorSpec {
        keep_interval_histograms: true,
        log: Some(LogWriter::create(&path).unwrap()),
        ..CollectorSpec::new(1_000, streams(), 1)
    };
    let collector = Collector::new(spec).unwrap();
    let mut recorder = Recorder::new(&collector, 0, 0);
    for end_ns in [300, 900, 2_500] {
        recorder.flushed(end_ns - 200, end_ns);
    }
    recorder.flush_failed(5, 2_600, 2_700);
    recorder.finish(2_700, &WorkerFacts::default());
    let written = collector.into_measurement();
    let flush = &written.streams[0].tally.flush;
    assert_eq!((flush.done, flush.failed, flush.service.count()), (3, 1, 3));
    assert_eq!(written.failures[0].op, Command::Flush);
    assert_eq!(read_log(&path, true).unwrap().measurement, written);
}
