//! Partial writes of mapping units: parts meet in the buffer, and a unit that gives way is completed by a read.

use sim::drive::Drive;
use sim::ftl::{Ftl, Greedy};
use sim::profile::spec::{DriveSpec, ReadAheadSpec};
use workload::Op;
use workload::random::mix;

use crate::drives::loops::{below, random_blocks};
use crate::drives::{SMALL, UNIT, assert_within, filled, lone_program_ns, lone_write_ns, tortured};

type Plain = Drive<Ftl<Greedy>>;

fn alone_ns(drive: &mut Plain, op: Op, offset: u64, length: u32) -> u64 {
    drive.wait_until(drive.idle_at());
    let now = drive.now();
    let done = drive.submit(now, op, offset, length);
    drive.wait_until(done);
    done - now
}

/// Latency of a write of `bytes` while the buffer has room.
fn write_ns(spec: &DriveSpec, bytes: u64) -> u64 {
    let link_ns = |bytes: u64| bytes * spec.host.unit_link_ns_x1024 / (UNIT * 1024);
    lone_write_ns(spec) - link_ns(UNIT) + link_ns(bytes)
}

/// A drive with mapping units of `unit_kib`, of which the buffer holds `contexts` in part.
fn spec(unit_kib: u32, contexts: u32) -> DriveSpec {
    let mut spec = SMALL.spec();
    spec.options.mapping_units = unit_kib / 4;
    spec.options.write_contexts = contexts;
    spec
}

/// Array reads, and units placed for the host.
fn work(drive: &Plain) -> (u64, u64) {
    (drive.flash_counts().reads, drive.ftl_counts().host_units)
}

/// Writes in sequential streams that take turns, each in its own part of the drive.
fn in_streams(drive: &mut Plain, streams: u64, bytes: u64, writes: u64) {
    let each = drive.user_bytes() / streams / 65_536 * 65_536;
    for n in 0..writes {
        let at = n % streams * each + n / streams * bytes % each;
        let done = drive.submit(drive.now(), Op::Write, at, bytes as u32);
        drive.wait_until(done);
    }
}

#[test]
fn a_part_is_done_in_the_buffer_and_its_rest_is_read_when_it_makes_way() {
    let spec = spec(4, 1);
    let mut drive = filled(&spec);
    let before = work(&drive);
    for (n, (bytes, read, placed)) in [
        // The first part is held; each further one makes the one before it give way.
        (512, 0, 0),
        (1024, 1, 1),
        // A whole unit is not held.
        (4096, 1, 2),
        // One and a half units.
        (6144, 2, 4),
    ]
    .into_iter()
    .enumerate()
    {
        let got = alone_ns(&mut drive, Op::Write, n as u64 * 10 * UNIT, bytes);
        assert_eq!(got, write_ns(&spec, bytes.into()), "{bytes} bytes");
        drive.wait_until(drive.idle_at());
        let now = work(&drive);
        assert_eq!(
            (now.0 - before.0, now.1 - before.1),
            (read, placed),
            "{bytes}"
        );
    }
    let counts = drive.ftl_counts();
    let bytes = spec.user_bytes + 512 + 1024 + 4096 + 6144;
    // Parts that are still held count as written by the host.
    assert_eq!(counts.host_bytes(), bytes);
}

#[test]
fn a_part_of_an_empty_unit_has_nothing_to_read() {
    let mut spec = spec(16, 1);
    spec.power_loss_protection = false;
    let mut drive: Plain = Drive::new(&spec, Greedy);
    let got = alone_ns(&mut drive, Op::Write, 512, 512);
    assert_eq!(got, write_ns(&spec, 512));
    assert!(drive.holds(0) && drive.holds(3) && !drive.holds(4));
    let now = drive.now();
    let timing = &spec.timing;
    // The whole mapping unit crosses the bus and is programmed.
    let program_ns = timing.command_ns + 4 * timing.unit_transfer_ns + timing.program_ns;
    assert_eq!(drive.durable_at(now) - now, program_ns);
    assert_eq!(work(&drive), (0, 4));
}

#[test]
fn a_flush_makes_whole_what_is_held_unless_that_is_safe() {
    for protected in [true, false] {
        let mut spec = spec(16, 8);
        spec.power_loss_protection = protected;
        let mut drive = filled(&spec);
        let before = work(&drive);
        alone_ns(&mut drive, Op::Write, 0, 4096);
        drive.wait_until(drive.idle_at());
        let now = drive.now();
        let took_ns = drive.durable_at(now) - now;
        let after = work(&drive);
        let (reads, placed) = (after.0 - before.0, after.1 - before.1);
        if protected {
            assert_eq!((took_ns, reads, placed), (0, 0, 0));
            continue;
        }
        let timing = &spec.timing;
        let rest_ns = timing.read_ns[0] + timing.command_ns + 3 * timing.unit_transfer_ns;
        let more_ns = 3 * timing.unit_transfer_ns;
        assert_eq!(took_ns, rest_ns + lone_program_ns(&spec) + more_ns);
        assert_eq!((reads, placed), (1, 4));
    }
}

