//! A closed loop does exactly the I/Os that its generator gives: their number, offsets, lengths and operations.

use crate::scratch::{
    MIB, MILLISECOND_NS, Scratch, block, both, ios, logged, measure, reads, workload,
};
use workload::spec::{Arrival, Engine, Ops, Pattern, Stop, Stream};
use workload::{Io, Op, Plan};

/// Returns the sorted I/Os that the generators of all sources give, `counts[source]` from each.
fn asked_for(stream: &Stream, counts: &[u64]) -> Vec<(u64, u32, Op)> {
    let workload = workload(vec![stream.clone()]);
    let plan = Plan::new(&workload).expect("a valid workload");
    let mut ios = Vec::new();
    for (source, &count) in (0..).zip(counts) {
        let mut generator = plan.stream(0).generator(source);
        ios.extend((0..count).map(|_| key(generator.next())));
    }
    ios.sort_unstable();
    ios
}

fn key(io: Io) -> (u64, u32, Op) {
    (io.offset, io.length, io.op)
}

/// Runs the stream and compares its I/O log with the generators.
fn does_what_was_asked_for(stream: &Stream, counts: &[u64]) {
    let file = Scratch::file(4 * MIB);
    let (outcome, done) = logged(&file.open(), stream.clone());
    let mut done: Vec<_> = done
        .iter()
        .map(|io| (io.offset, io.length, io.op))
        .collect();
    done.sort_unstable();
    assert_eq!(done, asked_for(stream, counts), "{:?}", stream.engine);
    let total: u64 = metrics::OPS
        .iter()
        .map(|&op| outcome.measurement.op(op).done)
        .sum();
    assert_eq!(total, counts.iter().sum::<u64>());
    assert!(outcome.measurement.complete);
    assert_eq!(outcome.measurement.workers.unfinished_ios, 0);
}

#[test]
fn exactly_as_many_ios_as_asked_for_at_the_generators_offsets() {
    does_what_was_asked_for(
        &Stream {
            stop: ios(1003),
            ..reads(Engine::Sync, 4, 1)
        },
        &[250, 251, 251, 251],
    );
    does_what_was_asked_for(
        &Stream {
            stop: ios(1003),
            ..reads(Engine::Uring, 2, 16)
        },
        &[501, 502],
    );
}

#[test]
fn reads_and_writes_of_several_sizes_are_mixed_as_drawn() {
    for stream in both(8) {
        let stream = Stream {
            ops: Ops::Mix { read_pct: 30 },
            block: vec![block(4096), block(16384), block(512)],
            stop: ios(800),
            ..stream
        };
        let counts = vec![800 / u64::from(stream.workers); stream.workers as usize];
        does_what_was_asked_for(&stream, &counts);
    }
}

#[test]
fn deep_and_batched_rings_lose_nothing() {
    for (depth, batch) in [(256, None), (256, Some(256)), (32, Some(7)), (1, Some(1))] {
        let stream = Stream {
            batch,
            stop: ios(2000),
            ..reads(Engine::Uring, 1, depth)
        };
        does_what_was_asked_for(&stream, &[2000]);
    }
}

#[test]
fn the_depth_asked_for_is_in_flight() {
    for stream in both(16) {
        let outcome = measure(Stream {
            stop: ios(20_000),
            ..stream
        });
        let tally = &outcome.measurement.streams[0].tally;
        assert_eq!(tally.in_flight_max, 16);
    }
}

#[test]
fn a_stop_by_bytes_is_exact_to_a_block() {
    for stream in both(4) {
        let stop = Stop {
            bytes: Some(100 * 4096 + 1),
            ios: None,
            ..stream.stop
        };
        let outcome = measure(Stream { stop, ..stream });
        assert_eq!(outcome.measurement.op(Op::Read).bytes, 101 * 4096);
    }
}

#[test]
fn a_stop_by_bytes_with_several_sizes_ends_with_the_io_that_reaches_it() {
    for stream in both(1) {
        let stream = Stream {
            block: vec![block(4096), block(65536)],
            stop: Stop {
                bytes: Some(MIB),
                ..stream.stop
            },
            ..stream
        };
        let bytes = measure(stream).measurement.op(Op::Read).bytes;
        assert!((MIB..MIB + 65536).contains(&bytes), "{bytes}");
    }
}

