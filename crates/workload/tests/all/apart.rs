//! Streams whose reads and writes have separate sizes and patterns, and blocks of any size.

use crate::validate::{assert_refused, case};
use crate::workloads::{blocks, ios, plan, stream, workload};
use workload::Op;
use workload::spec::{Arrival, Ops, Pattern, Stream};

#[test]
fn reads_and_writes_have_sizes_and_places_of_their_own() {
    let uniform = Stream {
        ops: Ops::Mix { read_pct: 70 },
        workers: 2,
        ..stream()
    };
    let apart = Stream {
        write_block: Some(blocks(&[(65_536, 1)])),
        write_pattern: Some(Pattern::Sequential { cursors: None }),
        ..uniform.clone()
    };
    let (plain, apart, count) = (plan(7, uniform), plan(7, apart), 40_000);
    for source in 0..2 {
        let mut next = u64::from(source) * (32 << 20);
        let mut reads = 0;
        for (was, is) in ios(&plain, source, count)
            .iter()
            .zip(ios(&apart, source, count))
        {
            if is.op == Op::Read {
                // The place of a read depends on its draw alone.
                assert_eq!((is.offset, is.length), (was.offset, 4096));
                reads += 1;
            } else {
                assert_eq!((is.op, is.offset, is.length), (Op::Write, next, 65_536));
                next = (next + 65_536) % (64 << 20);
            }
        }
        // Four standard deviations of a binomial count.
        assert!(
            (f64::from(reads) / count as f64 - 0.7).abs() < 0.0092,
            "{reads}"
        );
        assert_eq!(apart.stream(0).generator(source).cursor(), None);
    }
}

#[test]
fn what_writes_have_of_their_own_is_bounded() {
    let mixed = |s: &mut Stream| {
        s.ops = Ops::Mix { read_pct: 50 };
        s.write_block = Some(blocks(&[(65_536, 1)]));
    };
    assert_refused(vec![
        case(
            "ops",
            "Mix { read_pct: 100 }",
            "both reads and writes",
            |s| {
                s.write_pattern = Some(Pattern::Sequential { cursors: None });
            },
        ),
        case("block[0].bytes", "700", "multiple of 512", move |s| {
            mixed(s);
            s.write_block = Some(blocks(&[(700, 1)]));
        }),
        case("span.length", "4096", "65536", move |s| {
            mixed(s);
            s.span.length = 4096;
        }),
        case("stop.span_once", "true", "of their own", move |s| {
            mixed(s);
            s.pattern = Pattern::Sequential { cursors: None };
            s.stop.span_once = true;
        }),
        case("write_block", "true", "one size", move |s| {
            mixed(s);
            s.arrival = Arrival::Bursts {
                bytes: 4096,
                every_ns: 1,
            };
        }),
        case("pattern", "Uniform", "without cursors", move |s| {
            mixed(s);
            s.write_pattern = Some(Pattern::Sequential {
                cursors: Some(vec![0]),
            });
        }),
    ]);
}

#[test]
fn buffered_blocks_have_any_size() {
    let mut odd = stream();
    (odd.block, odd.direct) = (blocks(&[(2_300, 1)]), false);
    odd.span.length = 2_300 * 100;
    assert_eq!(workload(1, odd.clone()).validate(), Ok(()));
    odd.direct = true;
    assert!(workload(1, odd).validate().is_err());
}
