//! Every feature of a profile shows in what its drive does.

use metrics::{Measurement, Quantile};
use workload::{Op, Workload};

use super::bounds::{GRADED, POWER, THERMAL, XPOINT, changed};
use super::{TINY, closed_loop, measured};
use sim::power::Saving;
use sim::profile::spec::TrimRule;
use sim::profile::{PowerSetting, Settings};
use sim::{AnyDrive, Profile, Size};

const MIB: u64 = 1 << 20;
const SECOND: u64 = 1_000_000_000;
const SMALL: Size = Size {
    scale: 4,
    spare: None,
};

fn drive(tables: &str, settings: Settings) -> AnyDrive {
    let profile = Profile::parse(&format!("{TINY}{tables}")).unwrap();
    AnyDrive::with_settings(&profile, SMALL, settings, 1).unwrap()
}

fn plain(tables: &str) -> AnyDrive {
    drive(tables, Settings::default())
}

fn fill(drive: &mut AnyDrive) {
    let bytes = drive.user_bytes();
    measured(drive, &closed_loop(bytes, true, 0, 4, bytes));
    drive.idle(SECOND / 10);
}

/// MB/s of sequential writes over the first bytes.
fn written_mb_s(drive: &mut AnyDrive, bytes: u64) -> f64 {
    let seen = measured(drive, &closed_loop(bytes, true, 0, 4, bytes));
    bytes as f64 / seen.elapsed_ns as f64 * 1000.0
}

fn reads(drive: &mut AnyDrive, span: u64, count: u64) -> Measurement {
    measured(drive, &closed_loop(span, false, 100, 1, count * 4096))
}

fn mean_ns(seen: &Measurement, op: Op) -> f64 {
    seen.op(op).service.mean_ns().unwrap()
}

/// Two low-power states below the 1.5 W of idle power in [`POWER`].
pub(super) const IDLE_STATES: &str = r#"
[[power.idle_states]]
name = "ps2"
mw = { value = 300, source = "chosen" }
entry_us = { value = 200.0, source = "chosen" }
exit_us = { value = 1500.0, source = "chosen" }
after_ms = { value = 100.0, source = "chosen" }
[[power.idle_states]]
name = "ps3"
mw = { value = 5, source = "chosen" }
entry_us = { value = 2000.0, source = "chosen" }
exit_us = { value = 8000.0, source = "chosen" }
after_ms = { value = 500.0, source = "chosen" }
"#;

#[test]
fn a_resting_drive_goes_into_states_of_less_power_where_the_host_lets_it() {
    let mut drive = drive(&format!("{POWER}{IDLE_STATES}"), Settings::default());
    fill(&mut drive);
    let mut rest = |saving, seconds: u64| {
        assert!(drive.save_power(saving));
        let began = drive.now_ns();
        drive.idle(seconds * SECOND);
        let now = drive.now_ns();
        let mw = |from: u64| drive.power().unwrap().mean_mw(began + from, now);
        let drawn = (mw(0), mw(SECOND * 9 / 10 * seconds));
        let seen = reads(&mut drive, 1 << 20, 1);
        (drawn.0, drawn.1, mean_ns(&seen, Op::Read) / 1e6)
    };
    let (idle_mw, _, awake_ms) = rest(Saving::Off, 10);
    assert!((idle_mw - 1500.0).abs() < 1e-9);
    let (_, near_mw, near_woken_ms) = rest(Saving::ByItself(1), 10);
    assert!((near_mw - 300.0).abs() < 1e-9 && (near_woken_ms - awake_ms - 1.5).abs() < 0.05);
    let (all_mw, far_mw, far_woken_ms) = rest(Saving::ByItself(2), 10);
    assert!((far_mw - 5.0).abs() < 1e-9 && (far_woken_ms - awake_ms - 8.0).abs() < 0.05);
    let shares = 1500.0 * 0.1002 + 300.0 * 0.4018 + 5.0 * 9.498;
    // The rest starts when the last of the earlier reads completes, a few microseconds into the ten seconds.
    assert!(
        (all_mw - shares / 10.0).abs() < 1e-2,
        "{all_mw} beside {}",
        shares / 10.0
    );
    let (_, sent_mw, sent_woken_ms) = rest(Saving::Sent(0), 1);
    assert!((sent_mw - 300.0).abs() < 1e-9 && (sent_woken_ms - awake_ms - 1.5).abs() < 0.05);
    assert_eq!(drive.power().unwrap().saving(), Some(Saving::Off));
}

