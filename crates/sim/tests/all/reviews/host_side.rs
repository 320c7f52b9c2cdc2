//! The link and the medium: SATA's 32 commands, the cost of a flush, a medium without erase.

use sim::drive::Drive;
use sim::profile::spec::Geometry;
use workload::Op;

use crate::drives::loops::{random, sequential};
use crate::drives::{MIB, REVIEWED, UNIT, assert_within, lone_program_ns, lone_write_ns, reviewed};

#[test]
fn beyond_32_commands_wait_in_the_host_of_a_sata_drive() {
    let run = |depth| {
        let mut drive = reviewed(|spec| {
            spec.host.queue_limit = Some(32);
            spec.host.half_duplex = true;
            spec.host.unit_link_ns_x1024 = 7_300 * 1024;
        });
        sequential(&mut drive, 0, 512 * MIB);
        drive.wait_until(drive.idle_at());
        random(&mut drive, 512 * MIB, 100, depth, 100_000)
    };
    let (inside, beyond) = (run(32), run(128));
    assert_within("IOPS at depth 128", beyond.iops(), inside.iops(), 0.01);
    // The device sees the same load. Commands spend the other three quarters of their latency in the host.
    assert_within(
        "latency at depth 128, ns",
        beyond.mean_ns(),
        4.0 * inside.mean_ns(),
        0.01,
    );
}

#[test]
fn a_flush_costs_a_program_without_power_loss_protection() {
    let run = |protected| {
        let mut drive = reviewed(|spec| spec.power_loss_protection = protected);
        let mut now = 0;
        for n in 0..1000 {
            now = drive.submit(now, Op::Write, n * UNIT, UNIT as u32);
            now = drive.flush(now);
        }
        let cost = drive.ftl_counts().write_amplification().unwrap();
        (now as f64 / 1000.0, cost)
    };
    let spec = REVIEWED.spec();
    let ((with, with_cost), (without, without_cost)) = (run(true), run(false));
    let commands_ns = lone_write_ns(&spec) + spec.host.command_ns + spec.host.write_core_ns;
    assert_within("write and flush, ns", with, commands_ns as f64, 1e-9);
    assert!((with_cost - 1.0).abs() < 1e-9);
    let bare_ns = commands_ns + lone_program_ns(&spec);
    assert_within("without protection, ns", without, bare_ns as f64, 1e-9);
    let word_line = f64::from(spec.geometry.units_per_program());
    assert_within("cost without protection", without_cost, word_line, 0.01);
}

/// A flush ends the word lines that hold data, over however many dies the stripe goes.
#[test]
fn a_flush_costs_one_word_line_of_a_stripe_and_leaves_the_others_to_be_written() {
    let cost = |stripe_dies| {
        let mut drive = reviewed(|spec| {
            spec.power_loss_protection = false;
            spec.options.stripe_dies = stripe_dies;
        });
        let mut now = 0;
        for n in 0..1000 {
            now = drive.submit(now, Op::Write, n * UNIT, UNIT as u32);
            now = drive.flush(now);
        }
        let programs = drive.flash_counts().programs;
        (drive.ftl_counts().write_amplification().unwrap(), programs)
    };
    let word_line = f64::from(REVIEWED.spec().geometry.units_per_program());
    for stripe_dies in [1, 2, 4] {
        let (amplification, programs) = cost(stripe_dies);
        assert_within("programmed by the host", amplification, word_line, 0.01);
        assert_eq!(programs, 1000, "a program for each flush");
    }
}

#[test]
fn a_medium_written_in_place_is_flat_over_all_mixes() {
    let mut spec = REVIEWED.spec();
    spec.geometry = Geometry {
        channels: 7,
        dies_per_channel: 2,
        planes: 1,
        page_bytes: 4096,
        pages_per_block: 1024,
        bits_per_cell: 1,
        superblocks: 50,
    };
    spec.timing.read_ns = [5_000; 4];
    spec.timing.program_ns = 5_000;
    spec.timing.unit_transfer_ns = 1_000;
    spec.timing.suspend_ns = None;
    spec.user_bytes = 700_000 * UNIT;
    spec.options.write_through = true;
    spec.host.command_ns = 1_500;
    spec.host.cores = 1;
    spec.host.read_core_ns = 1_800;
    spec.host.write_core_ns = 1_800;
    let mut drive = Drive::in_place(&spec);
    sequential(&mut drive, 0, spec.user_bytes);
    let mixes: Vec<f64> = [0, 10, 30, 50, 70, 90, 100]
        .map(|read_pct| random(&mut drive, spec.user_bytes, read_pct, 32, 100_000).iops())
        .to_vec();
    let first = random(&mut drive, spec.user_bytes, 100, 1, 1000).mean_ns();
    println!("{mixes:.0?} IOPS from all writes to all reads; {first:.0} ns at depth 1");
    let (lowest, highest) = mixes
        .iter()
        .fold((f64::MAX, 0.0_f64), |(l, m), &x| (l.min(x), m.max(x)));
    assert!(highest / lowest < 1.15);
    assert_eq!(drive.ftl_counts().write_amplification(), Some(1.0));
    assert!(first < 12_000.0);
}
