//! What reviews of drives show, seen on simulated ones.

// The figures of a test that fails.
#![allow(clippy::print_stdout)]

use std::collections::BTreeSet;

use sim::device::Device;
use sim::draw::mix;
use sim::drive::{Drive, DriveSpec};
use sim::ftl::Ftl;
use sim::gc::{CostBenefit, Greedy};
use sim::host::HostSpec;
use sim::mapping_cache::RecentlyUsed;
use sim::nand::{Geometry, Timing};
use sim::options::{DriveOptions, TrimRule, WearRule};
use sim::power::PowerSpec;
use sim::slc_cache::{SlcSize, SlcSpec, WhenFull};
use sim::spread::SpreadSpec;
use sim::thermal::{ThermalSpec, ThrottlePoint};
use sim::translation::Translation;
use workload::Op;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;
const MIB: u64 = 1 << 20;

/// A TLC drive of 4 channels and 16 dies with 4.7 GiB of flash.
fn spec() -> DriveSpec {
    let geometry = Geometry {
        channels: 4,
        dies_per_channel: 4,
        planes: 2,
        page_bytes: 16384,
        pages_per_block: 12,
        bits_per_cell: 3,
        superblocks: 800,
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
        user_bytes: geometry.raw_bytes() / 100 * 87 / MIB * MIB,
        buffer_bytes: 8 << 20,
        reserve: 4,
        power_loss_protection: true,
        logical_block_bytes: 512,
        erase_every: 8,
        options: DriveOptions::default(),
    }
}

fn with(change: impl FnOnce(&mut DriveSpec)) -> Drive<Ftl<Greedy>> {
    let mut spec = spec();
    change(&mut spec);
    Drive::new(&spec, Greedy)
}

/// Writes `bytes` from `start` on in order. Returns MB/s as the host sees it.
fn sequential(drive: &mut impl Device, start: u64, bytes: u64) -> f64 {
    let begin = drive.now();
    let mut slots: BTreeSet<(u64, u32)> = (0..4).map(|slot| (begin, slot)).collect();
    let mut last = begin;
    for block in 0..bytes / 131_072 {
        let (now, slot) = slots.pop_first().unwrap();
        let done = drive.submit(now, Op::Write, start + block * 131_072, 131_072);
        last = last.max(done);
        slots.insert((done, slot));
    }
    drive.wait_until(last);
    bytes as f64 / (last - begin) as f64 * 1000.0
}

/// What a closed loop saw.
struct Seen {
    iops: f64,
    /// I/Os of each 100 ms.
    by_tenth: Vec<u64>,
    latency_ns: Vec<u64>,
}

impl Seen {
    fn quantile_ns(&mut self, share: f64) -> u64 {
        self.latency_ns.sort_unstable();
        let last = self.latency_ns.len() - 1;
        self.latency_ns[(last as f64 * share) as usize]
    }

    fn mean_ns(&self) -> f64 {
        self.latency_ns.iter().sum::<u64>() as f64 / self.latency_ns.len() as f64
    }
}

/// `depth` I/Os of 4 KiB in flight at random places of the first `span` bytes.
fn random(drive: &mut impl Device, span: u64, read_pct: u64, depth: u32, ios: u64) -> Seen {
    let begin = drive.now();
    let mut slots: BTreeSet<(u64, u32)> = (0..depth).map(|slot| (begin, slot)).collect();
    let mut seen = Seen {
        iops: 0.0,
        by_tenth: Vec::new(),
        latency_ns: Vec::with_capacity(ios as usize),
    };
    let mut last = begin;
    for n in 0..ios {
        let (now, slot) = slots.pop_first().unwrap();
        let unit = (u128::from(mix(begin, n)) * u128::from(span / 4096)) >> 64;
        let read = mix(!begin, n) % 100 < read_pct;
        let op = if read { Op::Read } else { Op::Write };
        let done = drive.submit(now, op, unit as u64 * 4096, 4096);
        seen.latency_ns.push(done - now);
        let tenth = ((done - begin) / (100 * MS)) as usize;
        if seen.by_tenth.len() <= tenth {
            seen.by_tenth.resize(tenth + 1, 0);
        }
        seen.by_tenth[tenth] += 1;
        last = last.max(done);
        slots.insert((done, slot));
    }
    drive.wait_until(last);
    seen.iops = ios as f64 / (last - begin) as f64 * 1e9;
    seen
}

