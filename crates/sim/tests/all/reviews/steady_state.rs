//! Reaching the steady state, its cost, and leaving it.

use sim::drive::Drive;
use sim::ftl::{Ftl, Greedy, Translation};
use sim::profile::spec::TrimRule;
use workload::Op;

use crate::drives::loops::{beside_writes, random, sequential};
use crate::drives::{Flash, MIB, REVIEWED, UNIT, assert_within, filled, theory, tortured};
use crate::reviews::TORTURED;

#[test]
fn random_writes_fall_off_a_cliff_and_then_stay_down() {
    let spec = REVIEWED.spec();
    let units = spec.user_bytes / UNIT;
    let seen = random(&mut filled(&spec), spec.user_bytes, 0, 32, 4 * units);
    let tenths = seen.by_tenth();
    let fresh = tenths[1];
    let tail = &tenths[tenths.len() * 3 / 4..tenths.len() - 1];
    let steady = tail.iter().sum::<u64>() as f64 / tail.len() as f64;
    println!("fresh {fresh}, steady {steady:.0} I/Os in 100 ms");
    assert!(fresh as f64 > 3.0 * steady);
    let (lowest, highest) = (tail.iter().min().unwrap(), tail.iter().max().unwrap());
    assert!(
        *lowest as f64 > 0.7 * steady && (*highest as f64) < 1.3 * steady,
        "{lowest} {highest}"
    );
}

#[test]
fn sequential_and_random_writes_in_turn_make_a_saw_tooth() {
    let bytes = REVIEWED.spec().user_bytes;
    let mut drive = TORTURED.clone();
    let mut last_rough = f64::INFINITY;
    for _ in 0..2 {
        let rough = random(&mut drive, bytes, 0, 32, bytes / UNIT / 2).iops() * UNIT as f64 / 1e6;
        // The first pass reclaims what the random writes have left.
        sequential(&mut drive, 0, bytes);
        drive.reset_counts();
        let smooth = sequential(&mut drive, 0, bytes);
        println!("{rough:.0} MB/s at random, {smooth:.0} in order");
        assert!(smooth > 3.0 * rough);
        assert_eq!(drive.ftl_counts().write_amplification(), Some(1.0));
        // Each random stretch is like the one before, except the first, which had no sequential stretch before it.
        assert!(last_rough.is_infinite() || rough > last_rough);
        last_rough = rough;
    }
}

/// IOPS, write amplification and effective spare in the steady state of writes to the first `span_pct` of the flash. The user
/// can address `user_pct` of it.
fn steady(user_pct: u64, span_pct: u64) -> (f64, f64, f64) {
    let spec = Flash {
        user_pct,
        ..REVIEWED
    }
    .spec();
    let span = spec.geometry.raw_bytes() / 100 * span_pct / MIB * MIB;
    let mut drive = Drive::new(&spec, Greedy);
    sequential(&mut drive, 0, span);
    random(&mut drive, span, 0, 32, 3 * span / UNIT);
    drive.reset_counts();
    let seen = random(&mut drive, span, 0, 32, span / UNIT);
    let cost = drive.ftl_counts().write_amplification().unwrap();
    (seen.steady_iops(), cost, drive.ftl().effective_spare())
}

#[test]
fn spare_moves_the_steady_state_as_theory_says() {
    let (narrow, narrow_cost, narrow_spare) = steady(93, 93);
    let (wide, wide_cost, wide_spare) = steady(75, 75);
    let (limited, limited_cost, _) = steady(93, 75);
    println!("IOPS {narrow:.0}, {wide:.0}; by limiting LBAs {limited:.0}");
    let units = REVIEWED.spec().geometry.units_per_superblock();
    for (cost, spare) in [(narrow_cost, narrow_spare), (wide_cost, wide_spare)] {
        let expected = theory::greedy(1.0 - spare, units);
        assert_within(
            &format!("cost at a spare of {spare:.3}"),
            cost,
            expected,
            0.03,
        );
    }
    // A host that leaves LBAs unused gains as much as from a drive with more spare flash.
    assert_within("cost by limiting LBAs", limited_cost, wide_cost, 0.01);
    assert_within("IOPS by limiting LBAs", limited, wide, 0.02);
    let won = narrow_cost / wide_cost;
    assert_within("IOPS won by spare", wide / narrow, won, 0.05);
}

/// Write amplification after a trim of the whole drive in its steady state.
fn cost_after_trim(drive: &mut Drive<Ftl<Greedy>>) -> f64 {
    let bytes = drive.user_bytes();
    let mut done = drive.now();
    for piece in 0..bytes.div_ceil(64 * MIB) {
        let start = piece * 64 * MIB;
        let length = (bytes - start).min(64 * MIB);
        done = drive.submit(done, Op::Trim, start, length as u32);
    }
    drive.wait_until(done);
    drive.reset_counts();
    random(drive, bytes, 0, 32, bytes / UNIT / 2);
    drive.ftl_counts().write_amplification().unwrap()
}

