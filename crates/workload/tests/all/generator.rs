//! The places of the I/Os, which depend on seed, stream, source and n alone.

use crate::workloads::{blocks, ios, plan, stream};
use proptest::prelude::*;
use workload::random::{STEP, finalise, fold};
use workload::spec::{Band, BlockWeight, Ops, Pattern, Span, Stop, Stream};
use workload::{Io, Op};

fn patterns() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        Just(Pattern::Uniform),
        Just(Pattern::Stepped { step_bytes: 512 }),
        Just(Pattern::Sequential { cursors: None }),
        (1u32..4000).prop_map(|theta_milli| Pattern::Zipf { theta_milli }),
        (1u32..100, 1u32..100).prop_map(|(access, span)| Pattern::Bands(vec![
            band(access, span),
            band(0, 1),
            band(100 - access, 100 - span),
        ])),
    ]
}

fn band(access_weight: u32, span_weight: u32) -> Band {
    Band {
        access_weight,
        span_weight,
    }
}

/// Sizes that are multiples of the first one, but not of each other.
fn sizes() -> impl Strategy<Value = Vec<BlockWeight>> {
    let weight = || 1u32..100;
    (0usize..4, weight(), weight(), weight()).prop_map(|(choice, a, b, c)| match choice {
        0 => blocks(&[(4096, a)]),
        1 => blocks(&[(1536, a)]),
        2 => blocks(&[(4096, a), (131_072, b)]),
        _ => blocks(&[(12_288, a), (512, b), (65_536, c)]),
    })
}

prop_compose! {
    fn streams()(
        pattern in patterns(),
        block in sizes(),
        read_pct in 0u8..=100,
        workers in 1u32..9,
        start in 0u64..1000,
        units in 2000u64..20_000,
    ) -> Stream {
        let unit = u64::from(block.iter().map(|b| b.bytes).min().unwrap());
        Stream {
            span: Span { start: start * unit, length: units * unit },
            ops: Ops::Mix { read_pct },
            pattern,
            block,
            workers,
            ..stream()
        }
    }
}