/// Fills the drive and overwrites it at random until collection is in its steady state.
fn torture<T: Translation>(drive: &mut Drive<T>, spec: &DriveSpec) {
    sequential(drive, 0, spec.user_bytes);
    random(drive, spec.user_bytes, 0, 32, 3 * spec.user_bytes / 4096);
    drive.reset_counts();
}

#[test]
fn random_writes_fall_off_a_cliff_and_then_stay_down() {
    let spec = spec();
    let mut drive = Drive::new(&spec, Greedy);
    sequential(&mut drive, 0, spec.user_bytes);
    let units = spec.user_bytes / 4096;
    let seen = random(&mut drive, spec.user_bytes, 0, 32, 4 * units);
    let fresh = seen.by_tenth[1];
    let tail = &seen.by_tenth[seen.by_tenth.len() * 3 / 4..seen.by_tenth.len() - 1];
    let steady = tail.iter().sum::<u64>() as f64 / tail.len() as f64;
    println!("fresh {fresh}, steady {steady:.0} I/Os in 100 ms");
    assert!(fresh as f64 > 3.0 * steady);
    let (least, most) = (tail.iter().min().unwrap(), tail.iter().max().unwrap());
    assert!(
        *least as f64 > 0.7 * steady && (*most as f64) < 1.3 * steady,
        "{least} {most}"
    );
}

#[test]
fn sequential_and_random_writes_in_turn_make_a_saw_tooth() {
    let spec = spec();
    let mut drive = Drive::new(&spec, Greedy);
    torture(&mut drive, &spec);
    let mut teeth = Vec::new();
    for _ in 0..3 {
        let before = drive.ftl_counts();
        random(
            &mut drive,
            spec.user_bytes,
            0,
            32,
            spec.user_bytes / 4096 / 2,
        );
        let rough = drive.ftl_counts().moved_units - before.moved_units;
        sequential(&mut drive, 0, spec.user_bytes);
        let before = drive.ftl_counts();
        sequential(&mut drive, 0, spec.user_bytes);
        let smooth = drive.ftl_counts().moved_units - before.moved_units;
        teeth.push((rough, smooth));
    }
    println!("moves of random and of sequential writes: {teeth:?}");
    assert!(
        teeth
            .iter()
            .all(|&(rough, smooth)| rough > 100 * smooth.max(1))
    );
}

/// Desnoyers, SYSTOR 2012, for first come first collected; greedy comes close to it from below.
fn theory(spare: f64) -> f64 {
    let alpha = 1.0 / (1.0 - spare);
    let target = -alpha * f64::exp(-alpha);
    let (mut low, mut high) = (-1.0_f64, 0.0_f64);
    for _ in 0..100 {
        let w = f64::midpoint(low, high);
        if w * w.exp() < target {
            low = w;
        } else {
            high = w;
        }
    }
    alpha / (alpha + low)
}

fn steady_iops(user_pct: u64, span_pct: u64) -> (f64, f64, f64) {
    let mut spec = spec();
    spec.user_bytes = spec.geometry.raw_bytes() / 100 * user_pct / MIB * MIB;
    let span = spec.geometry.raw_bytes() / 100 * span_pct / MIB * MIB;
    let mut drive = Drive::new(&spec, Greedy);
    sequential(&mut drive, 0, span);
    random(&mut drive, span, 0, 32, 3 * span / 4096);
    drive.reset_counts();
    let seen = random(&mut drive, span, 0, 32, span / 4096);
    let amplification = drive.ftl_counts().write_amplification().unwrap();
    (seen.iops, amplification, drive.ftl().effective_spare())
}

