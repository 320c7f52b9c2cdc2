//! Rows on one clock: edges, ramp, the deciding row, progress, and what the collector refuses.

use std::sync::Arc;

use metrics::{
    Collector, CollectorError, CollectorSpec, IoRecord, Pacing, Recorder, Row, StreamSpec,
    WorkerFacts,
};
use workload::Op;

const INTERVAL_NS: u64 = 1_000;

fn spec(pacing: Pacing, participants: u32) -> CollectorSpec {
    let stream = StreamSpec {
        name: "s".into(),
        pacing,
        log_ios: false,
    };
    CollectorSpec::new(INTERVAL_NS, vec![stream], participants)
}

fn single(pacing: Pacing) -> (Arc<Collector>, Recorder) {
    let collector = Collector::new(spec(pacing, 1)).unwrap();
    let recorder = Recorder::new(&collector, 0, 0);
    (collector, recorder)
}

fn read(recorder: &mut Recorder, submit_ns: u64, at_ns: u64) {
    recorder.submitted(1, submit_ns);
    recorder.completed(Op::Read, 4096, submit_ns, submit_ns, at_ns);
}

fn done(rows: &[Row]) -> Vec<u64> {
    rows.iter()
        .map(|row| row.streams[0].op(Op::Read).done)
        .collect()
}

#[test]
fn a_stall_gives_rows_of_zeros_with_the_stalled_io_in_flight() {
    let (collector, mut recorder) = single(Pacing::BackToBack);
    read(&mut recorder, 0, 400);
    read(&mut recorder, 500, 5_250);
    recorder.finish(5_250, &WorkerFacts::default());
    let rows = collector.close_rows().unwrap();
    assert_eq!(done(&rows), [1, 0, 0, 0, 0, 1]);
    let areas: Vec<u64> = rows
        .iter()
        .map(|row| row.streams[0].in_flight_area_ns)
        .collect();
    assert_eq!(
        areas,
        [900, 1_000, 1_000, 1_000, 1_000, 250],
        "split exactly at the edges"
    );
    assert!(rows.iter().all(|row| row.streams[0].in_flight_max == 1));
    assert_eq!(
        rows.iter().map(|row| row.partial).collect::<Vec<_>>(),
        [false, false, false, false, false, true]
    );
    assert_eq!(
        (rows[5].start_ns, rows[5].duration_ns, rows[5].end_ns()),
        (5_000, 250, 5_250)
    );
    assert!((rows[0].in_flight_mean(0) - 0.9).abs() < 1e-12);
    assert_eq!(rows[5].streams[0].op(Op::Read).service.max_ns, 4_750);
}

#[test]
fn an_io_that_completes_on_the_edge_belongs_to_the_interval_that_ends_there() {
    let (collector, mut recorder) = single(Pacing::BackToBack);
    read(&mut recorder, 0, 0);
    read(&mut recorder, 10, 1_000);
    read(&mut recorder, 1_000, 1_001);
    read(&mut recorder, 1_500, 2_000);
    recorder.finish(2_000, &WorkerFacts::default());
    let rows = collector.close_rows().unwrap();
    assert_eq!(
        done(&rows),
        [2, 2],
        "and a run that ends on an edge has no empty row behind it"
    );
    assert!(!rows[1].partial);
    assert_eq!(collector.into_measurement().elapsed_ns, 2_000);
}

#[test]
fn the_edge_of_an_interval_longer_than_a_second_is_no_different() {
    let mut long = spec(Pacing::BackToBack, 1);
    long.interval_ns = 3_000_000_000;
    let collector = Collector::new(long).unwrap();
    let mut recorder = Recorder::new(&collector, 0, 0);
    read(&mut recorder, 100, 3_000_000_000);
    read(&mut recorder, 3_000_000_000, 3_000_000_001);
    recorder.finish(3_000_000_001, &WorkerFacts::default());
    assert_eq!(done(&collector.close_rows().unwrap()), [1, 1]);
}

#[test]
fn rows_wait_for_the_slowest_worker_and_come_in_order() {
    let collector = Collector::new(spec(Pacing::BackToBack, 2)).unwrap();
    let (mut fast, mut slow) = (
        Recorder::new(&collector, 0, 0),
        Recorder::new(&collector, 0, 1),
    );
    for start_ns in [0, 1_000, 2_000, 3_000] {
        read(&mut fast, start_ns, start_ns + 10);
    }
    assert!(
        collector.close_rows().unwrap().is_empty(),
        "the slow worker may still add to row 0"
    );
    read(&mut slow, 0, 1_700);
    assert_eq!(done(&collector.close_rows().unwrap()), [1]);
    slow.advance(3_001);
    assert_eq!(
        done(&collector.close_rows().unwrap()),
        [2, 1],
        "a worker that only waits lets rows close"
    );
    assert_eq!(collector.snapshot().working, 2);
    slow.finish(3_001, &WorkerFacts::default());
    fast.finish(3_010, &WorkerFacts::default());
    let rows = collector.close_rows().unwrap();
    assert_eq!((rows[0].index, done(&rows)), (3, vec![1]));
    assert_eq!(collector.snapshot().last_row, rows.last().cloned());
    assert!(collector.close_rows().unwrap().is_empty());
    assert_eq!(collector.into_measurement().rows.index, [0, 1, 2, 3]);
}

