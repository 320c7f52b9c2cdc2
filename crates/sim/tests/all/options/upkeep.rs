//! Background work (wear levelling, idle collection), and variation among blocks.

use sim::drive::Drive;
use sim::ftl::{Ftl, Greedy, Translation};
use sim::profile::spec::{HousekeepingSpec, SlcSize, SlcSpec, SpreadSpec, WearRule, WhenFull};
use workload::Op;

use crate::drives::loops::{random, sequential};
use crate::drives::{
    MIB, MS, REVIEWED, SECOND, UNIT, assert_within, filled, lone_read_ns, reviewed, tortured,
};

#[test]
fn wear_levelling_bounds_the_spread_of_erases() {
    let run = |wear| {
        let mut spec = REVIEWED.spec();
        spec.options.wear = wear;
        let mut drive = filled(&spec);
        // Only a tenth of the data changes; the rest is never overwritten.
        random(&mut drive, spec.user_bytes / 10, 0, 32, 2_500_000);
        let (lowest, highest) = drive.ftl().wear();
        (highest - lowest, drive.ftl_counts())
    };
    let (plain, _) = run(WearRule::default());
    let coldest_first = true;
    let (dynamic, counts) = run(WearRule {
        coldest_first,
        move_resting_after: None,
    });
    assert_eq!(counts.levelled_units, 0);
    let threshold = 8;
    let (both, counts) = run(WearRule {
        coldest_first,
        move_resting_after: Some(threshold),
    });
    println!(
        "erases apart: {plain}, dynamic {dynamic}, with resting data moved {both}, {} units for it",
        counts.levelled_units
    );
    // Resting data keeps its superblocks from being erased, whichever free ones are opened.
    assert!(plain > 15 && dynamic > 15);
    // All resting data reaches the threshold at about the same time, and one of its superblocks is moved for each erase. Until
    // that is done, the others are erased this many more times.
    let spec = REVIEWED.spec();
    let superblock_bytes = u64::from(spec.geometry.units_per_superblock()) * UNIT;
    let resting = (spec.user_bytes / 10 * 9).div_ceil(superblock_bytes) as u32;
    let meanwhile = resting.div_ceil(spec.geometry.superblocks - resting);
    assert!(both <= threshold + meanwhile + 1 && counts.levelled_units > 0);
    assert!(counts.levelled_units < counts.moved_units);
}

#[test]
fn collection_when_idle_gives_fresh_superblocks() {
    let run = |idle_free_superblocks| {
        let mut spec = REVIEWED.spec();
        spec.options.idle_after_ns = Some(SECOND);
        spec.options.idle_free_superblocks = idle_free_superblocks;
        let mut drive = tortured(&spec);
        // The idle time counts from the last command.
        let start = drive.now();
        drive.submit(start, Op::Read, 0, 4096);
        drive.wait_until(start + SECOND);
        assert_eq!(
            drive.ftl_counts().erases,
            0,
            "it has not been idle for longer"
        );
        drive.wait_until(drive.now() + 60 * SECOND);
        let won = drive.ftl_counts().erases;
        (
            random(&mut drive, spec.user_bytes, 0, 32, 20_000).iops(),
            won,
        )
    };
    let ((without, none), (with, won)) = (run(0), run(60));
    println!("burst after idle: {without:.0} IOPS, with {won} superblocks won when idle {with:.0}");
    // A collection that has begun is finished in any case.
    assert!(none <= 1 && won >= 50 && with > 2.0 * without);
}

#[test]
fn collection_when_idle_keeps_to_the_idle_time_where_channels_bound_it() {
    let mut spec = REVIEWED.spec();
    spec.options.idle_after_ns = Some(SECOND);
    spec.options.idle_free_superblocks = spec.geometry.superblocks;
    // A word line occupies its channel three times as long as its die.
    spec.timing.unit_transfer_ns = 200_000;
    let mut drive = tortured(&spec);
    drive.wait_until(drive.idle_at() + 10 * SECOND);
    assert!(
        drive.ftl_counts().erases > 10,
        "there was something to collect"
    );
    let waited = drive.submit(drive.now(), Op::Read, 0, 4096) - drive.now();
    println!("read after collection: {waited} ns");
    // Work begun last: 32 word lines, each unit out and in, on one channel in the worst case.
    let begun_last = 32 * spec.geometry.units_per_program() * 2;
    assert!(waited < u64::from(begun_last) * spec.timing.unit_transfer_ns);
}