#[test]
fn a_span_covered_once_is_covered_exactly_once() {
    for (stream, read_pct) in both(3).into_iter().flat_map(|s| [(s.clone(), 100), (s, 0)]) {
        let stream = Stream {
            ops: Ops::Mix { read_pct },
            pattern: Pattern::Sequential { cursors: None },
            stop: Stop {
                span_once: true,
                ..stream.stop
            },
            ..stream
        };
        let file = Scratch::file(4 * MIB);
        let (outcome, done) = logged(&file.open(), stream.clone());
        let mut offsets: Vec<u64> = done.iter().map(|io| io.offset).collect();
        offsets.sort_unstable();
        let all: Vec<u64> = (0..MIB).step_by(4096).collect();
        assert_eq!(offsets, all);
        assert_eq!(outcome.cursors[0].len(), stream.sources() as usize);
        assert_eq!(outcome.cursors[0].last(), Some(&MIB));
    }
}

#[test]
fn a_sequential_stream_goes_on_where_its_cursors_say() {
    for stream in both(1) {
        let file = Scratch::file(4 * MIB);
        let target = file.open();
        let sequential = |cursors| Stream {
            pattern: Pattern::Sequential { cursors },
            stop: ios(10),
            ..stream.clone()
        };
        let (first, _) = logged(&target, sequential(None));
        assert_eq!(first.cursors, [vec![10 * 4096]]);
        let (second, done) = logged(&target, sequential(Some(first.cursors[0].clone())));
        let offsets: Vec<u64> = done.iter().map(|io| io.offset / 4096).collect();
        assert_eq!(offsets.iter().min(), Some(&10));
        assert_eq!(second.cursors, [vec![20 * 4096]]);
    }
}

#[test]
fn think_time_passes_between_a_completion_and_the_next_start() {
    const THINK_NS: u64 = 2 * MILLISECOND_NS;
    for stream in both(1) {
        let file = Scratch::file(4 * MIB);
        let stream = Stream {
            arrival: Arrival::Closed { think_ns: THINK_NS },
            stop: ios(20),
            ..stream
        };
        let (outcome, done) = logged(&file.open(), stream);
        for pair in done.windows(2) {
            let completed = pair[0].submit_ns + pair[0].latency_ns;
            assert_eq!(pair[1].intended_ns, completed + THINK_NS);
            assert!(pair[1].submit_ns >= pair[1].intended_ns);
        }
        assert_eq!(outcome.measurement.op(Op::Read).done, 20);
    }
}

#[test]
fn pulses_begin_on_time_and_nothing_begins_while_they_rest() {
    const ON_NS: u64 = 20 * MILLISECOND_NS;
    const EVERY_NS: u64 = 70 * MILLISECOND_NS;
    for stream in both(2) {
        let file = Scratch::file(4 * MIB);
        let stream = Stream {
            arrival: Arrival::Pulses {
                on_ns: ON_NS,
                every_ns: EVERY_NS,
            },
            stop: crate::scratch::milliseconds(280),
            ..stream
        };
        let (outcome, done) = logged(&file.open(), stream);
        let mut pulses = [0u32; 4];
        for io in &done {
            pulses[(io.submit_ns / EVERY_NS) as usize] += 1;
            // An I/O that was decided on within the pulse may reach the kernel a little later.
            assert!(io.submit_ns % EVERY_NS < ON_NS + 30 * MILLISECOND_NS);
            assert_eq!(io.intended_ns, io.submit_ns);
        }
        // A host that is held up misses some pulses.
        let begun = pulses.iter().filter(|&&ios| ios > 0).count();
        assert!(begun >= 2, "{pulses:?}");
        assert!(outcome.measurement.elapsed_ns >= 280 * MILLISECOND_NS);
    }
}

#[test]
fn streams_run_side_by_side_with_stops_of_their_own() {
    let [mut sync, mut uring] = both(2);
    sync.stop = ios(500);
    uring.stop = ios(700);
    uring.name = "b".into();
    uring.ops = Ops::Mix { read_pct: 0 };
    let file = Scratch::file(4 * MIB);
    let outcome = crate::scratch::try_run(&file.open(), vec![sync, uring]).expect("a run");
    let done = |stream: usize, op| outcome.measurement.streams[stream].tally.op(op).done;
    assert_eq!((done(0, Op::Read), done(0, Op::Write)), (500, 0));
    assert_eq!((done(1, Op::Read), done(1, Op::Write)), (0, 700));
}

#[test]
fn rows_sum_to_the_totals() {
    for stream in both(4) {
        let outcome = measure(Stream {
            stop: crate::scratch::milliseconds(180),
            ..stream
        });
        let rows = &outcome.measurement.rows;
        let done: u64 = rows.streams[0].ops[0]
            .as_ref()
            .expect("reads")
            .done
            .iter()
            .sum();
        assert_eq!(done, outcome.measurement.op(Op::Read).done);
        assert!(done > 0);
    }
}
