//! Many workers start together, and none is left out.

use crate::scratch::{measure, milliseconds, reads};
use workload::spec::{Engine, Stream};

#[test]
fn five_hundred_and_twelve_threads_all_issue() {
    let measured = measure(Stream {
        stop: milliseconds(300),
        ..reads(Engine::Sync, 512, 1)
    })
    .measurement;
    assert_eq!(
        (measured.workers.workers, measured.workers.never_issued),
        (512, 0)
    );
    assert_eq!(measured.streams[0].tally.in_flight_max, 512);
    assert!(measured.workers.start_skew_ns().is_some());
}

#[test]
fn many_rings_begin_together() {
    let measured = measure(Stream {
        stop: milliseconds(300),
        ..reads(Engine::Uring, 32, 4)
    })
    .measurement;
    assert_eq!(
        (measured.workers.workers, measured.workers.never_issued),
        (32, 0)
    );
    assert_eq!(measured.streams[0].tally.in_flight_max, 128);
}

#[test]
fn workers_stay_on_the_cpus_they_were_given() {
    let cpu = rustix::thread::sched_getcpu() as u32;
    let measured = measure(Stream {
        cpus: vec![cpu],
        stop: crate::scratch::ios(100),
        ..reads(Engine::Sync, 3, 1)
    })
    .measurement;
    assert_eq!(measured.workers.workers, 3);
}
