//! Latency, bandwidth and saturation against closed forms, with spread and retries off.

// The figures of a test that fails.
#![allow(clippy::print_stdout)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sim::draw::mix;
use sim::drive::{Drive, DriveSpec};
use sim::ftl::Ftl;
use sim::gc::Greedy;
use sim::host::HostSpec;
use sim::nand::{Geometry, Timing};
use sim::options::DriveOptions;
use workload::Op;

/// A TLC drive of 8 channels and 32 dies on four lanes of `PCIe` 3.
fn spec() -> DriveSpec {
    let geometry = Geometry {
        channels: 8,
        dies_per_channel: 4,
        planes: 2,
        page_bytes: 16384,
        pages_per_block: 48,
        bits_per_cell: 3,
        superblocks: 600,
    };
    DriveSpec {
        geometry,
        timing: Timing {
            read_ns: [60_000; 4],
            program_ns: 1_700_000,
            erase_ns: 5_000_000,
            unit_transfer_ns: 5_427,
            command_ns: 300,
            suspend_ns: Some(20_000),
            deferral_limit_ns: 20_000_000,
        },
        host: HostSpec {
            queue_limit: None,
            command_ns: 6_000,
            unit_link_ns_x1024: 1_170 * 1024,
            half_duplex: false,
            cores: 4,
            read_core_ns: 3_000,
            write_core_ns: 4_000,
        },
        user_bytes: geometry.raw_bytes() / 100 * 87 / 4096 * 4096,
        buffer_bytes: 16 << 20,
        reserve: 4,
        power_loss_protection: true,
        logical_block_bytes: 512,
        erase_every: 1,
        options: DriveOptions::default(),
    }
}

fn filled(spec: &DriveSpec) -> Drive<Ftl<Greedy>> {
    let mut drive = Drive::new(spec, Greedy);
    let mut now = 0;
    for i in 0..spec.user_bytes / 131_072 {
        now = drive.submit(now, Op::Write, i * 131_072, 131_072);
    }
    drive
}

struct Closed {
    /// I/Os per second over the second half of the submissions, free of the loop's beginning and end.
    steady_iops: f64,
    ios: u64,
    elapsed_ns: u64,
    latency_sum_ns: u128,
}

impl Closed {
    fn iops(&self) -> f64 {
        self.ios as f64 / self.elapsed_ns as f64 * 1e9
    }
}

/// `depth` workers, each with one I/O in flight, at random places.
fn closed_loop(
    drive: &mut Drive<Ftl<Greedy>>,
    spec: &DriveSpec,
    op: Op,
    depth: u64,
    ios: u64,
) -> Closed {
    let start = drive.idle_at() + 1_000_000;
    let mut workers: BinaryHeap<_> = (0..depth).map(|w| Reverse((start, w))).collect();
    let (mut latency_sum_ns, mut last, mut half, mut latest) = (0_u128, start, 0, 0);
    for n in 0..ios {
        let Reverse((now, worker)) = workers.pop().unwrap();
        latest = now;
        if n == ios / 2 {
            half = now;
        }
        let units = u128::from(spec.user_bytes / 4096);
        let unit = (u128::from(mix(3, n)) * units) >> 64;
        let done = drive.submit(now, op, unit as u64 * 4096, 4096);
        latency_sum_ns += u128::from(done - now);
        last = last.max(done);
        workers.push(Reverse((done, worker)));
    }
    let steady_iops = (ios - ios / 2) as f64 / (latest - half) as f64 * 1e9;
    Closed {
        steady_iops,
        ios,
        elapsed_ns: last - start,
        latency_sum_ns,
    }
}

fn within(what: &str, got: f64, expected: f64, share: f64) {
    println!(
        "{what}: {got:.1}, expected {expected:.1} ({:+.3} %)",
        (got / expected - 1.0) * 100.0
    );
    assert!(
        (got / expected - 1.0).abs() <= share,
        "{what}: {got}, expected {expected}"
    );
}

