//! Single writes, sequential writes and random writes.

use sim::drive::Drive;
use sim::ftl::{Ftl, Greedy};
use sim::profile::spec::DriveSpec;

use crate::drives::loops::{random, sequential};
use crate::drives::{assert_within, filled, lone_write_ns, tortured};
use crate::physics::{spec, with};

/// Die time in ns for each byte programmed, erases included.
fn die_ns_per_byte(spec: &DriveSpec) -> f64 {
    let g = &spec.geometry;
    let word_line = f64::from(g.units_per_program() * 4096);
    let block = f64::from(g.planes * g.pages_per_block * g.page_bytes * spec.erase_every);
    spec.timing.program_ns as f64 / word_line + spec.timing.erase_ns as f64 / block
}

/// Bytes per ns that the channels transfer for programs, with a command for each page of all planes.
fn channel_bytes_per_ns(spec: &DriveSpec) -> f64 {
    let units = u64::from(spec.geometry.units_per_read());
    let page_ns = spec.timing.command_ns + units * spec.timing.unit_transfer_ns;
    f64::from(spec.geometry.channels) * (units * 4096) as f64 / page_ns as f64
}

#[test]
fn alone_a_write_does_not_see_the_flash_until_the_buffer_is_full() {
    let spec = spec();
    let mut drive = filled(&spec);
    let units = spec.buffer_bytes / 4096;
    let got = random(&mut drive, spec.user_bytes, 0, 1, units / 2).mean_ns();
    assert_within("depth-1 write, ns", got, lone_write_ns(&spec) as f64, 1e-9);
}

/// MB/s of sequential overwrites in the steady state.
fn in_order(spec: &DriveSpec) -> f64 {
    let mut drive: Drive<Ftl<Greedy>> = filled(spec);
    // The first pass after a fill uses up the spare superblocks before it has to erase any.
    sequential(&mut drive, 0, spec.user_bytes);
    drive.reset_counts();
    let passes = [0, 1].map(|_| sequential(&mut drive, 0, spec.user_bytes));
    assert_eq!(drive.ftl_counts().write_amplification(), Some(1.0));
    2.0 / passes.map(f64::recip).iter().sum::<f64>()
}

#[test]
fn in_order_the_scarcest_part_is_always_busy() {
    let whole = spec();
    let dies = f64::from(whole.geometry.dies());
    let slow_bus = with(|spec| spec.timing.unit_transfer_ns = 40_000);
    for (what, spec, bytes_per_ns) in [
        ("programs and erases", whole, dies / die_ns_per_byte(&whole)),
        ("channels", slow_bus, channel_bytes_per_ns(&slow_bus)),
        (
            "link",
            with(|spec| spec.host.unit_link_ns_x1024 = 7_300 * 1024),
            4096.0 / 7_300.0,
        ),
        (
            "cores",
            with(|spec| (spec.host.cores, spec.host.write_core_ns) = (1, 200_000)),
            131_072.0 / 200_000.0,
        ),
    ] {
        let what = format!("sequential write bound by {what}, MB/s");
        assert_within(&what, in_order(&spec), bytes_per_ns * 1000.0, 0.01);
    }
}

/// IOPS and write amplification of random writes in the steady state.
fn at_random(spec: &DriveSpec) -> (f64, f64) {
    let mut drive = tortured(spec);
    let seen = random(&mut drive, spec.user_bytes, 0, 32, spec.user_bytes / 4096);
    (
        seen.steady_iops(),
        drive.ftl_counts().write_amplification().unwrap(),
    )
}

#[test]
fn at_random_the_dies_are_bound_by_what_collection_costs() {
    let spec = spec();
    let (iops, a) = at_random(&spec);
    // An array read of collection brings between one unit and a page of all planes.
    let bound = |reads_per_unit: f64| {
        let moves_ns = (a - 1.0) * spec.timing.read_ns[0] as f64 * reads_per_unit;
        f64::from(spec.geometry.dies()) / (4096.0 * a * die_ns_per_byte(&spec) + moves_ns) * 1e9
    };
    let (lowest, highest) = (
        bound(1.0),
        bound(1.0 / f64::from(spec.geometry.units_per_read())),
    );
    println!("write amplification {a:.3}, {iops:.0} IOPS, bounds {lowest:.0} to {highest:.0}");
    assert!(iops > lowest && iops < highest);
}

#[test]
fn at_random_a_slow_bus_takes_what_is_moved_twice() {
    let spec = with(|spec| (spec.timing.unit_transfer_ns, spec.timing.command_ns) = (60_000, 0));
    let (iops, a) = at_random(&spec);
    let bound = channel_bytes_per_ns(&spec) / (4096.0 * (2.0 * a - 1.0)) * 1e9;
    assert_within("random write IOPS bound by channels", iops, bound, 0.02);
}