#[test]
fn states_of_less_power_that_no_drive_has_are_refused() {
    let said = |key: &str, value: &str| {
        let tables = changed(IDLE_STATES, key, value);
        let parsed = Profile::parse(&format!("{TINY}{POWER}{tables}"));
        parsed.unwrap_err().to_string()
    };
    assert!(said("mw", "300").contains("power.idle_states.mw is 300: must be below 300"));
    assert!(
        said("after_ms", "100.1").contains("the state before it has been reached after 100.2 ms")
    );
    assert!(said("exit_us", "-1.0").contains("power.idle_states.exit_us is -1"));
    let named = IDLE_STATES.replace("ps3", "ps7");
    let parsed = Profile::parse(&format!("{TINY}{POWER}{named}"));
    let said = parsed.unwrap_err().to_string();
    assert!(said.contains(
        "power.idle_states.name is ps7: power states are numbered behind those that work: ps3"
    ));
}

#[test]
fn a_cache_of_one_bit_a_cell_is_fast_until_it_is_full_and_scales() {
    let slc = r#"
[slc_cache]
mode = { value = "static", source = "chosen" }
size_gb = { value = 0.512, source = "chosen" }
when_full = { value = "direct", source = "chosen" }
read_us = { value = 30.0, source = "recalled" }
program_us = { value = 250.0, source = "recalled" }
[idle]
after_ms = { value = 500.0, source = "chosen" }
free_pct = { value = 0.0, source = "chosen" }
"#;
    let mut with = plain(slc);
    let fast = written_mb_s(&mut with, 64 * MIB);
    let without = written_mb_s(&mut plain(""), 64 * MIB);
    assert!(fast > 1.2 * without, "{fast} {without}");
    written_mb_s(&mut with, 1024 * MIB);
    let counts = with.counters();
    // A quarter of 512 MB and at most one superblock more. The first 64 MiB were overwritten, and their superblocks are free
    // again.
    let cached = (counts.cached_bytes - 64 * MIB) as f64 / 128e6;
    assert!((0.97..1.1).contains(&cached), "{cached}");
    assert_eq!(counts.folded_bytes, 0, "nothing is folded under load");
    with.idle(60 * SECOND);
    assert!(with.counters().folded_bytes > 0);
}

#[test]
fn a_limit_on_power_holds_and_costs_writes() {
    let cap = |power| Settings {
        power,
        ..Settings::default()
    };
    let mut seen = Vec::new();
    for (setting, watts) in [
        (None, 8.0),
        (Some(PowerSetting::State(1)), 3.0),
        (Some(PowerSetting::Watts(2.0)), 2.0),
    ] {
        let mut drive = drive(POWER, cap(setting));
        let mb_s = written_mb_s(&mut drive, 512 * MIB);
        let power = drive.power().unwrap();
        assert!(power.highest_mw() <= watts * 1000.0);
        assert!(power.temperature_mc().is_none());
        seen.push(mb_s);
    }
    assert!(
        seen[0] > 1.3 * seen[1] && seen[1] > 1.3 * seen[2],
        "{seen:?}"
    );
}

