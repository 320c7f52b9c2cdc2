//! Shares of operations, sizes and places, against the requested laws.

use std::collections::HashMap;

use crate::workloads::{blocks, ios, plan, stream};
use workload::Op;
use workload::spec::{Band, Ops, Pattern, Span, Stream};

fn band(access_weight: u32, span_weight: u32) -> Band {
    Band {
        access_weight,
        span_weight,
    }
}

/// Checks a share against the binomial law: within five standard deviations.
fn assert_share(seen: u64, of: u64, share: f64, what: &str) {
    let (seen, of) = (seen as f64, of as f64);
    let deviation = (of * share * (1.0 - share)).sqrt();
    assert!(
        (seen - of * share).abs() <= 5.0 * deviation + 1e-9,
        "{what}: {seen} of {of}, wanted {share}"
    );
}

#[test]
fn reads_have_their_share_wherever_they_go() {
    for read_pct in [0u8, 1, 30, 50, 70, 99, 100] {
        let plan = plan(
            5,
            Stream {
                ops: Ops::Mix { read_pct },
                ..stream()
            },
        );
        let share = f64::from(read_pct) / 100.0;
        let mut halves = [(0u64, 0u64); 2];
        for io in ios(&plan, 0, 200_000) {
            let half = &mut halves[usize::from(io.offset >= 32 << 20)];
            half.0 += u64::from(io.op == Op::Read);
            half.1 += 1;
        }
        for (reads, all) in halves {
            assert_share(reads, all, share, "reads of a half");
        }
    }
}

#[test]
fn a_read_or_write_does_not_belong_to_a_place() {
    // 2^35 blocks: the operation must not depend on the bits of the block number.
    let plan = plan(
        5,
        Stream {
            ops: Ops::Mix { read_pct: 50 },
            span: Span {
                start: 0,
                length: 1 << 47,
            },
            ..stream()
        },
    );
    let all = ios(&plan, 0, 200_000);
    for bit in 0..35 {
        let agree = all
            .iter()
            .filter(|io| (io.offset >> (12 + bit)) & 1 == io.op as u64);
        assert_share(agree.count() as u64, all.len() as u64, 0.5, "bit and op");
    }
}

#[test]
fn a_ratio_is_exact_where_percent_is_not() {
    let plan = plan(
        5,
        Stream {
            ops: Ops::Ratio {
                reads: 2,
                writes: 1,
            },
            ..stream()
        },
    );
    let all = ios(&plan, 0, 900_000);
    let reads = all.iter().filter(|io| io.op == Op::Read).count() as u64;
    assert_share(reads, all.len() as u64, 2.0 / 3.0, "reads");
}

#[test]
fn stepped_blocks_lie_on_any_sector_and_end_inside() {
    // Records of 1536 and 2048 bytes on sectors: a quarter and three eighths of them cross a 4 KiB
    // boundary.
    let plan = plan(
        5,
        Stream {
            pattern: Pattern::Stepped { step_bytes: 512 },
            block: blocks(&[(1536, 1), (2048, 1)]),
            span: Span {
                start: 6144,
                length: 300 * 1536,
            },
            ..stream()
        },
    );
    let all = ios(&plan, 0, 400_000);
    let places = (300 * 1536 - 2048) / 512 + 1;
    let mut seen = vec![0u64; places];
    let mut crossing = [(0u64, 0u64); 2];
    for io in &all {
        seen[(io.offset - 6144) as usize / 512] += 1;
        let size = &mut crossing[usize::from(io.length == 2048)];
        size.0 += u64::from(io.offset % 4096 + u64::from(io.length) > 4096);
        size.1 += 1;
    }
    for &count in &seen {
        assert_share(count, all.len() as u64, 1.0 / places as f64, "place");
    }
    assert!((crossing[0].0 as f64 / crossing[0].1 as f64 - 0.25).abs() < 0.005);
    assert!((crossing[1].0 as f64 / crossing[1].1 as f64 - 0.375).abs() < 0.005);
}

#[test]
fn trims_only() {
    let plan = plan(
        1,
        Stream {
            ops: Ops::Trim,
            block: blocks(&[(1 << 20, 3), (4096, 1)]),
            ..stream()
        },
    );
    assert!(ios(&plan, 0, 1000).iter().all(|io| io.op == Op::Trim));
}

#[test]
fn uniform_blocks_are_equally_likely_for_each_size() {
    let span = Span {
        start: 4096,
        length: 63 * 4096,
    };
    let plan = plan(
        9,
        Stream {
            block: blocks(&[(4096, 70), (65_536, 30)]),
            span,
            ..stream()
        },
    );
    let mut seen: HashMap<(u32, u64), u64> = HashMap::new();
    let draws = 300_000;
    for io in ios(&plan, 0, draws) {
        *seen.entry((io.length, io.offset)).or_default() += 1;
    }
    // The span is 4 to 256 KiB: 63 places for 4 KiB, and 3 for 64 KiB (at 64, 128 and 192 KiB).
    assert_eq!(seen.len(), 63 + 3);
    for ((bytes, offset), count) in seen {
        let share = if bytes == 4096 { 0.7 / 63.0 } else { 0.3 / 3.0 };
        assert_share(count, draws as u64, share, &format!("{bytes} at {offset}"));
    }
}

