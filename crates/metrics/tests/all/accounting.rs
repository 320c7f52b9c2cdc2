//! How each I/O ends up in the totals: done, failed, dropped, late, in flight. Facts of workers.

use std::sync::Arc;

use metrics::{
    Collector, CollectorSpec, Command, LATE_NS, Measurement, Pacing, Recorder, StreamSpec,
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

#[test]
fn every_requested_io_is_done_failed_or_dropped() {
    let (collector, mut recorder) = single(Pacing::Scheduled);
    recorder.submitted(3, 2_000_100);
    recorder.completed(Op::Write, 8_192, 2_000_000, 2_000_100, 2_000_900);
    recorder.completed(
        Op::Write,
        8_192,
        2_000_100 - LATE_NS - 1,
        2_000_100,
        2_001_000,
    );
    recorder.failed(Op::Write, 5, 65_536, 8_192, 2_000_050, 2_000_100, 2_001_100);
    recorder.dropped(Op::Write, 1_000_000, 2_001_200);
    recorder.finish(2_001_200, &WorkerFacts::default());
    let measurement = collector.into_measurement();
    let tally = measurement.op(Op::Write);
    assert_eq!(
        (
            tally.requested(),
            tally.done,
            tally.failed,
            tally.dropped,
            tally.late
        ),
        (4, 2, 1, 1, 1)
    );
    assert_eq!(tally.bytes, 16_384);
    assert_eq!(tally.errors.iter().collect::<Vec<_>>(), [(&5, &1)]);
    assert_eq!(tally.service.count(), 2, "the failed one is apart");
    assert_eq!(tally.failed_latency.max_ns(), Some(1_000));
    assert_eq!(
        tally.response().count(),
        3,
        "done, and the dropped one with at least what it had waited"
    );
    assert_eq!(tally.response().max_ns(), Some(1_001_200));
    assert_eq!(
        tally.response().sum_ns(),
        u128::from(900 + (LATE_NS + 901) + 1_001_200)
    );
    assert_eq!(tally.lateness.max_ns(), Some(LATE_NS + 1));
    let failure = &measurement.failures[0];
    assert_eq!(
        (failure.op, failure.errno, failure.offset, failure.length),
        (Command::Write, 5, 65_536, 8_192)
    );
    assert_eq!(
        (failure.intended_ns, failure.submit_ns, failure.at_ns),
        (2_000_050, 2_000_100, 2_001_100)
    );
}

#[test]
fn exactly_one_millisecond_is_not_late() {
    let (collector, mut recorder) = single(Pacing::Scheduled);
    recorder.submitted(1, LATE_NS);
    recorder.completed(Op::Read, 512, 0, LATE_NS, LATE_NS + 5);
    recorder.finish(LATE_NS + 5, &WorkerFacts::default());
    let tally = collector.into_measurement().op(Op::Read);
    assert_eq!((tally.late, tally.lateness.max_ns()), (0, Some(LATE_NS)));
}

#[test]
fn back_to_back_records_once_and_reads_it_as_both() {
    let (collector, mut recorder) = single(Pacing::BackToBack);
    read(&mut recorder, 0, 77);
    recorder.finish(77, &WorkerFacts::default());
    let measurement = collector.into_measurement();
    let tally = measurement.op(Op::Read);
    assert!(tally.response.is_none());
    assert_eq!(tally.response(), &tally.service);
    assert!(tally.lateness.is_empty());
    let columns = measurement.rows.streams[0].op(Op::Read).unwrap();
    assert!(columns.response.is_none());
    assert_eq!(columns.response().max_ns, [77]);
}

#[test]
fn think_time_keeps_response_apart_and_is_never_late() {
    let (collector, mut recorder) = single(Pacing::ThinkTime);
    recorder.submitted(1, 5_000_000);
    recorder.completed(Op::Read, 512, 1_000_000, 5_000_000, 5_000_100);
    recorder.finish(5_000_100, &WorkerFacts::default());
    let tally = collector.into_measurement().op(Op::Read);
    assert_eq!(
        (tally.service.max_ns(), tally.response().max_ns()),
        (Some(100), Some(4_000_100))
    );
    assert_eq!((tally.late, tally.lateness.max_ns()), (0, Some(4_000_000)));
}

#[test]
fn streams_of_both_kinds_sum_to_one_response() {
    let stream = |pacing| StreamSpec {
        name: format!("{pacing:?}"),
        pacing,
        log_ios: false,
    };
    for pacings in [
        [Pacing::BackToBack, Pacing::Scheduled],
        [Pacing::Scheduled, Pacing::BackToBack],
    ] {
        let spec = CollectorSpec::new(INTERVAL_NS, pacings.map(stream).to_vec(), 2);
        let collector = Collector::new(spec).unwrap();
        for (i, _) in pacings.iter().enumerate() {
            let mut recorder = Recorder::new(&collector, i, i as u32);
            recorder.submitted(1, 50);
            recorder.completed(Op::Read, 512, 10, 50, 150);
            recorder.finish(200, &WorkerFacts::default());
        }
        let tally = collector.into_measurement().op(Op::Read);
        assert_eq!(tally.service.sum_ns(), 200);
        assert_eq!(tally.response().sum_ns(), 100 + 140, "{pacings:?}");
    }
}

fn overlapping(pacing: Pacing) -> Measurement {
    let collector = Collector::new(spec(pacing, 2)).unwrap();
    let (mut a, mut b) = (
        Recorder::new(&collector, 0, 0),
        Recorder::new(&collector, 0, 1),
    );
    // `a` holds 3 until 200 and `b` holds 4 from 300: at most 4 at once, but 3 + 4 as a sum of the
    // workers' maxima.
    a.submitted(3, 100);
    (0..3).for_each(|_| a.completed(Op::Read, 512, 100, 100, 200));
    b.submitted(4, 300);
    b.advance(1_100);
    a.advance(1_100);
    (0..4).for_each(|_| b.completed(Op::Read, 512, 300, 300, 1_200));
    a.finish(1_500, &WorkerFacts::default());
    b.finish(1_500, &WorkerFacts::default());
    collector.into_measurement()
}

#[test]
fn most_in_flight_is_summed_in_closed_loops_and_counted_in_scheduled_ones() {
    let closed = overlapping(Pacing::BackToBack);
    assert_eq!(closed.rows.streams[0].in_flight_max, [7, 4]);
    assert_eq!(closed.streams[0].tally.in_flight_max, 7);
    let scheduled = overlapping(Pacing::Scheduled);
    assert_eq!(
        scheduled.rows.streams[0].in_flight_max,
        [4, 4],
        "those of before count at the start of an interval"
    );
    let area = 3 * 100 + 4 * 900;
    assert_eq!(scheduled.streams[0].tally.in_flight_area_ns, area);
    assert!((scheduled.in_flight_mean() - area as f64 / 1_500.0).abs() < 1e-12);
}

#[test]
fn the_first_failures_are_kept_in_full_whoever_reports_first() {
    let collector = Collector::new(spec(Pacing::BackToBack, 2)).unwrap();
    let mut recorders = [0, 1].map(|participant| Recorder::new(&collector, 0, participant));
    for i in 0..40u64 {
        let recorder = &mut recorders[(i % 2) as usize];
        recorder.submitted(1, 10 * i);
        recorder.failed(
            Op::Read,
            if i % 4 == 0 { 61 } else { 5 },
            i,
            512,
            10 * i,
            10 * i,
            10 * i + 5,
        );
    }
    let [even, odd] = recorders;
    odd.finish(900, &WorkerFacts::default());
    even.finish(900, &WorkerFacts::default());
    let measurement = collector.into_measurement();
    let offsets: Vec<u64> = measurement
        .failures
        .iter()
        .map(|failure| failure.offset)
        .collect();
    assert_eq!(offsets, (0..16).collect::<Vec<_>>());
    assert_eq!(
        measurement
            .op(Op::Read)
            .errors
            .into_iter()
            .collect::<Vec<_>>(),
        [(5, 30), (61, 10)]
    );
}

#[test]
fn worker_facts_add_up() {
    let collector = Collector::new(spec(Pacing::BackToBack, 3)).unwrap();
    for (participant, first_ns) in [(0, Some(700)), (1, Some(40)), (2, None)] {
        let mut recorder = Recorder::new(&collector, 0, participant);
        if let Some(first_ns) = first_ns {
            read(&mut recorder, first_ns, 800);
            read(&mut recorder, 800, 900);
        }
        recorder.batch(u64::from(participant) * 10);
        let facts = WorkerFacts {
            user_cpu_ns: 5,
            run_queue_wait_ns: 7,
            start_lateness_ns: u64::from(participant),
            ..WorkerFacts::default()
        };
        recorder.finish(1_000, &facts);
    }
    let measurement = collector.into_measurement();
    let workers = measurement.workers;
    assert_eq!(
        (
            workers.workers,
            workers.never_issued,
            workers.start_skew_ns()
        ),
        (3, 1, Some(660))
    );
    assert_eq!(
        (
            workers.user_cpu_ns,
            workers.run_queue_wait_ns,
            workers.start_lateness_max_ns
        ),
        (15, 21, 2)
    );
    assert_eq!(
        (measurement.batches.batches, measurement.batches.max_ns),
        (3, 20)
    );
    assert_eq!(measurement.batches.mean_ns(), Some(10.0));
}

#[test]
fn a_worker_that_breaks_off_holds_up_nobody_and_is_told_of() {
    let collector = Collector::new(spec(Pacing::Scheduled, 2)).unwrap();
    let (mut a, mut b) = (
        Recorder::new(&collector, 0, 0),
        Recorder::new(&collector, 0, 1),
    );
    a.submitted(2, 100);
    a.completed(Op::Read, 512, 100, 100, 200);
    drop(a);
    read(&mut b, 300, 2_400);
    assert_eq!(collector.close_rows().unwrap().len(), 2);
    assert_eq!(
        collector.snapshot().counts.in_flight,
        1,
        "b's, when it handed over"
    );
    b.finish(2_400, &WorkerFacts::default());
    assert_eq!(collector.snapshot().counts.in_flight, 0);
    let measurement = collector.into_measurement();
    assert!(measurement.complete);
    assert_eq!(measurement.workers.unfinished_ios, 1);
    assert_eq!(measurement.op(Op::Read).done, 2);
    assert_eq!(
        measurement.rows.streams[0].in_flight_max[2], 1,
        "the lost one is not in flight for ever"
    );
}

#[test]
fn a_stamp_that_goes_back_is_taken_as_the_last() {
    let (collector, mut recorder) = single(Pacing::BackToBack);
    recorder.submitted(2, 500);
    recorder.completed(Op::Read, 512, 500, 500, 900);
    recorder.completed(Op::Read, 512, 500, 500, 800);
    recorder.finish(0, &WorkerFacts::default());
    let measurement = collector.into_measurement();
    assert_eq!(
        (
            measurement.elapsed_ns,
            measurement.streams[0].tally.in_flight_area_ns
        ),
        (900, 800)
    );
}