#[test]
fn a_drive_that_throttles_by_degrees_settles_where_it_draws_what_it_may() {
    let mut drive = plain(&[POWER, GRADED].concat());
    fill(&mut drive);
    let rows: Vec<f64> = (0..8)
        .map(|_| written_mb_s(&mut drive, 512 * MIB))
        .collect();
    let power = drive.power().unwrap();
    let celsius = power.temperature_mc().unwrap() as f64 / 1e3;
    // `T = 30 + 10 P` degrees, and `P = 6 - (T - 60) * 4 / 15` W.
    let settles_c = (30.0 + 10.0 * (6.0 + 60.0 * 4.0 / 15.0)) / (1.0 + 10.0 * 4.0 / 15.0);
    assert!(
        (celsius - settles_c).abs() < 0.5,
        "{celsius}, not {settles_c}: {rows:?}"
    );
    assert_eq!(power.throttle_events(), 1);
    let last = &rows[5..];
    let mean = last.iter().sum::<f64>() / last.len() as f64;
    assert!(
        last.iter().all(|row| (row / mean - 1.0).abs() < 0.02),
        "{rows:?}"
    );
}

#[test]
fn a_drive_with_heat_gets_warm() {
    let mut drive = plain(&[POWER, THERMAL].concat());
    assert_eq!(drive.power().unwrap().temperature_mc(), Some(30_000));
    fill(&mut drive);
    assert!(drive.power().unwrap().temperature_mc().unwrap() > 50_000);
    drive.cool();
    assert_eq!(drive.power().unwrap().temperature_mc(), Some(30_000));
}

#[test]
fn a_map_that_does_not_fit_is_read_and_written() {
    let part = "[mapping]\ncache_mib = { value = 4.0, source = \"chosen\" }\n";
    let (mut part, mut whole) = (plain(part), plain(""));
    let bytes = whole.user_bytes();
    fill(&mut part);
    fill(&mut whole);
    let [slow, fast] = [&mut part, &mut whole].map(|drive| reads(drive, bytes, 5000));
    // The map has 16 MiB, and its cache half of 4 MiB: seven look-ups of eight miss. One in sixteen finds its entry among the
    // changes, in the other half. Each miss takes as much flash time as the read itself.
    let flash_ns = 60_000.0 + 300.0 + 5427.0;
    let missed = (mean_ns(&slow, Op::Read) - mean_ns(&fast, Op::Read)) / flash_ns;
    assert!((missed - 0.82).abs() < 0.03, "{missed}");
    assert!(part.counters().map_bytes > 0 && whole.counters().map_bytes == 0);
}

#[test]
fn small_writes_cost_what_their_mapping_units_do() {
    let units = "[mapping]\nunit_kib = { value = 16, source = \"chosen\" }\n";
    let mut drive = plain(units);
    let bytes = drive.user_bytes();
    fill(&mut drive);
    assert!(drive.holds(0, bytes));
    for (sequential, cost) in [(true, 1.0), (false, 4.0)] {
        let before = drive.counters();
        measured(
            &mut drive,
            &closed_loop(bytes, sequential, 0, 4, bytes / 100),
        );
        drive.idle(SECOND / 10);
        let got = drive.counters().since(before).write_amplification();
        assert!((got.unwrap() - cost).abs() < 0.01, "{got:?}");
    }
}

#[test]
fn placement_by_planes_makes_few_writes_wait_for_one() {
    let planes = "[mapping]\nplacement = { value = \"static-cwdp\", source = \"chosen\" }\n";
    let [by_planes, over_all] = [plain(planes), plain("")].map(|mut drive| {
        let bytes = drive.user_bytes();
        fill(&mut drive);
        assert!(drive.holds(0, bytes));
        measured(&mut drive, &closed_loop(bytes, false, 0, 8, bytes * 2));
        let last = measured(&mut drive, &closed_loop(bytes, false, 0, 8, bytes / 2));
        last.op(Op::Write).done as f64 / last.elapsed_ns as f64
    });
    assert!(by_planes < over_all, "{by_planes} {over_all}");
}

