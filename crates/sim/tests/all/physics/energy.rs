//! Energy by class, against the operations that used it and against the trace.

use sim::profile::spec::DriveSpec;

use crate::drives::loops::{random, sequential};
use crate::drives::{MIB, MS, POWER, REVIEWED, assert_within, reviewed};

#[test]
fn each_class_is_what_its_operations_take_and_the_trace_is_their_sum() {
    let DriveSpec { timing, .. } = REVIEWED.spec();
    let mut drive = reviewed(|spec| spec.options.power = Some(POWER));
    let (written, small) = (REVIEWED.spec().user_bytes, 250_000);
    // Writing twice makes erases, and random writes make moves.
    sequential(&mut drive, 0, written);
    sequential(&mut drive, 0, written / 2);
    random(&mut drive, written, 0, 8, small);
    random(&mut drive, written, 100, 8, small);
    let (counts, energy) = (drive.flash_counts(), drive.power().unwrap().energy());
    assert!(counts.erases > 0 && drive.ftl_counts().moved_units > 0);
    let by = |operations: u64, ns: u64, mw: u64| u128::from(operations) * u128::from(ns * mw);
    assert_eq!(
        energy.reads_pj,
        by(counts.reads, timing.read_ns[0], POWER.read_mw)
    );
    assert_eq!(
        energy.programs_pj,
        by(counts.programs, timing.program_ns, POWER.program_mw)
    );
    assert_eq!(
        energy.erases_pj,
        by(counts.erases, timing.erase_ns, POWER.erase_mw)
    );
    assert_eq!(
        energy.transfers_pj,
        by(counts.transfers, 1, POWER.unit_transfer_pj)
    );
    let (blocks, small) = (written / MIB * 12, 2 * small);
    assert_eq!(energy.commands_pj, by(blocks + small, 1, POWER.command_pj));
    let bytes = written + written / 2 + small * 4096;
    assert_eq!(energy.link_pj, by(bytes, 1, POWER.link_byte_pj));
    let meter = drive.power().unwrap();
    assert_eq!(meter.trace_pj(), energy.total_pj());
    // The mean power of the whole run is its energy over its time.
    let end = drive.idle_at().max(drive.now()) + 10 * MS;
    let used_pj = energy.total_pj() as f64 + POWER.idle_mw as f64 * end as f64;
    assert_within(
        "mean power, mW",
        meter.mean_mw(0, end),
        used_pj / end as f64,
        1e-9,
    );
}