#[test]
fn trim_restores_a_tortured_drive_unless_it_is_ignored() {
    let mut deaf = REVIEWED.spec();
    deaf.options.trim = TrimRule::Ignored;
    let honoured = cost_after_trim(&mut TORTURED.clone());
    let ignored = cost_after_trim(&mut tortured(&deaf));
    println!("write amplification after trim {honoured:.3}, ignored {ignored:.3}");
    assert!(honoured < 1.01 && ignored > 3.0);
}

#[test]
fn a_purge_makes_the_drive_as_new() {
    let spec = REVIEWED.spec();
    let fresh = sequential(&mut Drive::new(&spec, Greedy), 0, 512 * MIB);
    let mut drive = TORTURED.clone();
    let start = drive.now();
    let done = drive.purge(start);
    let erases = u64::from(spec.geometry.superblocks / spec.erase_every);
    assert!(
        done - start >= erases * spec.timing.erase_ns,
        "a die erases its blocks one after another"
    );
    drive.wait_until(done);
    drive.reset_counts();
    let again = sequential(&mut drive, 0, 512 * MIB);
    assert_within("MB/s after a purge", again, fresh, 0.02);
    assert_eq!(drive.ftl_counts().write_amplification(), Some(1.0));
}

#[test]
fn collection_slows_every_write_and_not_one_in_a_word_line() {
    let spec = REVIEWED.spec();
    let seen = random(&mut TORTURED.clone(), spec.user_bytes, 0, 32, 200_000);
    let mean = seen.mean_ns();
    let [median, p99, p9999] = seen.quantiles_ns([0.5, 0.99, 0.9999]).map(|ns| ns as f64);
    let slow = seen
        .ios
        .iter()
        .filter(|io| (io.1 - io.0) as f64 > mean / 2.0);
    let share = slow.count() as f64 / seen.ios.len() as f64;
    println!(
        "mean {mean:.0} ns, median {median}, 99 % {p99}, 99.99 % {p9999}; {share:.4} are slow"
    );
    // Each write waits for its share of all programs: 31 others are ahead of it.
    assert!(median > mean / 2.0 && median < mean * 2.0);
    // This share would be slow if one write of each word line waited for a program.
    let word_line = 1.0 / f64::from(spec.geometry.units_per_program());
    assert!(share > 10.0 * word_line, "{share}");
    // A die that erases first delays its own programs, but the buffer has room for what arrives meanwhile.
    assert!(p9999 < mean + spec.timing.erase_ns as f64);
}

#[test]
fn beside_collection_reads_wait_longer_and_writes_stall_no_read() {
    let spec = REVIEWED.spec();
    let read = |drive: &mut _, writes: u32| {
        let seen = beside_writes(drive, spec.user_bytes, READS_PER_S, writes, 50_000);
        seen.quantiles_ns([0.5, 0.99, 0.9999])
    };
    let idle = read(&mut TORTURED.clone(), 0);
    let writes = random(&mut TORTURED.clone(), spec.user_bytes, 0, 32, 200_000).steady_iops();
    let beside = read(&mut TORTURED.clone(), writes as u32 / 2);
    println!("median, 99 %, 99.99 % in ns: {idle:?}, beside collection {beside:?}");
    let busy = spec.timing.suspend_ns.unwrap();
    assert!(
        beside[1] > idle[1] + busy,
        "what runs has to be suspended first"
    );
    assert!(
        beside[2] < spec.timing.program_ns,
        "no read waits for a program"
    );
}

/// About 5 % of the dies' read capacity on the reviewed drive.
const READS_PER_S: u32 = 13_000;

#[test]
fn reads_at_a_fixed_rate_wait_longer_the_more_is_written_beside_them() {
    let spec = REVIEWED.spec();
    let writes = random(&mut TORTURED.clone(), spec.user_bytes, 0, 32, 200_000).steady_iops();
    let [first, rest @ ..] = [0, 25, 50, 75, 95].map(|pct| {
        let rate = (writes * f64::from(pct) / 100.0) as u32;
        let drive = &mut TORTURED.clone();
        let seen = beside_writes(drive, spec.user_bytes, READS_PER_S, rate, 100_000);
        let [p99] = seen.quantiles_ns([0.99]);
        println!(
            "{pct} % of {writes:.0} writes/s: mean {:.0} ns, p99 {p99}",
            seen.mean_ns()
        );
        (seen.mean_ns(), p99 as f64)
    });
    let mut before = first;
    for (mean, p99) in rest {
        // With 100,000 reads, either figure has a noise of at most 1 %.
        assert!(mean > 0.99 * before.0 && p99 > 0.99 * before.1);
        assert!(mean <= 1e6);
        before = (mean, p99);
    }
    assert!(before.1 >= 1.3 * first.1);
}