#[test]
fn unlike_blocks_and_retries_give_reads_a_tail_that_the_seed_decides() {
    let spread = r#"
[spread]
block_sigma_pct = { value = 6.0, source = "recalled" }
die_sigma_pct = { value = 2.0, source = "recalled" }
[spread.retry]
per_million = { value = 5000, source = "chosen" }
at_most = { value = 5, source = "chosen" }
first_pct = { value = 100, source = "chosen" }
step_pct = { value = 50, source = "chosen" }
"#;
    let profile = Profile::parse(&format!("{TINY}{spread}")).unwrap();
    let seen = [1, 1, 2].map(|seed| {
        let mut drive = AnyDrive::new(&profile, SMALL, seed).unwrap();
        fill(&mut drive);
        let bytes = drive.user_bytes();
        reads(&mut drive, bytes, 20_000).op(Op::Read).service
    });
    let at = |quantile| seen[0].quantile_ns(quantile).unwrap();
    assert!(
        at(Quantile::P99_9) > at(Quantile::P50) + 50_000
            && at(Quantile::P90) > at(Quantile::P50) + 2_000
    );
    assert_eq!(seen[0], seen[1]);
    assert_ne!(seen[0], seen[2]);
}

#[test]
fn a_trim_that_is_ignored_forgets_nothing() {
    for (setting, kept) in [(None, false), (Some(TrimRule::Ignored), true)] {
        let settings = Settings {
            trim: setting,
            ..Settings::default()
        };
        let mut drive = drive("", settings);
        written_mb_s(&mut drive, 64 * MIB);
        drive.trim(0, 64 * MIB);
        assert_eq!(drive.holds(0, MIB), kept);
    }
}

#[test]
fn a_write_past_the_cache_is_complete_when_it_is_in_flash() {
    let latency = |write_cache| {
        let settings = Settings {
            write_cache,
            ..Settings::default()
        };
        let mut drive = drive("", settings);
        let seen = measured(&mut drive, &closed_loop(64 * MIB, false, 0, 1, 100 * 4096));
        mean_ns(&seen, Op::Write)
    };
    assert!(latency(None) < 30_000.0);
    assert!(latency(Some(false)) > 1_700_000.0);
}

#[test]
fn a_medium_written_in_place_costs_the_sum_of_its_parts_and_no_more_when_it_is_full() {
    let profile = Profile::parse(XPOINT).unwrap();
    let mut drive = AnyDrive::new(&profile, SMALL, 1).unwrap();
    assert_eq!(drive.user_bytes(), 14_998_831_104 / 4);
    fill(&mut drive);
    let bytes = drive.user_bytes();
    assert!(drive.holds(0, bytes));
    let read = mean_ns(&reads(&mut drive, bytes, 1000), Op::Read);
    // Command, core, array read, bus command, 4096 B at 4096 MT/s, 4096 B at 3200 MB/s.
    let sum = 1500.0 + 1800.0 + 5000.0 + 100.0 + 1000.0 + 1280.0;
    assert!((read / sum - 1.0).abs() < 0.001, "{read} {sum}");
    let writes = |drive: &mut AnyDrive, workers| {
        let seen = measured(drive, &closed_loop(bytes, false, 0, workers, 20_000 * 4096));
        mean_ns(&seen, Op::Write)
    };
    let write = writes(&mut drive, 1);
    assert!((write / (sum + 500.0) - 1.0).abs() < 0.001, "{write} {sum}");
    // Two writes at a time wait only where they collide, and not each for the later one.
    let two = writes(&mut drive, 2);
    assert!(two < 1.35 * write, "{two} {write}");
    let counters = drive.counters();
    assert_eq!(counters.write_amplification(), Some(1.0));
    assert_eq!(counters.erases, 0);
    // 14 GiB of dies.
    let spare = 1.0 - 14_998_831_104.0 / f64::from(14 << 10) / f64::from(1 << 20);
    let seen = drive.effective_spare().unwrap();
    assert!((seen - spare).abs() < 1e-6, "{seen} {spare}");
}

