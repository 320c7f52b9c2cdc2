//! The append log: what a kill, a full disk or a flipped bit leaves of it.

use std::fs::{self, File, OpenOptions};
use std::io::Cursor;
use std::path::{Path, PathBuf};

use metrics::log::{Frame, FrameType, HEADER_BYTES, LogEnd};
use metrics::{
    Collector, CollectorSpec, IoColumns, IoRecord, LogError, LogReader, LogWriter, Measurement,
    Pacing, Recorder, StartStamp, StreamSpec, WorkerFacts, read_log,
};
use serde_json::json;
use workload::Op;

/// A folder of this test's own, removed at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("ssdlab-metrics-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn streams() -> Vec<StreamSpec> {
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

/// A small run of two streams with everything in it: ramp, empty rows, failures, drops, per-I/O
/// columns.
fn run(path: &Path, ramp_ns: u64, keep: bool) -> Measurement {
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

fn io(i: u64) -> IoRecord {
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

/// All good frames, and how the log ends.
fn frames(bytes: &[u8]) -> (Vec<Frame>, LogEnd) {
    let mut reader = LogReader::new(Cursor::new(bytes), "in memory");
    let mut frames = Vec::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        frames.push(frame);
    }
    (frames, reader.end().unwrap())
}

#[test]
fn a_log_gives_the_same_measurement_back() {
    let scratch = Scratch::new("same");
    for (name, ramp_ns, keep) in [
        ("plain", 0, false),
        ("ramp", 2_000, false),
        ("kept", 1_500, true),
    ] {
        let path = scratch.path(name);
        let measurement = run(&path, ramp_ns, keep);
        let contents = read_log(&path, keep).unwrap();
        assert_eq!(contents.measurement, measurement, "{name}");
        assert_eq!((contents.torn, contents.end), (false, LogEnd::Clean));
        assert_eq!(contents.header, json!({"step": 7}));
        assert_eq!(measurement.footer, json!({"cursors": [1, 2]}));
        assert!(measurement.complete);
        assert_eq!(measurement.interval_histograms.is_empty(), !keep);
    }
}

#[test]
fn a_result_that_a_row_ended_comes_back_with_its_overshoot() {
    let scratch = Scratch::new("cut");
    let path = scratch.path("log");
    let log = Some(LogWriter::create(&path).unwrap());
    let streams = vec![StreamSpec {
        name: "s".into(),
        pacing: Pacing::BackToBack,
        log_ios: false,
    }];
    let collector = Collector::new(CollectorSpec {
        log,
        ..CollectorSpec::new(1_000, streams, 1)
    })
    .unwrap();
    let mut recorder = Recorder::new(&collector, 0, 0);
    for i in 0..5 {
        recorder.submitted(1, i * 900);
        recorder.completed(Op::Read, 512, 0, i * 900, i * 900 + 800);
    }
    collector.close_rows().unwrap();
    collector.truncate_after(1).unwrap();
    recorder.finish(4_500, &WorkerFacts::default());
    let measurement = collector.into_measurement();
    assert_eq!(
        (measurement.overshoot.ios, measurement.measured_ns),
        (3, 2_000)
    );
    assert_eq!(read_log(&path, false).unwrap().measurement, measurement);
}

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

/// A torn log holds the rows that were written before, and their exact totals.
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
fn per_io_columns_come_back() {
    let scratch = Scratch::new("ios");
    let path = scratch.path("log");
    run(&path, 0, false);
    let mut reader = LogReader::open(&path).unwrap();
    let mut expected = IoColumns::with_capacity(0, 0, 0);
    (0..6).for_each(|i| expected.push(&io(i)));
    let columns = reader.next_ios().unwrap().unwrap();
    assert_eq!((columns.stream, columns.participant), (0, 0));
    assert_eq!(columns.offset, expected.offset);
    assert_eq!(columns, expected);
    assert_eq!(reader.next_ios(), Ok(None));
}

#[test]
fn many_ios_are_kept_in_bounded_memory_even_if_nobody_closes_rows() {
    const IOS: u64 = 600_000;
    let scratch = Scratch::new("many");
    let (path, io_path) = (scratch.path("log"), scratch.path("ios"));
    let spec = CollectorSpec {
        log: Some(LogWriter::create(&path).unwrap()),
        io_log: Some(LogWriter::create(&io_path).unwrap()),
        ..CollectorSpec::new(1_000_000_000, streams()[..1].to_vec(), 1)
    };
    let collector = Collector::new(spec).unwrap();
    let mut recorder = Recorder::new(&collector, 0, 0);
    for i in 0..IOS {
        recorder.log_io(&io(i));
    }
    assert!(
        fs::metadata(&io_path).unwrap().len() > 37 * 500_000,
        "a full queue is written out by the worker"
    );
    recorder.finish(1, &WorkerFacts::default());
    assert_eq!(collector.into_measurement().log_error, None);
    let mut reader = LogReader::open(&io_path).unwrap();
    let mut offsets = Vec::new();
    while let Some(columns) = reader.next_ios().unwrap() {
        offsets.extend(columns.offset);
    }
    assert!(offsets.into_iter().eq((0..IOS).map(|i| i << 20)));
    assert_eq!(
        LogReader::open(&path).unwrap().next_ios(),
        Ok(None),
        "they are in their own log only"
    );
}

#[test]
fn a_full_disk_is_told_once_and_loses_nothing_measured() {
    let full = || {
        let file = OpenOptions::new().append(true).open("/dev/full").unwrap();
        LogWriter::from_file(file, "run.log")
    };
    let no_space = LogError::NoSpace {
        path: "run.log".into(),
    };
    assert_eq!(full().append(FrameType::Row, b"").unwrap_err(), no_space);
    assert!(no_space.to_string().contains("free some space"));
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
    // A pipe whose reader goes away is the portable way to make later writes fail.
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
        .append(FrameType::Header, br#"{"format": 3, "anything": "else"}"#)
        .unwrap();
    assert_eq!(
        read_log(&newer, false),
        Err(LogError::NewerFormat {
            path: newer.clone(),
            found: 3,
            known: 2
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

/// CRC-32 bit by bit, to check the format and not the library by itself.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 * (crc & 1))
        })
    })
}

/// Format version 2, byte by byte, one frame a line: a change here must come with a new version
/// number.
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
        include_str!("golden/log-v2.hex"),
        "the bytes of a log have changed"
    );
}

/// What the first version wrote is read as ever; what it did not know is zero.
#[test]
fn logs_of_the_first_version_are_read() {
    let scratch = Scratch::new("first");
    let (old, new) = (scratch.path("old"), scratch.path("new"));
    let digits = include_str!("golden/log-v1.hex").replace('\n', "");
    let bytes: Vec<u8> = (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect();
    fs::write(&old, bytes).unwrap();
    run(&new, 2_000, false);
    let [old, new] = [old, new].map(|path| read_log(path, false).unwrap().measurement);
    assert!(old.complete);
    assert_eq!((old.rows, old.elapsed_ns), (new.rows, new.elapsed_ns));
    assert_eq!(old.workers.busy_ns, 0);
    assert!(new.workers.busy_ns > 0);
}