#[test]
fn streams_may_end_at_different_times() {
    let stream = |name: &str| StreamSpec {
        name: name.into(),
        pacing: Pacing::BackToBack,
        log_ios: false,
    };
    let collector = Collector::new(CollectorSpec::new(
        INTERVAL_NS,
        vec![stream("a"), stream("b")],
        2,
    ))
    .unwrap();
    let (mut a, mut b) = (
        Recorder::new(&collector, 0, 0),
        Recorder::new(&collector, 1, 1),
    );
    read(&mut a, 0, 300);
    a.finish(1_300, &WorkerFacts::default());
    read(&mut b, 0, 2_300);
    b.finish(2_500, &WorkerFacts::default());
    let measurement = collector.into_measurement();
    assert_eq!(measurement.streams[0].measured_ns, 1_300);
    assert_eq!(measurement.streams[1].measured_ns, 2_500);
    assert_eq!(
        (measurement.measured_ns, measurement.elapsed_ns),
        (2_500, 2_500)
    );
    let in_a = measurement.rows.streams[0].op(Op::Read).unwrap();
    assert_eq!(in_a.done, [1, 0, 0]);
    assert_eq!(measurement.op(Op::Read).done, 2);
    assert!((measurement.streams[1].in_flight_mean() - 2_300.0 / 2_500.0).abs() < 1e-12);
    assert!((measurement.in_flight_mean() - 2_600.0 / 2_500.0).abs() < 1e-12);
}

#[test]
fn ramp_rows_are_flagged_and_not_in_the_totals() {
    let collector = Collector::new(CollectorSpec {
        ramp_ns: 2_500,
        ..spec(Pacing::BackToBack, 1)
    })
    .unwrap();
    let mut recorder = Recorder::new(&collector, 0, 0);
    for start_ns in [100, 1_100, 2_100, 2_600, 3_100] {
        read(&mut recorder, start_ns, start_ns + 50);
    }
    recorder.finish(3_400, &WorkerFacts::default());
    let rows = collector.close_rows().unwrap();
    assert_eq!(
        rows.iter().map(|row| row.ramp).collect::<Vec<_>>(),
        [true, true, false, false]
    );
    let measurement = collector.into_measurement();
    assert_eq!(
        measurement.rows.streams[0].op(Op::Read).unwrap().done,
        [1, 1, 2, 1]
    );
    assert_eq!(measurement.op(Op::Read).done, 3);
    assert_eq!(
        measurement.measured_ns, 1_400,
        "from the end of the last ramp row"
    );
    assert_eq!(measurement.elapsed_ns, 3_400);
}

#[test]
fn a_run_within_its_ramp_has_rows_and_no_totals() {
    let collector = Collector::new(CollectorSpec {
        ramp_ns: 5_000,
        ..spec(Pacing::BackToBack, 1)
    })
    .unwrap();
    let mut recorder = Recorder::new(&collector, 0, 0);
    read(&mut recorder, 0, 1_500);
    recorder.finish(1_500, &WorkerFacts::default());
    let measurement = collector.into_measurement();
    assert_eq!((measurement.rows.len(), measurement.measured_ns), (2, 0));
    assert!(measurement.op(Op::Read).is_empty());
}

#[test]
fn the_deciding_row_ends_the_result_and_the_rest_is_overshoot() {
    let (collector, mut recorder) = single(Pacing::BackToBack);
    for row in 0..5 {
        read(&mut recorder, row * 1_000 + 1, row * 1_000 + 900);
    }
    // Four rows have closed before the owner looked; the second can still decide.
    let rows = collector.close_rows().unwrap();
    assert_eq!(rows.len(), 4);
    collector.truncate_after(1).unwrap();
    recorder.finish(4_950, &WorkerFacts::default());
    assert!(
        collector.close_rows().unwrap().is_empty(),
        "nothing is announced beyond the deciding row"
    );
    let measurement = collector.into_measurement();
    assert_eq!(measurement.decided_row, Some(1));
    assert_eq!(measurement.op(Op::Read).done, 2);
    assert_eq!(measurement.rows.len(), 2);
    assert_eq!(measurement.measured_ns, 2_000);
    let overshoot = measurement.overshoot;
    assert_eq!(
        (overshoot.ios, overshoot.bytes, overshoot.ns),
        (3, 3 * 4_096, 2_950)
    );
}