#[test]
fn spread_and_retries_give_reads_a_tail_and_leave_their_mean() {
    let run = |spread| {
        let mut drive: Drive<Ftl<Greedy>> = reviewed(|spec| spec.options.spread = spread);
        sequential(&mut drive, 0, 1024 * MIB);
        drive.wait_until(drive.idle_at());
        random(&mut drive, 1024 * MIB, 100, 1, 100_000)
    };
    let spread = SpreadSpec {
        seed: 1,
        block_sigma_milli: 60,
        die_sigma_milli: 20,
        retry_ppm: 1_000,
        retry_ppm_per_kilo_erase: 0,
        retries_at_most: 5,
        retry_pct: 100,
        retry_step_pct: 50,
    };
    let (plain, seen) = (run(None), run(Some(spread)));
    let alone_ns = lone_read_ns(&REVIEWED.spec());
    assert_eq!(plain.quantiles_ns([0.0, 1.0]), [alone_ns; 2]);
    assert_within(
        "mean with spread, ns",
        seen.mean_ns(),
        plain.mean_ns(),
        0.01,
    );
    let [middle, ninety_nine, last] = seen.quantiles_ns([0.5, 0.99, 0.9999]);
    assert!(ninety_nine > middle + 5_000);
    assert!(
        last > middle + REVIEWED.spec().timing.read_ns[0] * 4 / 5,
        "a second attempt"
    );
}

#[test]
fn what_is_folded_when_idle_keeps_no_write_waiting_for_the_data_path() {
    let unit_ns = 20_000;
    let mut drive = reviewed(|spec| {
        spec.options.slc = Some(SlcSpec {
            size: SlcSize::Static { bytes: 64 * MIB },
            when_full: WhenFull::Direct,
            read_ns: 30_000,
            program_ns: 300_000,
        });
        spec.options.idle_after_ns = Some(100 * MS);
        // The dies could fold four times as fast.
        spec.options.data_unit_ns_x1024 = unit_ns * 1024;
    });
    sequential(&mut drive, 0, 48 * MIB);
    let rested = drive.now() + 200 * MS;
    drive.wait_until(rested);
    let folded = drive.ftl_counts().folded_units;
    let done = drive.submit(rested, Op::Write, 0, UNIT as u32);
    println!(
        "{folded} units folded, then a write in {} ns",
        done - rested
    );
    // Folded units have passed the data path or are about to: at most what the dies get at once.
    let at_once = 64 * 24;
    assert!(folded > 4000 && folded <= 100 * MS / unit_ns + at_once);
    assert!(done - rested < 5 * unit_ns);
}

#[test]
fn a_firmware_that_stops_makes_tails_and_costs_little_else() {
    let run = |housekeeping| {
        let mut spec = REVIEWED.spec();
        spec.options.housekeeping = housekeeping;
        let mut drive = tortured(&spec);
        let seen = random(&mut drive, spec.user_bytes, 0, 32, 400_000);
        let mut waits: Vec<u64> = seen.ios.iter().map(|&(at, done)| done - at).collect();
        waits.sort_unstable();
        let of_mean = [0.5, 0.999, 1.0].map(|part| {
            let at = ((waits.len() as f64 * part) as usize).min(waits.len() - 1);
            waits[at] as f64 / seen.mean_ns()
        });
        let reads = random(&mut drive, spec.user_bytes, 100, 1, 20_000);
        let amplification = drive.ftl_counts().write_amplification().unwrap();
        (seen.iops(), amplification, of_mean, reads.mean_ns())
    };
    let (iops, amplification, before, reads_ns) = run(None);
    let every_units = 2048;
    let pause_ns = MS;
    let (with, amplified, [half, nines, most], then_ns) = run(Some(HousekeepingSpec {
        seed: 1,
        every_units,
        pause_ns,
    }));
    println!(
        "{iops} and {with} IOPS; of the mean {before:?} and {:?}",
        [half, nines, most]
    );
    // Each stop delays the writes in flight, 32 of 2048, by a millisecond on average.
    assert!(nines > 1.3 * before[1] && nines < 20.0 && half < 1.0);
    assert!(most > 1.5 * nines && most > 2.0 * before[2]);
    // The buffer drains during a stop, so the loss is at most the time of the stops.
    let lost = f64::from(every_units) / iops;
    let least = iops * lost / (lost + pause_ns as f64 / 1e9);
    assert!(
        (0.99 * least..1.01 * iops).contains(&with),
        "{least} {with} {iops}"
    );
    assert_within("amplification", amplified, amplification, 0.02);
    assert_within("a lone read", then_ns, reads_ns, 0.001);
}