proptest! {
    #[test]
    fn every_io_is_inside_the_span_and_aligned(stream in streams(), seed: u64) {
        let plan = plan(seed, stream.clone());
        let listed = |io: &Io| stream.block.iter().any(|b| b.bytes == io.length);
        let sequential = matches!(stream.pattern, Pattern::Sequential { .. });
        let unit = stream.smallest_block_bytes();
        for source in 0..plan.stream(0).sources() {
            for io in ios(&plan, source, 300) {
                prop_assert!(io.offset >= stream.span.start);
                prop_assert!(io.offset + u64::from(io.length) <= stream.span.end());
                prop_assert!(listed(&io));
                let grid = match stream.pattern {
                    Pattern::Stepped { step_bytes } => step_bytes,
                    _ if sequential => unit,
                    _ => io.length,
                };
                prop_assert_eq!(io.offset % u64::from(grid), 0);
            }
        }
    }

    #[test]
    fn sources_do_not_feel_each_other(stream in streams(), seed: u64, turns in prop::collection::vec(0u32..8, 200)) {
        let plan = plan(seed, stream);
        let sources = plan.stream(0).sources();
        let alone: Vec<Vec<Io>> = (0..sources).map(|s| ios(&plan, s, turns.len())).collect();
        let mut generators: Vec<_> = (0..sources).map(|s| (plan.stream(0).generator(s), 0)).collect();
        for turn in turns {
            let source = (turn % sources) as usize;
            let (generator, n) = &mut generators[source];
            prop_assert_eq!(generator.next(), alone[source][*n]);
            *n += 1;
        }
    }

    #[test]
    fn a_sequence_has_no_gaps_and_wraps(stream in streams(), seed: u64) {
        let stream = Stream { pattern: Pattern::Sequential { cursors: None }, ..stream };
        let plan = plan(seed, stream.clone());
        for source in 0..plan.stream(0).sources() {
            let mut generator = plan.stream(0).generator(source);
            let (mut at, mut wraps) = (generator.cursor().unwrap(), 0);
            while wraps < 2 {
                let io = generator.next();
                if at == stream.span.end() {
                    at = stream.span.start;
                    wraps += 1;
                }
                prop_assert_eq!(io.offset, at);
                at += u64::from(io.length);
                prop_assert_eq!(generator.cursor(), Some(at));
            }
        }
    }

    #[test]
    fn one_pass_writes_all_of_the_span_and_no_more_than_it_is_to(
        start in 0u64..50, units in 100u64..3000, workers in 1u32..9, spare in 1u64..40,
    ) {
        let raw = units * 100 / (100 - spare) + 9;
        let stream = Stream {
            ops: Ops::Mix { read_pct: 0 },
            pattern: Pattern::OnePass { raw_bytes: raw * 4096, behind_bytes: units * 4096 / 20 },
            span: Span { start: start * 4096, length: units * 4096 },
            stop: Stop { bytes: Some(raw * 4096), ..stream().stop },
            workers,
            ..stream()
        };
        let plan = plan(1, stream);
        let mut covered = vec![0u32; units as usize];
        for source in 0..workers {
            for io in ios(&plan, source, plan.stream(0).quota(source).ios as usize) {
                prop_assert_eq!(io.op, Op::Write);
                covered[(io.offset / 4096 - start) as usize] += 1;
            }
        }
        prop_assert!(covered.iter().all(|&times| times >= 1));
        prop_assert_eq!(covered.iter().map(|&times| u64::from(times)).sum::<u64>(), raw);
    }

    #[test]
    fn a_shuffled_source_visits_every_block_once_and_then_again(
        start in 0u64..50, units in 1u64..3000, workers in 1u32..5, anew: bool, seed: u64,
    ) {
        let stream = Stream {
            pattern: Pattern::Shuffled { anew },
            span: Span { start: start * 4096, length: units * 4096 },
            block: blocks(&[(4096, 1)]),
            workers,
            ..stream()
        };
        let plan = plan(seed, stream);
        let mut orders = Vec::new();
        for source in 0..workers {
            let walk: Vec<u64> = ios(&plan, source, 2 * units as usize).iter().map(|io| io.offset / 4096 - start).collect();
            let (first, again) = walk.split_at(units as usize);
            for pass in [first, again] {
                let mut sorted = pass.to_vec();
                sorted.sort_unstable();
                prop_assert!(sorted.into_iter().eq(0..units));
            }
            prop_assert!(anew || first == again);
            prop_assert!(units < 20 || !anew || first != again);
            orders.push(first.to_vec());
        }
        orders.dedup();
        prop_assert!(units < 20 || orders.len() == workers as usize, "each source has an order of its own");
    }

    #[test]
    fn the_parts_cover_the_span_exactly_once(
        start in 0u64..50, units in 1u64..3000, workers in 1u32..70,
        bytes in prop::sample::select(vec![512u32, 1536, 4096]),
    ) {
        let block = u64::from(bytes);
        let stream = Stream {
            pattern: Pattern::Sequential { cursors: None },
            block: blocks(&[(bytes, 1)]),
            span: Span { start: start * block, length: units * block },
            stop: Stop { span_once: true, ..stream().stop },
            workers,
            ..stream()
        };
        let plan = plan(1, stream);
        let mut covered = vec![0u32; units as usize];
        for source in 0..workers {
            let count = plan.stream(0).ios_for_span_once(source).unwrap();
            prop_assert_eq!(plan.stream(0).quota(source).ios, count);
            for io in ios(&plan, source, count as usize) {
                covered[(io.offset / block - start) as usize] += 1;
            }
        }
        prop_assert!(covered.iter().all(|&times| times == 1));
    }

    #[test]
    fn a_cursor_carries_on_where_a_run_ended(stream in streams(), seed: u64, before in 0usize..500) {
        prop_assume!(stream.block.len() == 1);
        let stream = Stream { pattern: Pattern::Sequential { cursors: None }, ..stream };
        let whole = plan(seed, stream.clone());
        let sources = whole.stream(0).sources();
        let cursors = (0..sources).map(|source| {
            let mut generator = whole.stream(0).generator(source);
            for _ in 0..before { generator.next(); }
            generator.cursor().unwrap()
        });
        let pattern = Pattern::Sequential { cursors: Some(cursors.collect()) };
        let rest = plan(seed, Stream { pattern, ..stream });
        for source in 0..sources {
            let wanted: Vec<u64> = ios(&whole, source, before + 50)[before..].iter().map(|io| io.offset).collect();
            let got: Vec<u64> = ios(&rest, source, 50).iter().map(|io| io.offset).collect();
            prop_assert_eq!(got, wanted);
        }
    }

    #[test]
    fn shares_of_a_stop_sum_to_it(ios_wanted in 1u64..100_000, bytes in 1u64..1_000_000_000, workers in 1u32..100) {
        let stop = Stop { ios: Some(ios_wanted), ..stream().stop };
        let by_ios = plan(1, Stream { workers, stop, ..stream() });
        let total: u64 = (0..workers).map(|s| by_ios.stream(0).quota(s).ios).sum();
        prop_assert_eq!(total, ios_wanted);
        let stop = Stop { bytes: Some(bytes), ..stream().stop };
        let by_bytes = plan(1, Stream { workers, stop, ..stream() });
        let total: u64 = (0..workers).map(|s| by_bytes.stream(0).quota(s).ios).sum();
        prop_assert_eq!(total, bytes.div_ceil(4096));
        let block = blocks(&[(4096, 1), (8192, 1)]);
        let by_share = plan(1, Stream { workers, stop, block, ..stream() });
        let total: u64 = (0..workers).map(|s| by_share.stream(0).quota(s).bytes).sum();
        prop_assert_eq!(total, bytes);
    }
}

