//! Both engines issue a recording as it is: every I/O once, with its operation, offset and intended start.

use crate::scratch::{MIB, MILLISECOND_NS, Scratch, block, both, logged};
use workload::recording::{MAGIC, Record, Recording};
use workload::spec::{Arrival, Ops, Pattern, Span, Stream};
use workload::{Io, Op};

/// Reads, writes and trims in turn, so that each slot of a ring carries different operations; bursts of eight every 2
/// ms.
fn records() -> Vec<Record> {
    let ops = [Op::Read, Op::Trim, Op::Read, Op::Write, Op::Trim];
    let one = |n: u64| Record {
        due_ns: n / 8 * 2 * MILLISECOND_NS,
        io: Io {
            op: ops[n as usize % ops.len()],
            offset: n * 4096 % (2 * MIB),
            length: 4096 * (1 + n % 3) as u32,
        },
    };
    (0..200).map(one).collect()
}

fn without(op: Op) -> Vec<Record> {
    let mut records = records();
    records.retain(|record| record.io.op != op);
    records
}

/// Returns a stream that replays these records from a file.
fn replay(stream: Stream, records: &[Record], arrival: Arrival) -> (Scratch, Stream) {
    let file = Scratch::path("records");
    let mut bytes = MAGIC.to_vec();
    bytes.extend(records.iter().flat_map(|record| record.to_bytes()));
    std::fs::write(&file.0, bytes).expect("a file of records");
    let recording = Recording::open(&file.0).expect("a recording");
    let facts = recording.facts();
    let stream = Stream {
        ops: Ops::Recorded {
            reads: facts.reads,
            writes: facts.writes,
            trims: facts.trims,
        },
        block: vec![block(4096), block(3 * 4096)],
        pattern: Pattern::Recorded {
            path: file.0.to_str().expect("a plain path").to_owned(),
            digest: facts.digest.clone(),
        },
        span: Span {
            start: 0,
            length: 4 * MIB,
        },
        arrival,
        log_ios: true,
        ..stream
    };
    (file, stream)
}

#[test]
fn every_io_is_issued_at_its_time() {
    let timed = Arrival::Recorded {
        backlog_ns: 1000 * MILLISECOND_NS,
    };
    let sets = [
        records(),
        without(Op::Write),
        without(Op::Read),
        without(Op::Trim),
    ];
    for stream in both(4) {
        for records in &sets {
            let target = Scratch::file(4 * MIB);
            let (_file, stream) = replay(stream.clone(), records, timed);
            let (outcome, mut done) = logged(&target.open(), stream);
            // Several I/Os were due at once, and threads may take them in any order.
            done.sort_by_key(|io| (io.intended_ns, io.offset));
            let done: Vec<_> = done
                .iter()
                .map(|io| (io.intended_ns, io.op, io.offset, io.length))
                .collect();
            let mut asked: Vec<_> = records
                .iter()
                .map(|r| (r.due_ns, r.io.op, r.io.offset, r.io.length))
                .collect();
            asked.sort_by_key(|io| (io.0, io.2));
            assert_eq!(done, asked);
            let last_ns = records.last().expect("records").due_ns;
            assert!(outcome.measurement.elapsed_ns >= last_ns);
        }
    }
}

#[test]
fn as_fast_as_possible_is_a_closed_loop_in_order() {
    let [_, uring] = both(4);
    for records in [records(), without(Op::Write)] {
        let target = Scratch::file(4 * MIB);
        let (_file, stream) = replay(uring.clone(), &records, Arrival::Closed { think_ns: 0 });
        let (outcome, mut done) = logged(&target.open(), stream);
        assert_eq!(done.len(), records.len());
        done.sort_by_key(|io| io.submit_ns);
        // I/Os submitted together share one stamp; I/Os submitted later come later in the recording.
        let mut rest = records.iter().map(|record| record.io).collect::<Vec<_>>();
        for group in done.chunk_by(|a, b| a.submit_ns == b.submit_ns) {
            let mut head: Vec<_> = rest.drain(..group.len()).collect();
            let mut group: Vec<_> = group
                .iter()
                .map(|io| (io.op, io.offset, io.length))
                .collect();
            head.sort_by_key(|io| (io.offset, io.length));
            group.sort_by_key(|io| (io.1, io.2));
            let head: Vec<_> = head
                .iter()
                .map(|io| (io.op, io.offset, io.length))
                .collect();
            assert_eq!(group, head);
        }
        let facts = outcome.measurement.workers;
        assert!(0 < facts.busy_ns && facts.busy_ns <= outcome.measurement.elapsed_ns);
    }
}