#[test]
fn sequential_sizes_keep_their_weights_and_fill_the_end() {
    // 100 blocks of 4 KiB. 64 KiB do not fit after block 84; smaller sizes replace them there.
    let span = Span {
        start: 8192,
        length: 100 * 4096,
    };
    let plan = plan(
        9,
        Stream {
            block: blocks(&[(4096, 9), (65_536, 1), (8192, 2)]),
            pattern: Pattern::Sequential { cursors: None },
            span,
            ..stream()
        },
    );
    let all = ios(&plan, 0, 120_000);
    let early: Vec<_> = all
        .iter()
        .filter(|io| io.offset < 8192 + 84 * 4096)
        .collect();
    for (bytes, share) in [(4096, 9.0 / 12.0), (65_536, 1.0 / 12.0), (8192, 2.0 / 12.0)] {
        let count = early.iter().filter(|io| io.length == bytes).count();
        assert_share(count as u64, early.len() as u64, share, "size");
    }
}

#[test]
fn zipf_is_zipf_at_the_drive_and_shared_by_the_workers() {
    let slots = 1000u64;
    let zipf = Stream {
        pattern: Pattern::Zipf { theta_milli: 1100 },
        span: Span {
            start: 0,
            length: slots * 4096,
        },
        workers: 2,
        ..stream()
    };
    let plan = plan(3, zipf.clone());
    let draws = 500_000;
    let mut seen = vec![0u64; slots as usize];
    let mut others = seen.clone();
    for io in ios(&plan, 0, draws) {
        seen[(io.offset / 4096) as usize] += 1;
    }
    for io in ios(&plan, 1, draws) {
        others[(io.offset / 4096) as usize] += 1;
    }
    let mass = |k: usize| (k as f64).powf(-1.1);
    let total: f64 = (1..=slots as usize).map(mass).sum();
    let mut order: Vec<usize> = (0..slots as usize).collect();
    order.sort_unstable_by_key(|&slot| std::cmp::Reverse(seen[slot]));
    // The hottest ten differ enough for their counts to tell them apart.
    for (index, &slot) in order.iter().take(10).enumerate() {
        let share = mass(index + 1) / total;
        assert_share(seen[slot], draws as u64, share, "hot block");
        assert_share(
            others[slot],
            draws as u64,
            share,
            "hot block of the other worker",
        );
    }
    // Scattered: the hottest ten are not neighbours, and another seed puts them elsewhere.
    let first_tenth = order[..10].iter().filter(|&&slot| slot < 100).count();
    assert!(first_tenth < 6, "{:?}", &order[..10]);
    let elsewhere = crate::workloads::plan(4, zipf);
    let hottest = ios(&elsewhere, 0, 2000);
    let on_old = hottest
        .iter()
        .filter(|io| io.offset / 4096 == order[0] as u64)
        .count();
    assert!(on_old < 200, "{on_old}");
}

#[test]
fn hot_places_are_shared_by_all_sizes() {
    let plan = plan(
        3,
        Stream {
            pattern: Pattern::Zipf { theta_milli: 1500 },
            block: blocks(&[(4096, 1), (65_536, 1)]),
            ..stream()
        },
    );
    let mut small: HashMap<u64, u64> = HashMap::new();
    let mut large: HashMap<u64, u64> = HashMap::new();
    for io in ios(&plan, 0, 50_000) {
        let counts = if io.length == 4096 {
            &mut small
        } else {
            &mut large
        };
        *counts.entry(io.offset / 65_536).or_default() += 1;
    }
    let hottest = |counts: &HashMap<u64, u64>| counts.iter().max_by_key(|e| e.1).map(|e| *e.0);
    assert_eq!(hottest(&small), hottest(&large));
}

#[test]
fn segments_get_all_of_it_alike_and_nothing_goes_between() {
    // 2048 segments of two blocks, each followed by three untouched blocks, and four more at the
    // end.
    let (count, start) = (2048u32, 4096 * 7);
    let plan = plan(
        3,
        Stream {
            pattern: Pattern::Segments {
                count,
                length_bytes: 2 * 4096,
                stride_bytes: 5 * 4096,
            },
            span: Span {
                start,
                length: (u64::from(count) * 5 + 4) * 4096,
            },
            ..stream()
        },
    );
    let draws = 400_000;
    let mut seen = vec![0u64; count as usize * 5 + 4];
    for io in ios(&plan, 0, draws) {
        seen[((io.offset - start) / 4096) as usize] += 1;
    }
    let total: u64 = (0..count as usize)
        .map(|at| seen[at * 5] + seen[at * 5 + 1])
        .sum();
    assert_eq!(total, draws as u64);
    for at in 0..count as usize {
        assert_share(
            seen[at * 5],
            draws as u64,
            0.5 / f64::from(count),
            "first block",
        );
        assert_share(
            seen[at * 5 + 1],
            draws as u64,
            0.5 / f64::from(count),
            "second block",
        );
    }
}

#[test]
fn bands_have_their_shares_and_edges() {
    // 1000 blocks: 80 % of the I/Os in the first 20 %, then an untouched band, then the remaining
    // I/Os.
    let plan = plan(
        3,
        Stream {
            pattern: Pattern::Bands(vec![band(80, 20), band(0, 30), band(20, 50)]),
            span: Span {
                start: 4096,
                length: 1000 * 4096,
            },
            ..stream()
        },
    );
    let draws = 400_000;
    let mut seen = vec![0u64; 1000];
    for io in ios(&plan, 0, draws) {
        seen[(io.offset / 4096 - 1) as usize] += 1;
    }
    let share = |from: usize, to: usize| seen[from..to].iter().sum::<u64>();
    assert_share(share(0, 200), draws as u64, 0.8, "hot band");
    assert_eq!(share(200, 500), 0);
    assert_share(share(500, 1000), draws as u64, 0.2, "cold band");
    assert_share(share(0, 100), draws as u64, 0.4, "half of the hot band");
    for slot in (0..200).step_by(20) {
        assert_share(seen[slot], draws as u64, 0.8 / 200.0, "hot block");
    }
}