#[test]
fn spare_moves_the_steady_state_as_theory_says() {
    let (narrow, a_narrow, spare_narrow) = steady_iops(93, 93);
    let (wide, a_wide, spare_wide) = steady_iops(75, 75);
    let (limited, a_limited, _) = steady_iops(93, 75);
    println!(
        "IOPS {narrow:.0}, {wide:.0}; by limiting LBAs {limited:.0}; WA {a_narrow:.2} {a_wide:.2} {a_limited:.2}"
    );
    for (got, spare) in [(a_narrow, spare_narrow), (a_wide, spare_wide)] {
        assert!(
            (got / theory(spare) - 1.0).abs() < 0.06,
            "{got} {}",
            theory(spare)
        );
    }
    // A host that leaves LBAs alone gets what a maker gives with more flash.
    assert!((a_limited / a_wide - 1.0).abs() < 0.01);
    assert!((limited / wide - 1.0).abs() < 0.02);
    assert!(wide / narrow > 0.8 * a_narrow / a_wide, "{}", wide / narrow);
}

fn slc(size: SlcSize, when_full: WhenFull) -> SlcSpec {
    SlcSpec {
        size,
        when_full,
        read_ns: 30_000,
        program_ns: 250_000,
    }
}

/// MB/s of each 16 MiB.
fn bandwidth_profile(drive: &mut Drive<Ftl<Greedy>>, start: u64, bytes: u64) -> Vec<f64> {
    let pieces = bytes / (16 * MIB);
    (0..pieces)
        .map(|piece| sequential(drive, start + piece * 16 * MIB, 16 * MIB))
        .collect()
}

#[test]
fn the_slc_cache_ends_and_comes_back_after_idle() {
    let size = SlcSize::Static { bytes: 128 * MIB };
    let mut drive = with(|spec| {
        spec.user_bytes = spec.user_bytes / 100 * 85 / MIB * MIB;
        spec.options.slc = Some(slc(size, WhenFull::Direct));
        spec.options.idle_after_ns = Some(SECOND);
    });
    let first = bandwidth_profile(&mut drive, 0, 512 * MIB);
    let cached = drive.ftl_counts().cached_units * 4096;
    let (fast, slow) = (first[1], first[first.len() - 2]);
    println!(
        "fast {fast:.0} MB/s for {} MiB, then {slow:.0}",
        cached / MIB
    );
    assert!((cached as f64 / (128.0 * MIB as f64) - 1.0).abs() < 0.06);
    assert!(fast > 2.0 * slow);
    let used = drive.ftl().slc().unwrap().used_bytes();
    assert!(used > 120 * MIB, "nothing is folded under load: {used}");
    drive.wait_until(drive.now() + 30 * SECOND);
    assert!(drive.ftl().slc().unwrap().used_bytes() < 8 * MIB);
    let again = bandwidth_profile(&mut drive, 512 * MIB, 64 * MIB);
    assert!(again[1] > 0.9 * fast, "{again:?}");
    let counts = drive.ftl_counts();
    assert!(counts.folded_units > 0 && counts.one_bit_amplification().unwrap() < 0.5);
    // All data lies with all bits of a cell once, whether written there or folded.
    let many = counts.many_bit_amplification().unwrap();
    assert!((0.8..=1.01).contains(&many), "{many}");
}

#[test]
fn where_every_write_passes_the_cache_the_flash_is_written_twice() {
    let size = SlcSize::Static { bytes: 128 * MIB };
    let mut drive = with(|spec| {
        spec.user_bytes = spec.user_bytes / 100 * 80 / MIB * MIB;
        spec.options.slc = Some(slc(size, WhenFull::Fold));
    });
    let seen = bandwidth_profile(&mut drive, 0, 1024 * MIB);
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
            bytes_at_most: 1024 * MIB,
            pct_of_empty: 60,
        };
        let mut drive = with(|spec| {
            spec.options.slc = Some(slc(size, WhenFull::Direct));
            spec.options.idle_after_ns = Some(SECOND);
        });
        let fill = spec().user_bytes / 100 * fill_pct / MIB * MIB;
        sequential(&mut drive, 0, fill);
        drive.wait_until(drive.now() + 60 * SECOND);
        drive.reset_counts();
        sequential(&mut drive, 0, 640 * MIB);
        drive.ftl_counts().cached_units * 4096 / MIB
    };
    let (empty, half, full) = (cached_at(20), cached_at(70), cached_at(100));
    println!("MiB through the cache: {empty} at 20 %, {half} at 70 %, {full} when full");
    assert!(empty >= 500 && half < empty / 2 && half > 50 && full == 0);
}