#[test]
fn what_a_bus_carries_beside_the_data_takes_its_time() {
    let read_ns = |overhead_pct: &str| {
        let said = "bus_overhead_pct = { value = 0.0";
        let text = XPOINT.replace(
            said,
            &format!("bus_overhead_pct = {{ value = {overhead_pct}"),
        );
        let profile = Profile::parse(&text).unwrap();
        let mut drive = AnyDrive::new(&profile, SMALL, 1).unwrap();
        fill(&mut drive);
        let bytes = drive.user_bytes();
        mean_ns(&reads(&mut drive, bytes, 1000), Op::Read)
    };
    // 4096 B at 4096 MT/s take 1000 ns.
    let more_ns = read_ns("25.0") - read_ns("0.0");
    assert!((more_ns - 250.0).abs() < 1.0, "{more_ns}");
}

#[test]
fn the_spare_foretold_is_that_of_a_full_drive_in_its_steady_state() {
    let slc = r#"
[slc_cache]
mode = { value = "static", source = "chosen" }
size_gb = { value = 0.25, source = "chosen" }
when_full = { value = "fold", source = "chosen" }
read_us = { value = 30.0, source = "recalled" }
program_us = { value = 250.0, source = "recalled" }
"#;
    for tables in ["", slc] {
        let mut drive = plain(tables);
        let bytes = drive.user_bytes();
        fill(&mut drive);
        measured(&mut drive, &closed_loop(bytes, false, 0, 8, bytes * 2));
        let (told, seen) = (
            drive.spec().effective_spare(),
            drive.effective_spare().unwrap(),
        );
        assert!((told - seen).abs() < 0.0005, "{told} {seen}");
        assert!(told < drive.spec().spare());
    }
}

/// Such a cache reuses a superblock when its last unit has been overwritten, so its contents swing over some eight overwrites.
#[test]
fn the_spare_foretold_beside_a_cache_that_writes_go_past_is_a_mean() {
    let mut drive = plain(
        r#"
[slc_cache]
mode = { value = "static", source = "chosen" }
size_gb = { value = 0.25, source = "chosen" }
when_full = { value = "direct", source = "chosen" }
read_us = { value = 30.0, source = "recalled" }
program_us = { value = 250.0, source = "recalled" }
[idle]
after_ms = { value = 9000000.0, source = "chosen" }
free_pct = { value = 1.0, source = "chosen" }
"#,
    );
    let bytes = drive.user_bytes();
    fill(&mut drive);
    let mut seen = Vec::new();
    for seed in 0..96 {
        let quarter = closed_loop(bytes, false, 0, 8, bytes / 4);
        measured(&mut drive, &Workload { seed, ..quarter });
        seen.push(drive.effective_spare().unwrap());
    }
    let (settled, told) = (&seen[32..], drive.spec().effective_spare());
    let mean = settled.iter().sum::<f64>() / settled.len() as f64;
    assert!((told - mean).abs() < 0.0005, "{told} {mean}");
}

#[test]
fn what_bounds_collection_is_taken_from_the_profile() {
    let made = |reads: &str, core_us: &str| {
        let text = TINY
            .replace(
                "[controller]\n",
                &format!("[controller]\nmove_us = {{ value = {core_us}, source = \"chosen\" }}\n"),
            )
            .replace(
                "[collection]\n",
                &format!(
                    "[collection]\nreads_at_once = {{ value = {reads}, source = \"chosen\" }}\n"
                ),
            );
        Profile::parse(&text)
    };
    for (reads, core_us, field) in [
        ("0", "6.0", "collection.reads_at_once"),
        ("1", "0.0", "controller.move_us"),
    ] {
        let said = made(reads, core_us).unwrap_err().to_string();
        assert!(said.starts_with(field), "{said}");
    }
    let options = made("3", "6.5")
        .unwrap()
        .spec(Size::default())
        .unwrap()
        .options;
    assert_eq!((options.move_reads, options.move_core_ns), (3, 6500));
}
