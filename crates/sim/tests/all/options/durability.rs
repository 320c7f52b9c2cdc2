//! When a write is durable: the write cache off, and FUA.

use sim::drive::Drive;
use sim::ftl::{Ftl, Greedy};
use workload::Op;

use crate::drives::loops::random;
use crate::drives::{Flash, SMALL, UNIT, assert_within, filled, lone_program_ns, lone_write_ns};

fn alone_ns(drive: &mut Drive<Ftl<Greedy>>, op: Op, offset: u64, length: u32) -> u64 {
    drive.wait_until(drive.idle_at());
    let now = drive.now();
    let done = drive.submit(now, op, offset, length);
    drive.wait_until(done);
    done - now
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
    // Each write took a word line of its own.
    let word_line = u64::from(spec.geometry.units_per_program());
    assert_eq!(drive.ftl_counts().padded_units, 100 * (word_line - 1));
    // Parallel writes keep more dies busy, each with a word line for 4 KiB.
    let depth = 4 * spec.geometry.dies();
    let got = random(&mut drive, spec.user_bytes / 4, 0, depth, 4000).steady_iops();
    let bound = f64::from(spec.geometry.dies()) / spec.timing.program_ns as f64 * 1e9;
    assert_within("IOPS with the write cache off", got, bound, 0.02);
}

#[test]
fn with_the_write_cache_off_the_longest_wait_does_not_grow_with_the_superblock() {
    for times in [1, 4, 16] {
        let flash = Flash {
            pages_per_block: SMALL.pages_per_block * times,
            ..SMALL
        };
        let mut spec = flash.spec();
        spec.options.write_through = true;
        spec.erase_every /= times;
        let drive = filled(&spec);
        let timing = &spec.timing;
        // Before the write, the die may have to erase and to program a word line for each of the two streams.
        let waits_ns = 2 * (timing.erase_ns + timing.program_ns);
        let bound_ns = lone_write_ns(&spec) + lone_program_ns(&spec) + waits_ns;
        for depth in [1, 4] {
            let mut drive = drive.clone();
            let erases = drive.ftl_counts().erases;
            let seen = random(&mut drive, spec.user_bytes, 0, depth, 15_000);
            let [longest_ns] = seen.quantiles_ns([1.0]);
            println!(
                "blocks {times} times as large, depth {depth}: {longest_ns} ns, at most {bound_ns}"
            );
            assert!(drive.ftl_counts().erases > erases + 20, "it collects");
            assert!(longest_ns <= bound_ns);
        }
    }
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

#[test]
fn a_flush_programs_what_the_open_word_line_holds_and_commits_its_entries() {
    for protected in [true, false] {
        let mut spec = SMALL.spec();
        (spec.power_loss_protection, spec.options.commit_ns) = (protected, 500_000);
        let (host, timing) = (spec.host, spec.timing);
        let mut drive = Drive::new(&spec, Greedy);
        for units in [1, 7, u64::from(spec.geometry.units_per_program()) - 1] {
            for unit in 0..units {
                alone_ns(&mut drive, Op::Write, unit * UNIT, UNIT as u32);
            }
            let now = drive.now();
            let done = drive.flush(now);
            // Each page of all planes crosses the bus separately.
            let bus_ns = units.div_ceil(8) * timing.command_ns + units * timing.unit_transfer_ns;
            let flash_ns = bus_ns + timing.program_ns + 500_000;
            let expected = host.command_ns + host.write_core_ns + flash_ns * u64::from(!protected);
            assert_eq!(
                done - now,
                expected,
                "{units} units, protected: {protected}"
            );
            drive.wait_until(done);
        }
    }
}

#[test]
fn what_is_made_durable_has_its_entries_of_the_map_committed() {
    let mut spec = SMALL.spec();
    (spec.power_loss_protection, spec.options.commit_ns) = (false, 500_000);
    let mut drive = filled(&spec);
    let done = drive.submit(drive.now(), Op::Write, 0, UNIT as u32);
    let durable = drive.durable_at(done);
    assert_eq!(durable - done, lone_program_ns(&spec) + 500_000);
    // Durable data is committed already.
    assert_eq!(drive.durable_at(durable), durable);
}
