//! The append log: reading it back, what a kill, a full disk or a flipped bit leaves of it, and its
//! format.

mod damage;
mod format;
mod small_run;

use std::fs;

use metrics::log::LogEnd;
use metrics::{
    Collector, CollectorSpec, IoColumns, LogReader, LogWriter, Pacing, Recorder, StreamSpec,
    WorkerFacts, read_log,
};
use serde_json::json;
use small_run::{Scratch, io, run, streams};
use workload::Op;

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
