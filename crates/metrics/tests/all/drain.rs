//! A stop by time: I/O that completes after it is in the counts, but in no rate.

use std::sync::Arc;

use metrics::{Collector, CollectorSpec, Pacing, Recorder, StreamSpec, WorkerFacts};
use workload::Op;

fn read(recorder: &mut Recorder, submit_ns: u64, at_ns: u64) {
    recorder.submitted(1, submit_ns);
    recorder.completed(Op::Read, 4096, submit_ns, submit_ns, at_ns);
}

fn stopping_at(stop_ns: u64) -> (Arc<Collector>, Recorder) {
    let stream = StreamSpec {
        name: "s".into(),
        pacing: Pacing::BackToBack,
        log_ios: false,
    };
    let collector = Collector::new(CollectorSpec {
        stop_ns: Some(stop_ns),
        ..CollectorSpec::new(1_000, vec![stream], 1)
    })
    .unwrap();
    let recorder = Recorder::new(&collector, 0, 0);
    (collector, recorder)
}

#[test]
fn what_completes_after_a_stop_by_time_is_counted_and_in_no_rate() {
    let (collector, mut recorder) = stopping_at(2_500);
    // Three I/Os are always in flight, each for 300 ns. The last three return after the stop, ever
    // later.
    for at_ns in (0..2_400).step_by(300) {
        recorder.submitted(3, at_ns);
        for _ in 0..3 {
            recorder.completed(Op::Read, 4096, at_ns, at_ns, at_ns + 300);
        }
    }
    recorder.submitted(3, 2_400);
    for at_ns in [2_700, 3_600, 4_700] {
        recorder.completed(Op::Read, 4096, 2_400, 2_400, at_ns);
    }
    recorder.finish(4_700, &WorkerFacts::default());
    let rows = collector.close_rows().unwrap();
    let edges: Vec<(u64, u64)> = rows.iter().map(|r| (r.start_ns, r.end_ns())).collect();
    assert_eq!(
        edges,
        [
            (0, 1_000),
            (1_000, 2_000),
            (2_000, 2_500),
            (2_500, 3_500),
            (3_500, 4_500),
            (4_500, 4_700)
        ]
    );
    assert_eq!(
        rows.iter().map(|row| row.partial).collect::<Vec<_>>(),
        [false, false, true, true, true, true],
        "a row of the drain is no interval of the measurement, however long"
    );
    let measurement = collector.into_measurement();
    assert_eq!(
        (measurement.measured_ns, measurement.drained_ns),
        (2_500, 2_200)
    );
    assert_eq!(measurement.elapsed_ns, 4_700);
    assert_eq!(measurement.op(Op::Read).done, 27, "every I/O is counted");
    assert_eq!(measurement.op(Op::Read).service.max_ns(), Some(2_300));
    assert_eq!(measurement.in_window(Op::Read), (24, 24 * 4096));
    assert_eq!(measurement.streams[0].drained.done, [3, 0, 0]);
    assert!((measurement.in_flight_mean() - 3.0).abs() < 1e-12);
}

#[test]
fn where_nothing_completes_before_the_stop_the_drain_is_all_there_is() {
    let (collector, mut recorder) = stopping_at(1_000);
    read(&mut recorder, 10, 2_000);
    recorder.finish(2_000, &WorkerFacts::default());
    let measurement = collector.into_measurement();
    assert_eq!(
        (measurement.measured_ns, measurement.drained_ns),
        (2_000, 0)
    );
    assert_eq!(measurement.in_window(Op::Read), (1, 4096));
}

#[test]
fn a_run_that_ends_before_its_stop_has_no_drain() {
    let (collector, mut recorder) = stopping_at(5_000);
    read(&mut recorder, 0, 1_200);
    recorder.finish(1_200, &WorkerFacts::default());
    let measurement = collector.into_measurement();
    assert_eq!(
        (measurement.measured_ns, measurement.drained_ns),
        (1_200, 0)
    );
}
