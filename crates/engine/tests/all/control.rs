//! Control of a run: stopping, judging rows, progress; I/O in flight is drained.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::scratch::{MIB, Scratch, both, ios, milliseconds, open_loop, workload};
use engine::{Control, Deadline, EngineError, Options, Outcome, Phase, run};
use metrics::Row;
use workload::Op;
use workload::spec::{Arrival, Process, Rate, Stream, Workload};

/// Runs an endless stream while `rein` controls it.
fn driven(stream: Stream, control: &Control, rein: impl FnOnce(&Control) + Send) -> Outcome {
    driven_as(&workload(vec![stream]), control, rein)
}

fn driven_as(
    workload: &Workload,
    control: &Control,
    rein: impl FnOnce(&Control) + Send,
) -> Outcome {
    let file = Scratch::file(4 * MIB);
    let target = file.open();
    thread::scope(|scope| {
        scope.spawn(|| rein(control));
        run(&target, workload, control, Options::default())
    })
    .expect("a run without errors")
}

fn wait_for_ios(control: &Control) {
    while control.progress().counts.ios == 0 {
        thread::yield_now();
    }
}

#[test]
fn a_stop_ends_an_endless_run_with_nothing_in_flight() {
    for stream in both(8) {
        let outcome = driven(stream, &Control::new(), |control| {
            wait_for_ios(control);
            assert_eq!(control.progress().phase, Phase::Measuring);
            control.stop();
        });
        let measured = outcome.measurement;
        assert!(measured.complete);
        assert_eq!(measured.workers.unfinished_ios, 0);
        assert_eq!(measured.op(Op::Read).failed, 0);
        assert!(measured.op(Op::Read).done > 0);
    }
}

#[test]
fn a_stop_wakes_sleepers_and_accounts_for_what_was_due() {
    for stream in both(2) {
        // The second arrival is an hour away.
        let arrival = Arrival::Open {
            process: Process::Even,
            rate: Rate { num: 1, den: 3600 },
            backlog_ns: 1_000_000_000,
        };
        let outcome = driven(Stream { arrival, ..stream }, &Control::new(), |control| {
            wait_for_ios(control);
            control.stop();
        });
        let tally = outcome.measurement.op(Op::Read);
        assert_eq!((tally.requested(), tally.done), (1, 1));
    }
}

#[test]
fn a_stop_before_the_start_runs_nothing() {
    for stream in both(2) {
        let control = Control::new();
        control.stop();
        let outcome = driven(stream, &control, |_| ());
        assert_eq!(outcome.measurement.op(Op::Read).requested(), 0);
    }
}

/// Judges rows in order until `last` is reached; returns all rows seen.
fn judge(control: &Control, last: u64) -> Vec<Row> {
    let mut seen: Vec<Row> = Vec::new();
    loop {
        let rows = control.take_rows();
        if rows.is_empty() {
            thread::yield_now();
            continue;
        }
        seen.extend(rows);
        let decided = seen.iter().any(|row| row.index >= last);
        control.verdict(decided.then_some(last));
        if decided {
            return seen;
        }
    }
}

#[test]
fn the_row_that_decides_is_the_last_of_the_result() {
    for stream in both(4) {
        let outcome = driven(stream, &Control::judging(), |control| {
            let seen = judge(control, 2);
            let indices: Vec<u64> = seen.iter().map(|row| row.index).collect();
            assert!(
                indices
                    .iter()
                    .enumerate()
                    .all(|(i, &index)| i as u64 == index)
            );
        });
        let measured = outcome.measurement;
        assert_eq!(measured.rows.index.last(), Some(&2));
        assert_eq!(measured.measured_ns, 3 * measured.interval_ns);
        let in_rows: u64 = measured.rows.streams[0].ops[0]
            .as_ref()
            .expect("reads")
            .done
            .iter()
            .sum();
        assert_eq!(in_rows, measured.op(Op::Read).done);
    }
}