fn power() -> PowerSpec {
    PowerSpec {
        window_ns: MS,
        idle_mw: 1_500,
        read_mw: 120,
        program_mw: 200,
        erase_mw: 100,
        unit_transfer_pj: 600_000,
        command_pj: 1_500_000,
        link_byte_pj: 120,
        cap_mw: None,
        thermal: None,
    }
}

#[test]
fn a_power_cap_is_never_exceeded_and_costs_writes_more_than_reads() {
    let run = |cap_mw| {
        let mut drive = with(|spec| {
            spec.options.power = Some(PowerSpec { cap_mw, ..power() });
        });
        let bytes = 1024 * MIB;
        let write = sequential(&mut drive, 0, bytes);
        let mixed = random(&mut drive, bytes, 70, 32, 100_000).iops;
        let read = random(&mut drive, bytes, 100, 4, 50_000).iops;
        let power = drive.power().unwrap();
        let (most, energy, trace) = (power.highest_mw(), power.energy(), power.trace_pj());
        assert_eq!(energy.total_pj(), trace);
        (write, mixed, read, most)
    };
    let (write, mixed, read, most) = run(None);
    println!(
        "no cap: write {write:.0} MB/s, mixed {mixed:.0}, read {read:.0} IOPS, at most {most:.0} mW"
    );
    for cap_mw in [4_500, 3_500, 2_500] {
        let (w, m, r, most) = run(Some(cap_mw));
        println!(
            "{cap_mw} mW: write {w:.0} MB/s, mixed {m:.0}, read {r:.0} IOPS, at most {most:.0} mW"
        );
        assert!(most <= cap_mw as f64);
        assert!(w < write && r / read > w / write);
    }
}

#[test]
fn energy_by_class_is_that_of_the_operations() {
    let mut drive = with(|spec| spec.options.power = Some(power()));
    sequential(&mut drive, 0, 256 * MIB);
    random(&mut drive, 256 * MIB, 100, 8, 10_000);
    let (counts, energy) = (drive.flash_counts(), drive.power().unwrap().energy());
    assert_eq!(energy.reads_pj, u128::from(counts.reads) * 60_000 * 120);
    assert_eq!(
        energy.programs_pj,
        u128::from(counts.programs) * 1_700_000 * 200
    );
    assert_eq!(energy.transfers_pj, u128::from(counts.transfers) * 600_000);
    assert_eq!(energy.commands_pj, (2048 + 10_000) * 1_500_000);
    assert_eq!(energy.link_pj, u128::from(256 * MIB + 10_000 * 4096) * 120);
    // The mean over all of the run is what was used, over its time.
    let end = drive.idle_at().max(drive.now()) + 10 * MS;
    let mean_pj = drive.power().unwrap().mean_mw(0, end) * end as f64;
    let used_pj = energy.total_pj() as f64 + 1_500.0 * end as f64;
    assert!((mean_pj / used_pj - 1.0).abs() < 1e-9);
}

#[test]
fn a_hot_drive_throttles_and_recovers() {
    let mut drive = with(|spec| {
        let point = ThrottlePoint {
            above_mc: 70_000,
            until_mc: 66_000,
            cap_mw: 2_300,
        };
        spec.options.power = Some(PowerSpec {
            thermal: Some(ThermalSpec {
                ambient_mc: 30_000,
                resistance_mk_per_w: 14_000,
                time_constant_ns: 4 * SECOND,
                throttle: [Some(point), None, None],
            }),
            ..power()
        });
    });
    let bytes = spec().user_bytes;
    let (mut hottest, mut speeds) = (0, Vec::new());
    for piece in 0..200 {
        let start = piece * 64 * MIB % (bytes / 2);
        speeds.push(sequential(&mut drive, start, 64 * MIB));
        hottest = hottest.max(drive.power().unwrap().temperature_mc().unwrap());
    }
    let most = speeds[1];
    let least = speeds.iter().copied().fold(f64::MAX, f64::min);
    println!("{most:.0} MB/s cold, {least:.0} hot, {hottest} mC at most");
    assert!(drive.power().unwrap().throttle_events() > 0);
    assert!(least < 0.5 * most && (69_500..71_000).contains(&hottest));
    drive.wait_until(drive.now() + 60 * SECOND);
    assert!(drive.power().unwrap().temperature_mc().unwrap() < 52_000);
    assert!(sequential(&mut drive, 0, 64 * MIB) > 0.9 * most);
}

