//! When a write is done: parts of units, the write cache off, FUA.

use sim::drive::Drive;
use sim::ftl::{Ftl, Greedy};
use sim::profile::spec::DriveSpec;
use workload::Op;

use crate::drives::loops::random;
use crate::drives::{SMALL, UNIT, assert_within, filled, lone_program_ns, lone_write_ns};

fn alone_ns(drive: &mut Drive<Ftl<Greedy>>, op: Op, offset: u64, length: u32) -> u64 {
    drive.wait_until(drive.idle_at());
    let now = drive.now();
    let done = drive.submit(now, op, offset, length);
    drive.wait_until(done);
    done - now
}

/// A write of so many bytes at depth one that need not be read for.
fn write_ns(spec: &DriveSpec, bytes: u64) -> u64 {
    let link_ns = |bytes: u64| bytes * spec.host.unit_link_ns_x1024 / (UNIT * 1024);
    lone_write_ns(spec) - link_ns(UNIT) + link_ns(bytes)
}

#[test]
fn a_write_of_part_of_a_unit_reads_the_rest_first() {
    let spec = SMALL.spec();
    let mut drive = filled(&spec);
    let read_ns = spec.timing.read_ns[0] + spec.timing.command_ns + spec.timing.unit_transfer_ns;
    // From, bytes, units read, units written. Both ends of the last lie on dies of their own.
    for (from, bytes, read, written) in [
        (0, 512, 1, 1),
        (10 * UNIT + 512, 1024, 1, 1),
        (20 * UNIT, 4096, 0, 1),
        (30 * UNIT, 6144, 1, 2),
        (40 * UNIT + 2048, 26 * 4096, 2, 27),
    ] {
        let (reads, units) = (drive.flash_counts().reads, drive.ftl_counts().host_units);
        let got = alone_ns(&mut drive, Op::Write, from, bytes as u32);
        assert_eq!(
            drive.flash_counts().reads - reads,
            read,
            "reads for {bytes} bytes at {from}"
        );
        assert_eq!(drive.ftl_counts().host_units - units, written);
        let waits_ns = if read > 0 { read_ns } else { 0 };
        // Two reads may share a channel: the second crosses after the first.
        let expected = write_ns(&spec, bytes) + waits_ns;
        let second_ns = spec.timing.command_ns + spec.timing.unit_transfer_ns;
        let highest = expected + if read > 1 { second_ns } else { 0 };
        assert!(
            (expected..=highest).contains(&got),
            "{got} of {expected} for {bytes} bytes at {from}"
        );
    }
}

#[test]
fn a_write_of_part_of_an_empty_unit_has_nothing_to_read() {
    let spec = SMALL.spec();
    let mut drive = Drive::new(&spec, Greedy);
    let got = alone_ns(&mut drive, Op::Write, 512, 512);
    assert_eq!((got, drive.flash_counts().reads), (write_ns(&spec, 512), 0));
}

#[test]
fn with_the_write_cache_off_a_write_is_done_when_it_is_in_flash() {
    let mut spec = SMALL.spec();
    spec.options.write_through = true;
    let mut drive = Drive::new(&spec, Greedy);
    for n in 0..100 {
        let got = alone_ns(&mut drive, Op::Write, n * UNIT, UNIT as u32);
        assert_eq!(got, lone_write_ns(&spec) + lone_program_ns(&spec));
    }
    // Each took a word line of its own.
    let word_line = u64::from(spec.geometry.units_per_program());
    assert_eq!(drive.ftl_counts().padded_units, 100 * (word_line - 1));
    // More of them at once keep more dies busy, each with a word line for 4 KiB.
    let depth = 4 * spec.geometry.dies();
    let got = random(&mut drive, spec.user_bytes / 4, 0, depth, 4000).steady_iops();
    let bound = f64::from(spec.geometry.dies()) / spec.timing.program_ns as f64 * 1e9;
    assert_within("IOPS with the write cache off", got, bound, 0.02);
}

#[test]
fn a_write_with_fua_waits_for_the_flash_only_without_power_loss_protection() {
    for protected in [true, false] {
        let mut spec = SMALL.spec();
        spec.power_loss_protection = protected;
        let mut drive = filled(&spec);
        let now = drive.now();
        let done = drive.submit(now, Op::Write, 0, UNIT as u32);
        let durable = drive.durable_at(done);
        assert_eq!(done - now, lone_write_ns(&spec), "in the buffer");
        let flash_ns = if protected { 0 } else { lone_program_ns(&spec) };
        assert_eq!(durable - done, flash_ns, "protected: {protected}");
    }
}
