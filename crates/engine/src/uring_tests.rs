//! Properties of a ring that must hold whatever happens to its owner.

use std::io::{PipeReader, PipeWriter, Write, pipe};
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use workload::spec::{Arrival, BlockWeight, Engine, Flush, Ops, Pattern, Span, Stop, Stream};
use workload::{Io, Op};

use crate::buffers;
use crate::uring::{Ring, Trims};

const BLOCK_BYTES: u32 = 512;
const READ: Io = Io {
    op: Op::Read,
    offset: 0,
    length: BLOCK_BYTES,
};

fn stream(depth: u32) -> Stream {
    Stream {
        name: "pipe".into(),
        ops: Ops::Mix { read_pct: 100 },
        block: vec![BlockWeight {
            bytes: BLOCK_BYTES,
            weight: 1,
        }],
        pattern: Pattern::Uniform,
        write_block: None,
        write_pattern: None,
        span: Span {
            start: 0,
            length: u64::from(BLOCK_BYTES),
        },
        workers: 1,
        depth,
        engine: Engine::Uring,
        batch: None,
        polled: false,
        arrival: Arrival::Closed { think_ns: 0 },
        compressible_pct: 0,
        direct: false,
        dsync: false,
        flush_every: None,
        flush: Flush::Fdatasync,
        cpus: Vec::new(),
        stop: Stop {
            time_ns: None,
            bytes: None,
            ios: None,
            span_once: false,
        },
        log_ios: false,
    }
}

/// Returns a ring that reads from a pipe, so that an I/O stays in flight until something is written.
fn ring_on(reader: PipeReader) -> Ring {
    let stream = stream(4);
    let region = buffers::regions(&stream, false).expect("memory").remove(0);
    Ring::new(&stream, OwnedFd::from(reader).into(), Trims::Punch, region).expect("a ring")
}

fn feed(mut writer: PipeWriter, blocks: usize) {
    let data = vec![1; BLOCK_BYTES as usize * blocks];
    writer.write_all(&data).expect("a pipe with room");
}

#[test]
fn a_ring_is_dropped_when_nothing_is_in_flight_any_more() {
    let (reader, writer) = pipe().expect("a pipe");
    let written = AtomicBool::new(false);
    thread::scope(|scope| {
        let dropping = scope.spawn(|| {
            let mut ring = ring_on(reader);
            ring.prepare(&[0, 3], |_| READ);
            ring.look().expect("two reads in flight");
            assert_eq!((ring.in_flight(), ring.ready()), (2, 0));
            drop(ring);
            assert!(written.load(SeqCst), "the drop did not wait");
        });
        thread::sleep(Duration::from_millis(30));
        written.store(true, SeqCst);
        feed(writer, 2);
        dropping.join().expect("the ring's thread");
    });
}

#[test]
fn a_panic_while_ios_are_drafted_leaves_none_of_them() {
    let (reader, writer) = pipe().expect("a pipe");
    let mut ring = ring_on(reader);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        ring.prepare(&[0, 1, 2], |slot| {
            assert!(slot < 2, "the third draft");
            READ
        });
    }));
    assert!(panicked.is_err());
    assert_eq!(ring.in_flight(), 0);

    ring.prepare(&[1], |_| READ);
    feed(writer, 1);
    ring.enter(1).expect("one read");
    let mut results = Vec::new();
    let ready = ring.ready();
    ring.reap(ready, |number, slot, result| {
        results.push((number, slot, result));
    });
    assert_eq!(results, [(0, 1, BLOCK_BYTES as i32)]);
}