#[test]
fn with_the_write_cache_off_each_part_is_made_whole_at_once() {
    let mut spec = spec(4, 8);
    spec.options.write_through = true;
    spec.options.commit_ns = 5_000;
    let mut drive: Plain = Drive::new(&spec, Greedy);
    for at in (0..64 * UNIT).step_by(UNIT as usize) {
        alone_ns(&mut drive, Op::Write, at, UNIT as u32);
    }
    let timing = &spec.timing;
    let rest_ns = timing.read_ns[0] + timing.command_ns + timing.unit_transfer_ns;
    for n in 0..20 {
        let got = alone_ns(&mut drive, Op::Write, n * UNIT + 512 * (n % 8), 512);
        let expected = write_ns(&spec, 512) + rest_ns + lone_program_ns(&spec) + 5_000;
        assert_eq!(got, expected);
    }
}

#[test]
fn small_writes_in_order_cost_what_large_ones_do() {
    for (unit_kib, bytes, streams) in [(4, 512, 1), (4, 1024, 8), (16, 4096, 8), (64, 512, 3)] {
        let spec = spec(unit_kib, 8);
        let mut drive = filled(&spec);
        drive.reset_counts();
        let before = work(&drive);
        let writes = 65_536 / bytes * streams * 200;
        in_streams(&mut drive, streams, bytes, writes);
        let after = work(&drive);
        assert_eq!(
            after.0 - before.0,
            0,
            "{unit_kib} KiB, {bytes} bytes: reads"
        );
        assert_eq!(drive.ftl_counts().host_bytes(), writes * bytes);
        let cost = drive.ftl_counts().write_amplification().unwrap();
        assert_within(
            &format!("{unit_kib} KiB, {bytes} bytes in {streams} streams"),
            cost,
            1.0,
            0.01,
        );
    }
}

#[test]
fn streams_beyond_the_contexts_cost_what_random_writes_do() {
    let placed = |streams: u64, random: bool| {
        let mut drive = filled(&spec(16, 8));
        drive.reset_counts();
        let reads = drive.flash_counts().reads;
        let writes = 16_000;
        if random {
            for n in 0..writes {
                let at = below(mix(9, n), drive.user_bytes() / UNIT) * UNIT;
                let done = drive.submit(drive.now(), Op::Write, at, 4096);
                drive.wait_until(done);
            }
        } else {
            in_streams(&mut drive, streams, UNIT, writes);
        }
        // Waits for units whose missing part is still being read.
        drive.wait_until(drive.idle_at());
        let counts = drive.ftl_counts();
        let reads = drive.flash_counts().reads - reads;
        let of_host = counts.host_units as f64 / writes as f64;
        (of_host, reads as f64 / writes as f64)
    };
    // Each write makes another mapping unit give way, and all of that is placed.
    let (units, _) = placed(32, true);
    assert_within("random writes of 4 KiB", units, 4.0, 0.01);
    for streams in [9, 32] {
        let (units, _) = placed(streams, false);
        assert_within(&format!("{streams} streams"), units, 4.0, 0.01);
    }
    for streams in [1, 8] {
        let (units, reads) = placed(streams, false);
        assert_within(&format!("{streams} streams"), units, 1.0, 0.01);
        assert!(reads < 0.01, "{reads} reads a write in {streams} streams");
    }
}

#[test]
fn streams_beyond_those_followed_cost_what_random_reads_do() {
    let reads = |streams: u64| {
        let mut spec = SMALL.spec();
        spec.options.read_ahead = Some(ReadAheadSpec {
            units: 32,
            streams: 8,
        });
        let mut drive = filled(&spec);
        let before = drive.flash_counts().reads;
        let each = drive.user_bytes() / streams / 65_536 * 65_536;
        for n in 0..16_000 {
            let at = n % streams * each + n / streams * UNIT;
            let done = drive.submit(drive.now(), Op::Read, at, 4096);
            drive.wait_until(done);
        }
        (drive.flash_counts().reads - before) as f64 / 16_000.0
    };
    let [few, many] = [8, 32].map(reads);
    println!("array reads for each read: {few} of 8 streams, {many} of 32");
    assert_within("of 32 streams", many, 1.0, 0.01);
    assert!(few < 0.5);
}

