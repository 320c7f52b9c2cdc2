//! A scaled drive behaves like the whole one: write amplification, steady IOPS and percentiles.

// Tests print the figures that they check.
#![allow(clippy::print_stdout)]

use sim::drive::Drive;
use sim::ftl::{Ftl, Greedy, Translation};
use sim::profile::spec::DriveSpec;
use sim::{Profile, Size};

use crate::drives::loops::{Seen, random, sequential};
use crate::drives::{UNIT, assert_within, theory};

const ENTERPRISE: &str =
    include_str!("../../../../python/ssdlab/profiles/nvme-tlc-enterprise.toml");
const TINY: &str = include_str!("../../../../python/ssdlab/profiles/tiny-test.toml");

/// A profile of 50 GB of flash on 4 dies. Its blocks of 64 word lines can be made 64 times smaller.
fn profile() -> Profile {
    let mut text = TINY.to_owned();
    for (key, value) in [
        ("capacity_bytes", 36_238_786_560_u64),
        ("channels", 2),
        ("dies_per_channel", 2),
        ("pages_per_block", 192),
        ("blocks_per_plane", 2000),
    ] {
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("{key} = ")));
        let line = line.unwrap().to_owned();
        text = text.replace(
            &line,
            &format!("{key} = {{ value = {value}, source = \"chosen\" }}"),
        );
    }
    Profile::parse(&text).unwrap()
}

/// Steady-state results at one scale.
struct Steady {
    spec: DriveSpec,
    rho: f64,
    cost: f64,
    writes: Seen,
    mixed: Seen,
}

/// Erases of both frontiers coincide or alternate, and this drifts over hundreds of superblocks. A whole drive writes fewer
/// superblocks in a given time than a small one, so it needs a longer run.
fn mixed_ios(scale: u32) -> u64 {
    if scale == 1 { 6_400_000 } else { 1_600_000 }
}

fn steady(scale: u32) -> Steady {
    let spec = profile().spec(Size { scale, spare: None }).unwrap();
    let bytes = spec.user_bytes;
    let mut drive: Drive<Ftl<Greedy>> = Drive::new(&spec, Greedy);
    sequential(&mut drive, 0, bytes);
    // At a spare of 28 %, two overwrites leave nothing of the order of the fill.
    let overwrites = bytes / UNIT * 2;
    for _ in 0..16 {
        random(&mut drive, bytes, 0, 32, overwrites / 16);
    }
    drive.reset_counts();
    let writes = random(&mut drive, bytes, 0, 32, 400_000);
    let cost = drive.ftl_counts().write_amplification().unwrap();
    let rho = 1.0 - drive.ftl().effective_spare();
    let mixed = random(&mut drive, bytes, 70, 8, mixed_ios(scale));
    Steady {
        spec,
        rho,
        cost,
        writes,
        mixed,
    }
}

/// The lowest and highest p99.9 among the tenths of a run, in ns.
fn p999_of_stretches(seen: &Seen) -> std::ops::RangeInclusive<u64> {
    let of = |ios: &[(u64, u64)]| {
        let [p999] = Seen { ios: ios.to_vec() }.quantiles_ns([0.999]);
        p999
    };
    let all: Vec<u64> = seen.ios.chunks(seen.ios.len() / 10).map(of).collect();
    *all.iter().min().unwrap()..=*all.iter().max().unwrap()
}

#[test]
fn a_smaller_drive_behaves_like_the_whole() {
    let whole = steady(1);
    let expected = |of: &Steady| theory::greedy(of.rho, of.spec.geometry.units_per_superblock());
    let expected_whole = expected(&whole);
    for scale in [4, 16, 64] {
        let small = steady(scale);
        assert_eq!(
            small.spec.geometry.superblocks,
            whole.spec.geometry.superblocks
        );
        assert_eq!(small.spec.geometry.dies(), whole.spec.geometry.dies());
        // Smaller superblocks vary more in their valid units, which helps collection. Theory predicts by how much, and the
        // remaining difference is within 1 %. This drive has few dies, so that scale 1 can be simulated, and differs by 2 % at
        // scale 64. Superblocks of a real drive have thousands of units at any scale.
        let by_theory = expected(&small) / expected_whole;
        assert!((by_theory - 1.0).abs() < 0.03);
        let what = |figure: &str| format!("{figure} at scale {scale}");
        let cost = small.cost / whole.cost;
        assert_within(&what("write amplification"), cost, by_theory, 0.01);
        let iops = small.writes.steady_iops() / whole.writes.steady_iops();
        assert_within(&what("write IOPS"), iops * cost, 1.0, 0.02);
        let mixed = small.mixed.steady_iops() / whole.mixed.steady_iops();
        assert_within(&what("mixed IOPS"), mixed, 1.0, 0.04);
        let shares = [0.5, 0.99];
        let (got, expected) = (
            small.mixed.quantiles_ns(shares),
            whole.mixed.quantiles_ns(shares),
        );
        for ((share, got), expected) in shares.iter().zip(got).zip(expected) {
            let figure = what(&format!("{} % of mixed latencies, ns,", share * 100.0));
            assert_within(&figure, got as f64, expected as f64, 0.05);
        }
        // One I/O in a thousand waits for something rare, and such waits cluster. The whole drive's own p99.9 shows how much it
        // varies between stretches of a run.
        let of_stretches = p999_of_stretches(&whole.mixed);
        let [got] = small.mixed.quantiles_ns([0.999]);
        println!(
            "{} {got} ns, {of_stretches:?}",
            what("99.9 % of mixed latencies:")
        );
        assert!(of_stretches.contains(&got), "{got} {of_stretches:?}");
    }
}

/// IOPS and 99th percentile in ns of steady writes on a drive whose dies differ, after ten seconds of work.
fn with_unlike_dies(scale: u32) -> (f64, f64) {
    let profile = Profile::parse(ENTERPRISE).unwrap();
    assert!(profile.unscaled().contains(&"spread.die_sigma_pct"));
    let spec = profile.spec(Size { scale, spare: None }).unwrap();
    let mut drive: Drive<Ftl<Greedy>> = Drive::new(&spec, Greedy);
    assert!(drive.place_steady(1));
    random(&mut drive, spec.user_bytes, 0, 32, 1_000_000);
    let seen = random(&mut drive, spec.user_bytes, 0, 32, 1_000_000);
    let [p99] = seen.quantiles_ns([0.99]);
    (seen.steady_iops(), p99 as f64)
}

#[test]
fn dies_that_differ_fall_apart_alike_in_the_same_time_at_each_scale() {
    let (iops, p99) = with_unlike_dies(64);
    for scale in [16, 128] {
        let (got_iops, got_p99) = with_unlike_dies(scale);
        assert_within(&format!("IOPS at scale {scale}"), got_iops, iops, 0.01);
        let figure = format!("99th percentile at scale {scale}, ns,");
        assert_within(&figure, got_p99, p99, 0.05);
    }
}