#[test]
fn as_many_bytes_as_the_span_holds_cover_it_once() {
    const BLOCKS: u64 = 4096;
    for workers in [1, 2, 3, 5, 7, 64, 100] {
        let span = Span {
            start: 8192,
            length: BLOCKS * 4096,
        };
        let stop = Stop {
            bytes: Some(span.length),
            ..stream().stop
        };
        let plan = plan(
            1,
            Stream {
                pattern: Pattern::Sequential { cursors: None },
                span,
                workers,
                stop,
                ..stream()
            },
        );
        let places = (0..workers).flat_map(|source| {
            let count = plan.stream(0).quota(source).ios as usize;
            ios(&plan, source, count).into_iter().map(|io| io.offset)
        });
        let mut places: Vec<u64> = places.collect();
        places.sort_unstable();
        let wanted: Vec<u64> = (0..BLOCKS).map(|block| 8192 + block * 4096).collect();
        assert_eq!(places, wanted, "{workers} workers");
    }
}

#[test]
fn a_resumed_cover_ends_where_the_part_ends() {
    let once = |cursors| Stream {
        pattern: Pattern::Sequential { cursors },
        workers: 4,
        stop: Stop {
            span_once: true,
            ..stream().stop
        },
        ..stream()
    };
    let quarter = 16 << 20;
    let fresh = plan(1, once(None));
    assert_eq!(fresh.stream(0).ios_for_span_once(3), Some(quarter / 4096));
    // The first part is done, the second has one block left, the others have not begun.
    let cursors = vec![quarter, 2 * quarter - 4096, 2 * quarter, 3 * quarter];
    let resumed = plan(1, once(Some(cursors)));
    let left: Vec<_> = (0..4)
        .map(|s| resumed.stream(0).ios_for_span_once(s))
        .collect();
    assert_eq!(left, [Some(0), Some(1), Some(4096), Some(4096)]);
}

#[test]
fn the_nth_io_is_the_documented_function_of_n() {
    // The formulas of `random`, implemented independently.
    let (seed, start, slots) = (77u64, 1u64 << 20, 5000u64);
    let plan = plan(
        seed,
        Stream {
            ops: Ops::Mix { read_pct: 30 },
            span: Span {
                start,
                length: slots * 4096,
            },
            workers: 3,
            ..stream()
        },
    );
    for source in 0..3u64 {
        let spread = |word: u64| finalise(word.wrapping_add(STEP));
        let key = finalise(spread(seed) ^ spread(source));
        for (n, io) in ios(&plan, source as u32, 1000).iter().enumerate() {
            let draw = fold(key.wrapping_add((n as u64).wrapping_mul(STEP)));
            let product = u128::from(draw) * u128::from(slots);
            assert_eq!(io.offset, start + (product >> 64) as u64 * 4096);
            let read = (product as u64) < ((30u128 << 64) / 100) as u64;
            assert_eq!(io.op, if read { Op::Read } else { Op::Write });
        }
    }
}

#[test]
fn seed_stream_and_source_each_change_the_sequence() {
    let two_workers = Stream {
        workers: 2,
        ..stream()
    };
    let one = plan(1, two_workers.clone());
    assert_eq!(
        ios(&one, 0, 100),
        ios(&plan(1, two_workers.clone()), 0, 100)
    );
    assert_ne!(ios(&one, 0, 100), ios(&one, 1, 100));
    assert_ne!(
        ios(&one, 0, 100),
        ios(&plan(2, two_workers.clone()), 0, 100)
    );
    let second = Stream {
        name: "second".into(),
        ..two_workers.clone()
    };
    let mut both = crate::workloads::workload(1, two_workers);
    both.streams.push(second);
    let both = workload::Plan::new(&both).unwrap();
    assert_ne!(
        both.stream(0).generator(0).next(),
        both.stream(1).generator(0).next()
    );
}