#[test]
fn random_parts_show_what_they_cost() {
    // 512 B in units of 4 KiB, and 4 KiB in units of 16 KiB.
    for (unit_kib, bytes) in [(4, 512), (16, 4096)] {
        let ratio = f64::from(unit_kib) * 1024.0 / bytes as f64;
        let cost = |size: u64| {
            let mut drive = filled(&spec(unit_kib, 4));
            let blocks = drive.user_bytes() / size;
            let units = drive.user_bytes() / (u64::from(unit_kib) * 1024);
            for n in 0..4 * units {
                if n == 3 * units {
                    drive.reset_counts();
                }
                // One random block of each mapping unit.
                let at = below(mix(3, n), blocks) * size;
                let done = drive.submit(drive.now(), Op::Write, at, size as u32);
                drive.wait_until(done);
            }
            drive.ftl_counts().write_amplification().unwrap()
        };
        let whole = cost(u64::from(unit_kib) * 1024);
        let parts = cost(bytes);
        assert!(whole > 2.0);
        assert_within(
            &format!("{bytes} bytes in {unit_kib} KiB"),
            parts / whole,
            ratio,
            0.01,
        );
    }
}

#[test]
fn random_parts_wait_as_evenly_as_whole_units() {
    // 512 B in units of 4 KiB, 4 KiB and 512 B in units of 16 KiB: each write programs a whole unit.
    for (unit_kib, bytes) in [(4, 512), (16, 4096), (16, 512)] {
        let unit = unit_kib * 1024;
        let drive = tortured(&spec(unit_kib as u32, 16));
        let shape = |bytes: u64| {
            let mut drive = drive.clone();
            let user = drive.user_bytes();
            // Fills the buffer before measuring.
            random_blocks(&mut drive, bytes, user, 0, 32, 20_000);
            let seen = random_blocks(&mut drive, bytes, user, 0, 32, 40_000);
            [0.5, 0.99, 1.0].map(|share| seen.quantiles_ns([share])[0] as f64 / seen.mean_ns())
        };
        let (whole, parts) = (shape(unit), shape(bytes));
        let what = format!("{bytes} B in {unit_kib} KiB");
        println!("{what}: {parts:.3?} of the mean, of whole units {whole:.3?}");
        assert_within(&format!("{what}: median"), parts[0], whole[0], 0.2);
        assert_within(&format!("{what}: p99"), parts[1], whole[1], 0.2);
        assert!(parts[2] < 1.5 * whole[2], "{what}: {}", parts[2]);
    }
}

#[test]
fn what_is_overwritten_trimmed_or_purged_is_not_held() {
    let spec = spec(16, 8);
    let mut drive = filled(&spec);
    let (reads, units) = work(&drive);
    alone_ns(&mut drive, Op::Write, 0, 4096);
    alone_ns(&mut drive, Op::Write, 0, 16_384);
    assert_eq!(work(&drive), (reads, units + 4), "overwritten");
    alone_ns(&mut drive, Op::Write, 0, 4096);
    alone_ns(&mut drive, Op::Trim, 0, 8192);
    assert!(drive.holds(0) && drive.holds(1), "a part is not forgotten");
    alone_ns(&mut drive, Op::Trim, 0, 16_384);
    assert!((0..4).all(|unit| !drive.holds(unit)) && drive.holds(4));
    alone_ns(&mut drive, Op::Write, 65_536, 4096);
    let now = drive.purge(drive.now());
    drive.wait_until(now);
    assert!((0..32).all(|unit| !drive.holds(unit)));
    assert_eq!(work(&drive), (reads, units + 4));
}

#[test]
fn a_small_buffer_full_of_parts_goes_on() {
    for protected in [true, false] {
        let mut spec = spec(32, 8);
        spec.power_loss_protection = protected;
        let line = u64::from(spec.geometry.units_per_program());
        // The least buffer that a profile may have.
        spec.buffer_bytes = (line + 9 * 8) * UNIT;
        let mut drive = filled(&spec);
        let blocks = drive.user_bytes() / 512;
        let mut dues = [drive.now(); 32];
        for n in 0..30_000_u64 {
            let slot = (0..32).min_by_key(|&slot| dues[slot]).unwrap();
            let length = 512 * (1 + mix(5, n) % 100);
            let at = below(mix(4, n), blocks - 100) * 512;
            let op = if mix(6, n).is_multiple_of(20) {
                Op::Trim
            } else {
                Op::Write
            };
            dues[slot] = drive.submit(dues[slot], op, at, length as u32);
            if mix(7, n).is_multiple_of(100) {
                let now = drive.now();
                drive.durable_at(now);
            }
        }
        let written = drive.ftl_counts();
        assert!(written.part_units > 0 && written.host_bytes() > 0);
    }
}