fn after_trim(trim: TrimRule) -> f64 {
    let mut spec = spec();
    spec.options.trim = trim;
    let mut drive = Drive::new(&spec, Greedy);
    torture(&mut drive, &spec);
    let now = drive.now();
    let mut done = now;
    for piece in 0..spec.user_bytes / (64 * MIB) {
        done = drive.submit(done, Op::Trim, piece * 64 * MIB, 64 << 20);
    }
    drive.wait_until(done);
    drive.reset_counts();
    random(
        &mut drive,
        spec.user_bytes,
        0,
        32,
        spec.user_bytes / 4096 / 2,
    );
    drive.ftl_counts().write_amplification().unwrap()
}

#[test]
fn trim_restores_a_tortured_drive_unless_it_is_ignored() {
    let (honoured, ignored) = (
        after_trim(TrimRule::Honoured),
        after_trim(TrimRule::Ignored),
    );
    println!("write amplification after trim {honoured:.3}, ignored {ignored:.3}");
    assert!(honoured < 1.01 && ignored > 3.0);
}

#[test]
fn a_purge_makes_the_drive_as_new() {
    let spec = spec();
    let mut new = Drive::new(&spec, Greedy);
    let fresh = sequential(&mut new, 0, 512 * MIB);
    let mut drive = Drive::new(&spec, Greedy);
    torture(&mut drive, &spec);
    let start = drive.now();
    let done = drive.purge(start);
    assert!(
        done - start >= 5 * MS * 100,
        "a hundred erases of each die take their time"
    );
    drive.wait_until(done);
    drive.reset_counts();
    let again = sequential(&mut drive, 0, 512 * MIB);
    assert!((again / fresh - 1.0).abs() < 0.02, "{again} {fresh}");
    assert_eq!(drive.ftl_counts().write_amplification(), Some(1.0));
}

#[test]
fn background_collection_gives_idle_drives_fresh_superblocks() {
    let run = |idle_free_superblocks| {
        let mut spec = spec();
        spec.options.idle_after_ns = Some(SECOND);
        spec.options.idle_free_superblocks = idle_free_superblocks;
        let mut drive = Drive::new(&spec, Greedy);
        torture(&mut drive, &spec);
        drive.wait_until(drive.now() + 60 * SECOND);
        random(&mut drive, spec.user_bytes, 0, 32, 40_000).iops
    };
    let (without, with) = (run(0), run(60));
    println!("burst after idle: {without:.0} IOPS, with collection when idle {with:.0}");
    assert!(with > 2.0 * without);
}

#[test]
fn beyond_32_commands_wait_in_the_host_of_a_sata_drive() {
    let run = |depth| {
        let mut drive = with(|spec| {
            spec.host.queue_limit = Some(32);
            spec.host.half_duplex = true;
            spec.host.unit_link_ns_x1024 = 7_300 * 1024;
        });
        sequential(&mut drive, 0, 1024 * MIB);
        drive.wait_until(drive.idle_at());
        random(&mut drive, 1024 * MIB, 100, depth, 100_000)
    };
    let (inside, beyond) = (run(32), run(128));
    println!(
        "depth 32: {:.0} IOPS, {:.0} ns; depth 128: {:.0} IOPS, {:.0} ns",
        inside.iops,
        inside.mean_ns(),
        beyond.iops,
        beyond.mean_ns()
    );
    assert!((beyond.iops / inside.iops - 1.0).abs() < 0.01);
    assert!((beyond.mean_ns() / inside.mean_ns() - 4.0).abs() < 0.05);
}

