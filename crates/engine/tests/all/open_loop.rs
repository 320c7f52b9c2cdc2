//! An open loop accounts for every arrival that was due before its stop, however slow the drive or the host.

use crate::scratch::{
    MIB, MILLISECOND_NS, Scratch, both, ios, logged, measure, milliseconds, open_loop, reads,
};
use metrics::OpTally;
use workload::Op;
use workload::spec::{Arrival, Engine, Process, Stream};

const LONG_NS: u64 = 10_000 * MILLISECOND_NS;

fn total(stream: Stream) -> OpTally {
    measure(stream).measurement.op(Op::Read)
}

#[test]
fn every_arrival_before_the_stop_is_done_or_dropped() {
    for stream in both(4) {
        for process in [Process::Even, Process::Act6, Process::Act2019 { queues: 1 }] {
            let tally = total(Stream {
                arrival: open_loop(process, 2000, LONG_NS),
                stop: milliseconds(200),
                ..stream.clone()
            });
            assert_eq!(tally.requested(), 400, "{process:?}");
            assert_eq!((tally.dropped, tally.failed), (0, 0), "{process:?}");
            assert_eq!(tally.response().count(), 400);
        }
    }
}

#[test]
fn poisson_arrivals_are_the_same_for_the_same_seed() {
    let count = |stream: Stream| {
        total(Stream {
            arrival: open_loop(Process::Poisson, 5000, LONG_NS),
            stop: milliseconds(100),
            ..stream
        })
        .requested()
    };
    let [sync, uring] = both(8).map(count);
    assert_eq!(sync, uring);
    assert!(sync > 300, "{sync}");
}

#[test]
fn intended_starts_are_the_schedules() {
    for stream in both(2) {
        let file = Scratch::file(4 * MIB);
        let stream = Stream {
            arrival: open_loop(Process::Even, 1000, LONG_NS),
            stop: milliseconds(50),
            ..stream
        };
        let (_, mut done) = logged(&file.open(), stream);
        done.sort_by_key(|io| io.intended_ns);
        let intended: Vec<u64> = done.iter().map(|io| io.intended_ns).collect();
        let even: Vec<u64> = (0..50).map(|n| n * MILLISECOND_NS).collect();
        assert_eq!(intended, even);
        assert!(done.iter().all(|io| io.submit_ns >= io.intended_ns));
    }
}

#[test]
fn what_is_due_longer_than_the_backlog_is_dropped() {
    // No host can issue a hundred million I/Os a second; nearly all must be dropped, and none lost.
    for stream in both(1) {
        let tally = total(Stream {
            arrival: open_loop(Process::Even, 100_000_000, MILLISECOND_NS),
            stop: milliseconds(20),
            ..stream
        });
        assert_eq!(tally.requested(), 2_000_000);
        // Perhaps none is done: on a busy host the first look can come after all 20 ms.
        assert!(tally.dropped > tally.done, "{} dropped", tally.dropped);
        assert_eq!(tally.response().count(), tally.done + tally.dropped);
        assert_eq!(tally.service.count(), tally.done);
    }
}

#[test]
fn giving_up_takes_no_time_of_the_run() {
    // Twenty-five million arrivals, of which one thread or one slot can issue a few thousand.
    for stream in both(1) {
        let stop_ns = 250 * MILLISECOND_NS;
        let outcome = measure(Stream {
            arrival: open_loop(Process::Even, 100_000_000, 50 * MILLISECOND_NS),
            stop: milliseconds(250),
            ..stream
        });
        let (tally, measured_ns) = (
            outcome.measurement.op(Op::Read),
            outcome.measurement.measured_ns,
        );
        assert_eq!(tally.requested(), 25_000_000);
        assert!(tally.done > 0);
        // The drain, plus one I/O or one look that began within it.
        let allowed_ns = stop_ns + (50 + 200) * MILLISECOND_NS;
        assert!(
            (stop_ns..allowed_ns).contains(&measured_ns),
            "{measured_ns} ns"
        );
    }
}

#[test]
fn bursts_come_whole_and_on_time() {
    for stream in both(4) {
        let file = Scratch::file(4 * MIB);
        let arrival = Arrival::Bursts {
            bytes: 32 * 4096,
            every_ns: 20 * MILLISECOND_NS,
        };
        let stream = Stream {
            arrival,
            stop: milliseconds(60),
            ..stream
        };
        let (outcome, done) = logged(&file.open(), stream);
        let mut intended: Vec<u64> = done.iter().map(|io| io.intended_ns).collect();
        intended.sort_unstable();
        let due: Vec<u64> = (0..96).map(|n| n / 32 * 20 * MILLISECOND_NS).collect();
        assert_eq!(intended, due);
        assert_eq!(outcome.measurement.op(Op::Read).dropped, 0);
    }
}

#[test]
fn an_open_loop_ends_when_its_ios_are_used_up() {
    for stream in both(2) {
        let tally = total(Stream {
            arrival: open_loop(Process::Even, 10_000, LONG_NS),
            stop: ios(123),
            ..stream
        });
        assert_eq!(tally.requested(), 123);
    }
}

#[test]
fn a_sleeping_worker_still_closes_rows() {
    // One arrival at the start and none after: the worker sleeps through ten intervals.
    let outcome = measure(Stream {
        arrival: open_loop(Process::Even, 1, LONG_NS),
        stop: milliseconds(500),
        ..reads(Engine::Uring, 1, 4)
    });
    let done = &outcome.measurement.rows.streams[0].ops[0]
        .as_ref()
        .expect("reads")
        .done;
    assert_eq!(done.iter().sum::<u64>(), 1);
}

#[test]
fn an_open_loop_lasts_until_its_stop() {
    // Two arrivals, at 0 and 200 ms: the remaining time still counts for the rate and the rows.
    for stream in both(2) {
        let outcome = measure(Stream {
            arrival: open_loop(Process::Even, 5, LONG_NS),
            stop: milliseconds(390),
            ..stream
        });
        assert_eq!(outcome.measurement.op(Op::Read).done, 2);
        let measured = outcome.measurement.measured_ns;
        assert!(measured >= 390 * MILLISECOND_NS, "{measured}");
    }
}
