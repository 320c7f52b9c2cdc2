//! Written data: every block differs from all others and is as compressible as asked. Also flushes and trims.

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;

use crate::scratch::{
    MIB, MILLISECOND_NS, Scratch, both, ios, measure, milliseconds, try_run, workload,
};
use metrics::FLUSH;
use workload::Op;
use workload::spec::{Flush, Ops, Pattern, Span, Stop, Stream};

fn filled(stream: Stream) -> Vec<u8> {
    let file = Scratch::file(4 * MIB);
    let stream = Stream {
        ops: Ops::Mix { read_pct: 0 },
        pattern: Pattern::Sequential { cursors: None },
        stop: Stop {
            span_once: true,
            ..stream.stop
        },
        ..stream
    };
    try_run(&file.open(), vec![stream]).expect("a run");
    let mut data = std::fs::read(&file.0).expect("the file");
    data.truncate(MIB as usize);
    data
}

fn share_of_zeroes(data: &[u8]) -> f64 {
    let zeroes: u32 = data.iter().map(|&byte| u32::from(byte == 0)).sum();
    f64::from(zeroes) / data.len() as f64
}

#[test]
fn every_block_written_is_unlike_all_others() {
    for stream in both(4) {
        for bytes in [4096, 65536] {
            let data = filled(Stream {
                block: vec![crate::scratch::block(bytes)],
                ..stream.clone()
            });
            let blocks: HashSet<&[u8]> = data.chunks(4096).collect();
            assert_eq!(blocks.len(), 256);
        }
    }
}

#[test]
fn a_second_run_with_the_same_seed_writes_other_blocks() {
    for stream in both(1) {
        let (first, second) = (filled(stream.clone()), filled(stream));
        let first: HashSet<&[u8]> = first.chunks(4096).collect();
        assert!(second.chunks(4096).all(|block| !first.contains(block)));
    }
}

#[test]
fn random_data_is_random_and_compressible_data_has_its_share_of_zeroes() {
    for stream in both(2) {
        for (compressible_pct, low, high) in [(0, 0.002, 0.006), (50, 0.49, 0.51), (100, 0.99, 1.0)]
        {
            let data = filled(Stream {
                compressible_pct,
                ..stream.clone()
            });
            let share = share_of_zeroes(&data);
            assert!(
                (low..=high).contains(&share),
                "{compressible_pct} %: {share}"
            );
        }
    }
}

#[test]
fn reads_beside_writes_do_not_change_what_is_written() {
    for stream in both(4) {
        let file = Scratch::path("zeroes");
        std::fs::write(&file.0, vec![0; 4 * MIB as usize]).expect("a file of zeroes");
        let stream = Stream {
            ops: Ops::Mix { read_pct: 50 },
            stop: ios(4000),
            ..stream
        };
        try_run(&file.open(), vec![stream]).expect("a run");
        let data = std::fs::read(&file.0).expect("the file");
        for block in data.chunks(4096).take(256) {
            let share = share_of_zeroes(block);
            assert!(!(0.02..=0.999).contains(&share), "{share}");
        }
    }
}

#[test]
fn a_flush_follows_each_nth_write_of_a_worker_and_is_no_io() {
    for flush in [Flush::Fdatasync, Flush::Fsync] {
        for (stream, every) in both(4).into_iter().flat_map(|s| [(s.clone(), 1), (s, 3)]) {
            let (workers, each) = (u64::from(stream.workers), 100 / u64::from(stream.workers));
            let stream = Stream {
                ops: Ops::Mix { read_pct: 0 },
                flush_every: Some(every),
                flush,
                dsync: true,
                stop: ios(100),
                ..stream
            };
            let measured = measure(stream).measurement;
            let (writes, flushes) = (measured.op(Op::Write), measured.flush());
            assert_eq!((writes.done, writes.requested()), (100, 100));
            assert_eq!(flushes.done, workers * (each / every));
            assert_eq!(flushes.service.count(), flushes.done);
            assert_eq!(measured.workers.unfinished_ios, 0);
        }
    }
}

#[test]
fn flushes_go_on_in_the_ramp_and_after_reads() {
    for stream in both(2) {
        let file = Scratch::file(4 * MIB);
        let stream = Stream {
            ops: Ops::Mix { read_pct: 50 },
            flush_every: Some(4),
            stop: milliseconds(100),
            ..stream
        };
        let mut workload = workload(vec![stream]);
        workload.ramp_ns = 50 * MILLISECOND_NS;
        let control = engine::Control::new();
        let outcome = engine::run(
            &file.open(),
            &workload,
            &control,
            engine::Options::default(),
        );
        let measured = outcome.expect("a run").measurement;
        let rows = &measured.rows.streams[0];
        let sum = |place| rows.at(place).expect("rows").done.iter().sum::<u64>();
        let (writes, flushes) = (sum(1), sum(FLUSH));
        assert!(measured.op(Op::Write).done < writes, "a ramp");
        // The last writes of each worker have no flush yet.
        let most = writes / 4;
        assert!(
            (most.saturating_sub(1)..=most).contains(&flushes),
            "{flushes} of {writes}"
        );
    }
}

#[test]
fn buffered_blocks_have_any_size() {
    for stream in both(1) {
        for bytes in [1, 7, 2_300, 4_099] {
            let file = Scratch::file(4 * MIB);
            let block = u64::from(bytes);
            let stream = Stream {
                ops: Ops::Mix { read_pct: 0 },
                block: vec![crate::scratch::block(bytes)],
                pattern: Pattern::Sequential { cursors: None },
                span: Span {
                    start: 3 * block,
                    length: 100 * block,
                },
                direct: false,
                flush_every: Some(10),
                stop: Stop {
                    span_once: true,
                    ..stream.stop
                },
                ..stream.clone()
            };
            let measured = try_run(&file.open(), vec![stream])
                .expect("a run")
                .measurement;
            let written = measured.op(Op::Write);
            assert_eq!((written.done, written.bytes), (100, 100 * block));
            assert_eq!(measured.flush().done, 10);
            let data = std::fs::read(&file.0).expect("the file");
            assert_eq!(data.len() as u64, 4 * MIB);
            let (before, rest) = data.split_at(3 * bytes as usize);
            let (inside, behind) = rest.split_at(100 * bytes as usize);
            assert!(before.iter().chain(behind).all(|&byte| byte == 0xa5));
            let untouched: usize = inside.iter().map(|&byte| usize::from(byte == 0xa5)).sum();
            assert!(untouched < inside.len() / 20);
        }
    }
}

#[test]
fn trims_give_blocks_back() {
    for stream in both(2) {
        let file = Scratch::file(4 * MIB);
        let before = std::fs::metadata(&file.0).expect("the file").blocks();
        let stream = Stream {
            ops: Ops::Trim,
            block: vec![crate::scratch::block(65536)],
            pattern: Pattern::Sequential { cursors: None },
            stop: Stop {
                span_once: true,
                ..stream.stop
            },
            ..stream
        };
        let measured = try_run(&file.open(), vec![stream])
            .expect("a run")
            .measurement;
        assert_eq!(measured.op(Op::Trim).done, 16);
        assert_eq!(measured.op(Op::Trim).bytes, MIB);
        let after = std::fs::metadata(&file.0).expect("the file");
        assert_eq!(before - after.blocks(), MIB / 512);
        assert_eq!(after.len(), 4 * MIB);
        let data = std::fs::read(&file.0).expect("the file");
        assert!(data[..MIB as usize].iter().all(|&byte| byte == 0));
        assert!(data[MIB as usize..].iter().all(|&byte| byte == 0xa5));
    }
}