#[test]
fn a_medium_written_in_place_is_flat_over_all_mixes() {
    let mut spec = spec();
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
    spec.user_bytes = 700_000 * 4096;
    spec.options.write_through = true;
    spec.host.command_ns = 1_500;
    spec.host.cores = 1;
    spec.host.read_core_ns = 1_800;
    spec.host.write_core_ns = 1_800;
    let mut drive = Drive::in_place(&spec);
    sequential(&mut drive, 0, spec.user_bytes);
    let mixes: Vec<f64> = [0, 10, 30, 50, 70, 90, 100]
        .map(|read_pct| random(&mut drive, spec.user_bytes, read_pct, 32, 100_000).iops)
        .to_vec();
    let first = random(&mut drive, spec.user_bytes, 100, 1, 1000).mean_ns();
    println!("{mixes:.0?} IOPS from all writes to all reads; {first:.0} ns at depth 1");
    let (least, most) = mixes
        .iter()
        .fold((f64::MAX, 0.0_f64), |(l, m), &x| (l.min(x), m.max(x)));
    assert!(most / least < 1.15);
    assert_eq!(drive.ftl_counts().write_amplification(), Some(1.0));
    assert!(first < 12_000.0);
}

#[test]
fn a_flush_costs_a_program_without_power_loss_protection() {
    let run = |protected| {
        let mut drive = with(|spec| spec.power_loss_protection = protected);
        let mut now = 0;
        for n in 0..1000 {
            now = drive.submit(now, Op::Write, n * 4096, 4096);
            now = drive.flush(now);
        }
        (
            now as f64 / 1000.0,
            drive.ftl_counts().write_amplification().unwrap(),
        )
    };
    let ((with, a_with), (without, a_without)) = (run(true), run(false));
    println!(
        "write and flush: {with:.0} ns and WA {a_with}, without protection {without:.0} ns and WA {a_without}"
    );
    assert!(without > 1_700_000.0 && with < 50_000.0);
    assert!(a_with < 1.0 + 1e-9 && (a_without - 24.0).abs() < 0.1);
}

#[test]
fn collection_sets_the_last_percentiles() {
    let spec = spec();
    let mut fresh = Drive::new(&spec, Greedy);
    sequential(&mut fresh, 0, spec.user_bytes);
    fresh.wait_until(fresh.idle_at());
    let mut before = random(&mut fresh, spec.user_bytes, 70, 16, 200_000);
    assert_eq!(
        fresh.ftl_counts().moved_units,
        0,
        "nothing is collected yet"
    );
    let mut tortured = Drive::new(&spec, Greedy);
    torture(&mut tortured, &spec);
    let mut steady = random(&mut tortured, spec.user_bytes, 70, 16, 200_000);
    let [before, steady] =
        [&mut before, &mut steady].map(|seen| [0.5, 0.99, 0.9999].map(|q| seen.quantile_ns(q)));
    println!("median, 99 %, 99.99 % in ns: {before:?}, beside collection {steady:?}");
    assert!(steady[2] > 5 * before[2] && steady[0] < 2 * before[0]);
}

#[test]
fn hot_and_cold_data_cost_less_than_uniform_writes() {
    let run = |hot_writes_pct: u64| {
        let spec = spec();
        // Greedy takes cold superblocks too early; by age as well, cold data ends up among itself.
        let rule = CostBenefit::new(spec.geometry.superblocks as usize);
        let mut drive = Drive::new(&spec, rule);
        sequential(&mut drive, 0, spec.user_bytes);
        let units = spec.user_bytes / 4096;
        let mut now = drive.now();
        for n in 0..5 * units {
            if n == 4 * units {
                drive.reset_counts();
            }
            let hot = mix(1, n) % 100 < hot_writes_pct;
            let (first, count) = if hot {
                (0, units / 5)
            } else {
                (units / 5, units - units / 5)
            };
            let unit = first + ((u128::from(mix(2, n)) * u128::from(count)) >> 64) as u64;
            now = drive.submit(now, Op::Write, unit * 4096, 4096);
        }
        drive.ftl_counts().write_amplification().unwrap()
    };
    let (uniform, skewed) = (run(20), run(80));
    println!("write amplification {uniform:.3} uniform, {skewed:.3} with 80 % of writes to 20 %");
    assert!(skewed < 0.97 * uniform);
}

