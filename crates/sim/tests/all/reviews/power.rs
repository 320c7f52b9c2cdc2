//! Power under a limit, and heat.

use sim::drive::Drive;
use sim::ftl::{Ftl, Greedy};
use sim::power::Power;
use sim::profile::spec::{PowerSpec, ThermalSpec, ThrottlePoint};

use crate::drives::loops::{random, sequential};
use crate::drives::{MIB, MS, POWER, REVIEWED, SECOND, assert_within, reviewed};

/// The highest mean power over any stretch of `windows` windows, in mW, wherever it begins.
fn highest_mw(power: &Power, until: u64, windows: u64) -> f64 {
    let starts = (0..until / POWER.window_ns).map(|window| window * POWER.window_ns + MS / 3);
    let stretch = windows * POWER.window_ns;
    starts
        .map(|start| power.mean_mw(start, start + stretch))
        .fold(power.highest_mw(), f64::max)
}

/// A limit over one second, as on data-centre drives.
const LIMIT_WINDOWS: u64 = SECOND / POWER.window_ns;

/// Rate of a load, and mean power of the drive meanwhile.
struct Load {
    rate: f64,
    mean_mw: f64,
}

/// Sequential writes, a mix of mostly reads, and reads, one after another under a limit.
fn loads_under(cap_mw: Option<u64>) -> [Load; 3] {
    let mut drive = reviewed(|spec| {
        spec.options.power = Some(PowerSpec {
            cap_mw,
            limit_windows: LIMIT_WINDOWS,
            ..POWER
        });
    });
    let bytes = 256 * MIB;
    let mut begin = 0;
    let mut load = |drive: &mut Drive<Ftl<Greedy>>, rate: f64| {
        let power = drive.power().unwrap();
        let mean_mw = power.mean_mw(begin, drive.now());
        drive.wait_until(drive.idle_at());
        begin = drive.now();
        Load { rate, mean_mw }
    };
    let rate = sequential(&mut drive, 0, bytes);
    let write = load(&mut drive, rate);
    let rate = random(&mut drive, bytes, 70, 32, 300_000).iops();
    let mixed = load(&mut drive, rate);
    let rate = random(&mut drive, bytes, 100, 4, 20_000).iops();
    let read = load(&mut drive, rate);
    let (power, end) = (drive.power().unwrap(), drive.now());
    assert_eq!(power.energy().total_pj(), power.trace_pj());
    let highest = highest_mw(power, end, LIMIT_WINDOWS);
    let seen = [&write, &mixed, &read].map(|load| (load.rate, load.mean_mw));
    println!("{cap_mw:?} mW: write, mixed, read and mW: {seen:.0?}, at most {highest:.1} mW");
    assert!(cap_mw.is_none_or(|cap| highest <= cap as f64 + 1e-6));
    [write, mixed, read]
}

#[test]
fn a_power_cap_is_never_exceeded_and_work_falls_with_what_is_left_for_it() {
    let fixed = POWER.idle_mw as f64;
    let free = loads_under(None);
    for cap_mw in [4_500, 3_500, 2_500] {
        for (what, (free, capped)) in ["write", "mixed", "read"]
            .iter()
            .zip(free.iter().zip(loads_under(Some(cap_mw))))
        {
            // A piece of work takes the same energy whenever it is done.
            let share = ((cap_mw as f64 - fixed) / (free.mean_mw - fixed)).min(1.0);
            let what = format!("{what} at {cap_mw} mW of {:.0}", free.mean_mw);
            assert_within(&what, capped.rate / free.rate, share, 0.05);
        }
    }
}