#[test]
fn rows_are_judged_to_the_end_of_a_run_that_ends_by_itself() {
    for stream in both(4) {
        let stream = Stream {
            stop: ios(500),
            ..stream
        };
        // One row, however slow the host: the run ends long before the row would.
        let workload = Workload {
            interval_ns: 3_600_000_000_000,
            ..workload(vec![stream])
        };
        let outcome = driven_as(&workload, &Control::judging(), |control| {
            judge(control, 0);
        });
        assert_eq!(outcome.measurement.op(Op::Read).done, 500);
        assert_eq!(outcome.measurement.overshoot.ios, 0);
    }
}

#[test]
fn a_judge_who_gives_up_by_stopping_does_not_hold_the_run() {
    for stream in both(1) {
        let outcome = driven(stream, &Control::judging(), |control| {
            while control.take_rows().is_empty() {
                thread::yield_now();
            }
            control.stop();
        });
        assert!(outcome.measurement.complete);
    }
}

#[test]
fn a_stop_by_time_covers_the_time() {
    for stream in both(2) {
        let closed = Stream {
            stop: milliseconds(120),
            ..stream.clone()
        };
        let open = Stream {
            arrival: open_loop(Process::Even, 100, 1_000_000_000),
            ..closed.clone()
        };
        let elapsed = |stream| {
            driven(stream, &Control::new(), |_| ())
                .measurement
                .elapsed_ns
        };
        assert!(elapsed(closed) >= 120_000_000);
        assert!(elapsed(open) >= 110_000_000);
    }
}

/// Runs an endless stream that may go on for `time`, unless `rein` moves the deadline.
fn until_late(
    stream: Stream,
    time: Duration,
    rein: impl FnOnce(&Control, &Deadline) + Send,
) -> EngineError {
    let deadline = Arc::new(Deadline::after(time));
    let control = Control::new().until(Some(Arc::clone(&deadline)));
    let file = Scratch::file(4 * MIB);
    let target = file.open();
    thread::scope(|scope| {
        scope.spawn(|| rein(&control, &deadline));
        run(
            &target,
            &workload(vec![stream]),
            &control,
            Options::default(),
        )
    })
    .expect_err("its deadline passed")
}

#[test]
fn a_deadline_that_is_not_moved_ends_every_kind_of_loop() {
    let even = Arrival::Open {
        process: Process::Even,
        rate: Rate { num: 1000, den: 1 },
        backlog_ns: 1_000_000_000,
    };
    for arrival in [
        Arrival::Closed { think_ns: 0 },
        Arrival::Closed { think_ns: 100_000 },
        even,
    ] {
        for stream in both(2) {
            let stream = Stream { arrival, ..stream };
            let late = until_late(stream, Duration::from_millis(200), |_, _| ());
            assert!(matches!(late, EngineError::Overdue { .. }));
            let measured = late.into_measured().expect("what was measured").measurement;
            assert_eq!(measured.workers.unfinished_ios, 0);
            assert!(measured.op(Op::Read).done > 0);
        }
    }
}

#[test]
fn an_arrival_an_hour_away_does_not_outlast_its_deadline() {
    for stream in both(2) {
        let arrival = Arrival::Open {
            process: Process::Even,
            rate: Rate { num: 1, den: 3600 },
            backlog_ns: 1_000_000_000,
        };
        let late = until_late(
            Stream { arrival, ..stream },
            Duration::from_millis(200),
            |_, _| (),
        );
        let measured = late.into_measured().expect("what was measured").measurement;
        assert_eq!(measured.op(Op::Read).requested(), 1);
    }
}

#[test]
fn a_deadline_that_is_moved_on_lets_the_run_go_on() {
    for stream in both(2) {
        let late = until_late(stream, Duration::from_millis(300), |control, deadline| {
            wait_for_ios(control);
            deadline.push(Duration::from_secs(3600));
            while control.progress().elapsed_ns < 700_000_000 {
                thread::yield_now();
            }
            deadline.end();
        });
        let measured = late.into_measured().expect("what was measured").measurement;
        assert!(
            measured.elapsed_ns >= 700_000_000,
            "{}",
            measured.elapsed_ns
        );
    }
}

#[test]
fn nothing_is_issued_under_a_deadline_that_has_passed() {
    for stream in both(2) {
        let late = until_late(stream, Duration::ZERO, |_, _| ());
        let measured = late.into_measured().expect("what was measured").measurement;
        assert_eq!(measured.op(Op::Read).requested(), 0);
    }
}
