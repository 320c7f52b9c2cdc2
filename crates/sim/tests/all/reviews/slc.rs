//! SLC caches.

use sim::drive::Drive;
use sim::ftl::{Ftl, Greedy};
use sim::profile::spec::{SlcSize, SlcSpec, WhenFull};
use workload::Op;

use crate::drives::loops::{random, sequential};
use crate::drives::{MIB, REVIEWED, SECOND, assert_within, reviewed};

fn slc(size: SlcSize, when_full: WhenFull) -> SlcSpec {
    SlcSpec {
        size,
        when_full,
        read_ns: 30_000,
        program_ns: 250_000,
    }
}

const STATIC: SlcSize = SlcSize::Static { bytes: 128 * MIB };

/// MB/s of each 16 MiB of sequential writes.
fn bandwidths(drive: &mut impl sim::drive::Device, start: u64, bytes: u64) -> Vec<f64> {
    let pieces = 0..bytes / (16 * MIB);
    pieces
        .map(|piece| sequential(drive, start + piece * 16 * MIB, 16 * MIB))
        .collect()
}

#[test]
fn the_cache_ends_and_comes_back_after_idle() {
    let mut drive = reviewed(|spec| {
        spec.user_bytes = spec.user_bytes / 100 * 85 / MIB * MIB;
        spec.options.slc = Some(slc(STATIC, WhenFull::Direct));
        spec.options.idle_after_ns = Some(SECOND);
    });
    let first = bandwidths(&mut drive, 0, 512 * MIB);
    let cached = drive.ftl_counts().cached_units * 4096;
    let (fast, slow) = (first[1], first[first.len() - 2]);
    println!("{fast:.0} MB/s for {} MiB, then {slow:.0}", cached / MIB);
    assert_within("MiB cached", cached as f64 / MIB as f64, 128.0, 0.06);
    assert!(fast > 2.0 * slow);
    let used = drive.ftl().slc().unwrap().used_bytes();
    assert!(used > 120 * MIB, "nothing is folded under load: {used}");
    drive.wait_until(drive.now() + 30 * SECOND);
    assert!(drive.ftl().slc().unwrap().used_bytes() < 8 * MIB);
    let again = bandwidths(&mut drive, 512 * MIB, 64 * MIB);
    assert!(again[1] > 0.9 * fast, "{again:?}");
    let counts = drive.ftl_counts();
    assert!(counts.folded_units > 0 && counts.one_bit_amplification().unwrap() < 0.5);
    // All data ends up in cells of several bits once, whether written there or folded.
    let many = counts.many_bit_amplification().unwrap();
    assert!((0.8..=1.01).contains(&many), "{many}");
}

#[test]
fn a_read_from_the_cache_takes_what_one_bit_a_cell_takes() {
    let mut drive = reviewed(|spec| {
        spec.user_bytes = spec.user_bytes / 100 * 85 / MIB * MIB;
        spec.options.slc = Some(slc(STATIC, WhenFull::Direct));
    });
    sequential(&mut drive, 0, 512 * MIB);
    drive.wait_until(drive.idle_at());
    let mut read = |offset| {
        let now = drive.now();
        let done = drive.submit(now, Op::Read, offset, 4096);
        drive.wait_until(done);
        done - now
    };
    let (cached, past) = (read(0), read(400 * MIB));
    assert_eq!(past - cached, REVIEWED.spec().timing.read_ns[0] - 30_000);
}

#[test]
fn where_every_write_passes_the_cache_the_flash_is_written_twice() {
    let mut drive = reviewed(|spec| {
        spec.user_bytes = spec.user_bytes / 100 * 80 / MIB * MIB;
        spec.options.slc = Some(slc(STATIC, WhenFull::Fold));
    });
    let seen = bandwidths(&mut drive, 0, 1024 * MIB);
    let counts = drive.ftl_counts();
    println!("{:.0} MB/s, when full {:.0}", seen[1], seen[40]);
    assert_eq!(counts.cached_units, counts.host_units);
    assert!(counts.many_bit_amplification().unwrap() > 0.8);
    assert!(seen[40] < 0.5 * seen[1]);
}

#[test]
fn a_dynamic_cache_shrinks_as_the_drive_fills() {
    let cached_at = |fill_pct: u64| {
        let size = SlcSize::Dynamic {
            bytes_at_most: 512 * MIB,
            pct_of_empty: 60,
        };
        let mut drive = reviewed(|spec| {
            spec.options.slc = Some(slc(size, WhenFull::Direct));
            spec.options.idle_after_ns = Some(SECOND);
        });
        let fill = REVIEWED.spec().user_bytes / 100 * fill_pct / MIB * MIB;
        sequential(&mut drive, 0, fill);
        drive.wait_until(drive.now() + 60 * SECOND);
        drive.reset_counts();
        sequential(&mut drive, 0, 320 * MIB);
        drive.ftl_counts().cached_units * 4096 / MIB
    };
    let (empty, half, full) = (cached_at(20), cached_at(70), cached_at(100));
    println!("MiB through the cache: {empty} at 20 %, {half} at 70 %, {full} when full");
    assert!(empty >= 250 && half < empty / 2 && half > 25 && full == 0);
}

#[test]
fn a_trim_of_everything_gives_the_cache_back_without_a_rest() {
    let dynamic = SlcSize::Dynamic {
        bytes_at_most: 512 * MIB,
        pct_of_empty: 60,
    };
    for (size, when_full) in [
        (dynamic, WhenFull::Direct),
        (dynamic, WhenFull::Fold),
        (STATIC, WhenFull::Direct),
        (STATIC, WhenFull::Fold),
    ] {
        let mut drive = reviewed(|spec| {
            spec.user_bytes = spec.user_bytes / 100 * 80 / MIB * MIB;
            spec.options.slc = Some(slc(size, when_full));
            // A real block has so many more word lines that its erase takes a fortieth of their program time.
            spec.timing.erase_ns = 200_000;
        });
        let user_bytes = drive.user_bytes();
        let cached = |drive: &mut Drive<Ftl<Greedy>>| {
            drive.reset_counts();
            let speed = sequential(drive, 0, 96 * MIB);
            let counts = drive.ftl_counts();
            assert_eq!((counts.folded_units, counts.moved_units), (0, 0));
            (counts.cached_units * 4096 / MIB, speed)
        };
        let fresh = cached(&mut drive);
        sequential(&mut drive, 0, user_bytes);
        random(&mut drive, user_bytes, 0, 32, 200_000);
        drive.wait_until(drive.idle_at());
        for at in (0..user_bytes).step_by(MIB as usize) {
            drive.submit(drive.now(), Op::Trim, at, MIB as u32);
        }
        let trimmed = cached(&mut drive);
        println!("{size:?} {when_full:?}: MiB cached and MB/s {fresh:?}, trimmed {trimmed:?}");
        assert!(trimmed.0 >= 95 && fresh.0 >= 95);
        assert!(trimmed.1 > 0.9 * fresh.1);
    }
}