#[test]
fn wear_levelling_bounds_the_spread_of_erases() {
    let run = |wear| {
        let mut spec = spec();
        spec.options.wear = wear;
        let mut drive = Drive::new(&spec, Greedy);
        sequential(&mut drive, 0, spec.user_bytes);
        // Only a tenth of the data changes; the rest rests for ever.
        random(&mut drive, spec.user_bytes / 10, 0, 32, 4_000_000);
        let (least, most) = drive.ftl().wear();
        (most - least, drive.ftl_counts().levelled_units)
    };
    let (plain, _) = run(WearRule::default());
    let (levelled, moved) = run(WearRule {
        coldest_first: true,
        move_resting_after: Some(8),
    });
    println!("erases apart: {plain}, levelled {levelled} with {moved} units moved");
    assert!(plain > 15 && levelled <= 10 && moved > 0);
}

#[test]
fn static_placement_makes_few_ios_wait_for_one_plane() {
    let mut spec = spec();
    spec.geometry.pages_per_block = 48;
    spec.geometry.superblocks = 200;
    let mut planes = Drive::of_planes(&spec, &Greedy);
    torture(&mut planes, &spec);
    let of_planes = random(&mut planes, spec.user_bytes, 0, 32, 300_000).iops;
    let mut whole = Drive::new(&spec, Greedy);
    torture(&mut whole, &spec);
    let of_all = random(&mut whole, spec.user_bytes, 0, 32, 300_000).iops;
    let a = planes.ftl_counts().write_amplification().unwrap();
    println!(
        "steady random writes: {of_planes:.0} IOPS by planes (WA {a:.2}), {of_all:.0} by superblocks"
    );
    assert!(of_planes < of_all);
    let expected = theory(planes.ftl().effective_spare());
    assert!((a / expected - 1.0).abs() < 0.1, "{a} {expected}");
}

#[test]
fn a_map_that_does_not_fit_costs_a_read_for_each_look_up_that_misses() {
    let spec = spec();
    let units = (spec.user_bytes / 4096) as u32;
    let map_bytes = u64::from(units) * 4;
    let mut drive = Drive::assemble(
        &spec,
        Ftl::of_drive(&spec, Greedy),
        RecentlyUsed::new(units, map_bytes / 4),
    );
    sequential(&mut drive, 0, spec.user_bytes);
    drive.wait_until(drive.idle_at());
    let (near, far) = (
        random(&mut drive, spec.user_bytes / 8, 100, 1, 20_000).mean_ns(),
        random(&mut drive, spec.user_bytes, 100, 1, 20_000).mean_ns(),
    );
    let hit = 6_000 + 3_000 + 60_000 + 300 + 5_427 + 1_170;
    let miss_share = (far - f64::from(hit)) / 65_727.0;
    println!("near {near:.0} ns, far {far:.0} ns: {miss_share:.3} of look-ups miss");
    assert!((miss_share - 0.75).abs() < 0.02);
    assert!(near < f64::from(hit) * 1.03);
}

#[test]
fn spread_and_retries_give_reads_a_tail_and_leave_their_mean() {
    let run = |spread| {
        let mut drive = with(|spec| spec.options.spread = spread);
        sequential(&mut drive, 0, 2048 * MIB);
        drive.wait_until(drive.idle_at());
        random(&mut drive, 2048 * MIB, 100, 1, 100_000)
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
    let (mut plain, mut seen) = (run(None), run(Some(spread)));
    assert_eq!(plain.quantile_ns(0.9999), plain.quantile_ns(0.0001));
    assert!((seen.mean_ns() / plain.mean_ns() - 1.0).abs() < 0.01);
    assert!(seen.quantile_ns(0.99) > plain.quantile_ns(0.5) + 5_000);
    assert!(seen.quantile_ns(0.9999) > plain.quantile_ns(0.5) + 50_000);
}