#[test]
fn a_read_at_depth_one_is_the_sum_of_its_parts() {
    let spec = spec();
    let mut drive = filled(&spec);
    let run = closed_loop(&mut drive, &spec, Op::Read, 1, 2000);
    let expected = 6_000 + 3_000 + 60_000 + 300 + 5_427 + 1_170;
    within(
        "depth-1 read",
        run.latency_sum_ns as f64 / 2000.0,
        f64::from(expected),
        1e-9,
    );
}

#[test]
fn a_write_at_depth_one_does_not_see_the_flash_until_the_buffer_is_full() {
    let spec = spec();
    let mut drive = filled(&spec);
    let run = closed_loop(&mut drive, &spec, Op::Write, 1, 1000);
    within(
        "depth-1 write",
        run.latency_sum_ns as f64 / 1000.0,
        f64::from(6_000 + 4_000 + 1_170),
        1e-9,
    );
}

#[test]
fn sequential_write_is_bound_by_programs_and_erases() {
    let spec = spec();
    let g = spec.geometry;
    let mut drive = filled(&spec);
    let blocks = spec.user_bytes / 131_072;
    let mut now = drive.idle_at();
    let mut pass = |drive: &mut Drive<Ftl<Greedy>>| {
        let start = now;
        for i in 0..blocks {
            now = drive.submit(now, Op::Write, i * 131_072, 131_072);
        }
        now - start
    };
    // The first pass after a fill uses up the spare superblocks before it has to erase any.
    pass(&mut drive);
    let elapsed_ns = pass(&mut drive) + pass(&mut drive);
    let got = (2 * blocks * 131_072) as f64 / elapsed_ns as f64 * 1000.0;
    within(
        "sequential write amplification",
        drive.ftl_counts().write_amplification().unwrap(),
        1.0,
        1e-12,
    );
    let word_line = f64::from(g.units_per_program() * 4096);
    let block = f64::from(g.planes * g.pages_per_block * g.page_bytes);
    let per_die = word_line / (1_700_000.0 + word_line * 5_000_000.0 / block) * 1000.0;
    within(
        "sequential write MB/s",
        got,
        per_die * f64::from(g.dies()),
        0.01,
    );
}

#[test]
fn random_reads_saturate_the_dies() {
    let spec = spec();
    let mut drive = filled(&spec);
    let dies = u64::from(spec.geometry.dies());
    let run = closed_loop(&mut drive, &spec, Op::Read, 64 * dies, 400_000);
    within(
        "random read IOPS",
        run.steady_iops,
        dies as f64 / 60e-6,
        0.01,
    );
}

#[test]
fn littles_law_holds() {
    let spec = spec();
    let mut drive = filled(&spec);
    for (op, depth) in [
        (Op::Read, 1),
        (Op::Read, 32),
        (Op::Write, 16),
        (Op::Read, 128),
    ] {
        let run = closed_loop(&mut drive, &spec, op, depth, 400_000);
        let in_flight = run.latency_sum_ns as f64 / run.elapsed_ns as f64;
        within(&format!("{op:?} in flight"), in_flight, depth as f64, 0.001);
    }
}

#[test]
fn steady_random_writes_are_bound_by_what_collection_costs() {
    let spec = spec();
    let g = spec.geometry;
    let mut drive = filled(&spec);
    let units = spec.user_bytes / 4096;
    closed_loop(&mut drive, &spec, Op::Write, 32, 3 * units);
    drive.reset_counts();
    let run = closed_loop(&mut drive, &spec, Op::Write, 32, units);
    let a = drive.ftl_counts().write_amplification().unwrap();
    let word_line = f64::from(g.units_per_program() * 4096);
    let block = f64::from(g.planes * g.pages_per_block * g.page_bytes);
    let bound = |k: f64| {
        let per_io = 4096.0 * (a * 1_700_000.0 / word_line + a * 5_000_000.0 / block)
            + (a - 1.0) * 60_000.0 * k;
        f64::from(g.dies()) / per_io * 1e9
    };
    println!(
        "write amplification {a:.3}, {:.0} IOPS, bounds {:.0} to {:.0}",
        run.iops(),
        bound(1.0),
        bound(0.125)
    );
    assert!(run.iops() > bound(1.0) * 0.97 && run.iops() < bound(0.125) * 1.01);
}