#[test]
fn a_row_in_the_totals_cannot_decide_any_more() {
    let (collector, mut recorder) = single(Pacing::BackToBack);
    read(&mut recorder, 1, 2_500);
    assert_eq!(collector.close_rows().unwrap().len(), 2);
    read(&mut recorder, 2_600, 4_500);
    assert_eq!(collector.close_rows().unwrap().len(), 2);
    assert_eq!(
        collector.truncate_after(0),
        Err(CollectorError::RowSettled { row: 0, settled: 1 })
    );
    assert_eq!(collector.truncate_after(1), Ok(()));
}

#[test]
fn a_measurement_taken_while_workers_work_is_not_complete() {
    let (collector, mut recorder) = single(Pacing::BackToBack);
    read(&mut recorder, 0, 1_500);
    let measurement = Arc::clone(&collector).into_measurement();
    assert!(!measurement.complete);
    assert_eq!(measurement.rows.len(), 1);
}

#[test]
fn progress_is_seen_within_long_intervals() {
    let mut long = spec(Pacing::BackToBack, 1);
    long.interval_ns = 3_600_000_000_000;
    let collector = Collector::new(long).unwrap();
    let mut recorder = Recorder::new(&collector, 0, 0);
    read(&mut recorder, 0, 1_000);
    read(&mut recorder, 1_000, 1_000_000_001);
    recorder.submitted(1, 1_000_000_002);
    assert_eq!(collector.snapshot().counts.ios, 1);
    recorder.advance(2_100_000_000);
    let counts = collector.snapshot().counts;
    assert_eq!((counts.ios, counts.bytes, counts.in_flight), (2, 8_192, 1));
    assert_eq!(collector.snapshot().last_row, None);
}

#[test]
fn misuse_is_refused() {
    let mut no_interval = spec(Pacing::BackToBack, 1);
    no_interval.interval_ns = 0;
    assert_eq!(
        Collector::new(no_interval).unwrap_err(),
        CollectorError::NoInterval
    );
    let mut no_log = spec(Pacing::BackToBack, 1);
    no_log.streams[0].log_ios = true;
    assert_eq!(
        Collector::new(no_log).unwrap_err(),
        CollectorError::NoLogForIos { stream: "s".into() }
    );
}

#[test]
#[should_panic(expected = "participant 0 has a recorder already")]
fn a_participant_has_one_recorder() {
    let (collector, _recorder) = single(Pacing::BackToBack);
    let _second = Recorder::new(&collector, 0, 0);
}

#[test]
fn asking_for_no_columns_keeps_none() {
    let (collector, mut recorder) = single(Pacing::BackToBack);
    recorder.log_io(&IoRecord {
        op: Op::Read,
        offset: 0,
        length: 512,
        submit_ns: 0,
        latency_ns: 1,
        intended_ns: 0,
    });
    recorder.finish(1, &WorkerFacts::default());
    assert_eq!(collector.into_measurement().log_error, None);
}

#[test]
fn a_day_of_rows_stays_small() {
    const ROWS: u64 = 86_400;
    let (collector, mut recorder) = single(Pacing::Scheduled);
    for row in 0..ROWS {
        for op in [Op::Read, Op::Write] {
            recorder.submitted(1, row * INTERVAL_NS + 10);
            recorder.completed(
                op,
                4_096,
                row * INTERVAL_NS,
                row * INTERVAL_NS + 10,
                row * INTERVAL_NS + 90,
            );
        }
        if row % 10 == 0 {
            collector.close_rows().unwrap();
        }
    }
    recorder.finish(ROWS * INTERVAL_NS, &WorkerFacts::default());
    let rows = collector.into_measurement().rows;
    assert_eq!(rows.len() as u64, ROWS);
    let stream = &rows.streams[0];
    let latency = |columns: &metrics::LatencyRows| {
        [
            &columns.p50_ns,
            &columns.p99_ns,
            &columns.p99_9_ns,
            &columns.max_ns,
        ]
        .map(Vec::capacity)
        .iter()
        .sum::<usize>()
            * 8
    };
    let ops: usize = stream
        .ops
        .iter()
        .flatten()
        .map(|op| {
            let counts = [
                &op.done,
                &op.failed,
                &op.dropped,
                &op.late,
                &op.bytes,
                &op.lateness_max_ns,
            ];
            counts.map(Vec::capacity).iter().sum::<usize>() * 8
                + latency(&op.service)
                + op.response.as_ref().map_or(0, latency)
        })
        .sum();
    let clock = [&rows.index, &rows.start_ns, &rows.duration_ns]
        .map(Vec::capacity)
        .iter()
        .sum::<usize>()
        * 8;
    let bytes = clock
        + rows.flags.capacity()
        + stream.in_flight_area_ns.capacity() * 8
        + stream.in_flight_max.capacity() * 4
        + ops;
    // A row of a mixed scheduled stream takes 261 bytes; the spare capacity of vectors at most
    // doubles it.
    assert!(
        bytes as u64 <= 2 * 261 * ROWS,
        "{} bytes a row",
        bytes as u64 / ROWS
    );
    assert!(bytes / 24 <= 5_000_000 / 2, "{} bytes an hour", bytes / 24);
}