/// Mean, median and 99th percentile of latency in us under a limit, with windows as long as those of real drives.
fn latencies_under(cap_mw: Option<u64>, read_pct: u64) -> [f64; 3] {
    let mut drive = reviewed(|spec| {
        spec.options.power = Some(PowerSpec {
            cap_mw,
            window_ns: 10 * MS,
            limit_windows: 100,
            ..POWER
        });
    });
    let bytes = 256 * MIB;
    sequential(&mut drive, 0, bytes);
    drive.wait_until(drive.idle_at());
    let begin = drive.now();
    let seen = random(&mut drive, bytes, read_pct, 32, 150_000);
    let [p50, p99] = seen.quantiles_ns([0.5, 0.99]);
    let got = [seen.mean_ns(), p50 as f64, p99 as f64].map(|ns| ns / 1e3);
    let mw = drive.power().unwrap().mean_mw(begin, drive.now());
    println!("{read_pct} % reads at {cap_mw:?} mW: {mw:.0} mW, mean, p50, p99 {got:.0?} us");
    got
}

#[test]
fn under_a_power_cap_work_goes_on_evenly() {
    for read_pct in [0, 70, 100] {
        let [_, _, free_p99] = latencies_under(None, read_pct);
        for cap_mw in [5_100, 4_500, 3_500, 2_500] {
            let [mean, p50, p99] = latencies_under(Some(cap_mw), read_pct);
            assert!(p50 > mean / 2.0, "half of them in a rush");
            // No I/O waits for the rest of a window.
            assert!(p99 < (4.0 * mean).max(1.5 * free_p99), "{cap_mw} mW");
        }
    }
}

#[test]
fn a_power_state_that_is_entered_later_holds_once_what_was_planned_has_ended() {
    let mut drive = reviewed(|spec| spec.options.power = Some(POWER));
    let cap_mw = 3_500;
    let before = sequential(&mut drive, 0, 256 * MIB);
    let planned = drive.idle_at();
    drive.limit_power(Some(cap_mw));
    let after = sequential(&mut drive, 256 * MIB, 256 * MIB);
    let power = drive.power().unwrap();
    let trace = power.trace().filter(|&(start, ..)| start >= planned);
    let highest = trace.map(|(_, _, mw)| mw).fold(0.0, f64::max);
    println!("{before:.0} MB/s, limited {after:.0}, at most {highest:.1} mW");
    assert!(highest <= cap_mw as f64 && power.highest_mw() > cap_mw as f64);
    assert!(after < 0.8 * before);
    drive.limit_power(None);
    let freed = sequential(&mut drive, 512 * MIB, 256 * MIB);
    assert!(freed > 0.9 * before, "{freed}");
}

#[test]
fn a_hot_drive_throttles_and_recovers() {
    let point = ThrottlePoint {
        above_mc: 70_000,
        until_mc: 66_000,
        cap_mw: 2_300,
    };
    let mut drive = reviewed(|spec| {
        spec.options.power = Some(PowerSpec {
            thermal: Some(ThermalSpec {
                ambient_mc: 30_000,
                resistance_mk_per_w: 14_000,
                time_constant_ns: 4 * SECOND,
                throttle: [Some(point), None, None],
                graded: None,
            }),
            ..POWER
        });
    });
    let bytes = REVIEWED.spec().user_bytes;
    let (mut hottest, mut speeds) = (0, Vec::new());
    for piece in 0..200 {
        let start = piece * 64 * MIB % (bytes / 2 / MIB * MIB);
        speeds.push(sequential(&mut drive, start, 64 * MIB));
        hottest = hottest.max(drive.power().unwrap().temperature_mc().unwrap());
    }
    let highest = speeds[1];
    let lowest = speeds.iter().copied().fold(f64::MAX, f64::min);
    println!("{highest:.0} MB/s cold, {lowest:.0} hot, {hottest} mC at most");
    assert!(drive.power().unwrap().throttle_events() > 0);
    assert!(lowest < 0.5 * highest && (69_500..71_000).contains(&hottest));
    drive.wait_until(drive.now() + 60 * SECOND);
    assert!(drive.power().unwrap().temperature_mc().unwrap() < 52_000);
    assert!(sequential(&mut drive, 0, 64 * MIB) > 0.9 * highest);
}
