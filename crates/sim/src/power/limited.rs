//! Tests of energy under a limit on power.

use proptest::prelude::*;

use crate::power::{DieWork, Power};
use crate::profile::spec::{PowerSpec, RestSpec};

const MS: u64 = 1_000_000;

/// A drive of 2 W and windows of 1 ms, each of which is a stretch.
pub(super) fn spec(cap_mw: Option<u64>) -> PowerSpec {
    PowerSpec {
        window_ns: MS,
        limit_windows: 1,
        idle_mw: 2_000,
        active_mw: 0,
        read_mw: 120,
        program_mw: 160,
        erase_mw: 90,
        unit_transfer_pj: 500_000,
        command_pj: 2_000_000,
        link_byte_pj: 100,
        cap_mw,
        thermal: None,
        rests: [None; RestSpec::MOST],
    }
}

/// A drive of two dies in stretches of 10 ms, of which one may work in the mean, that does something light for 5 ms; and when
/// each of the 40 programs of 0.25 ms ends that both dies do then.
fn ends_after(light: impl Fn(&mut Power, u64)) -> (Power, Vec<u64>) {
    let mut power = Power::new(PowerSpec {
        limit_windows: 10,
        ..spec(Some(2_165))
    });
    for ms in 0..5 {
        power.advance(ms * MS);
        light(&mut power, ms * MS);
    }
    power.advance(5 * MS);
    let mut dies = [5 * MS; 2];
    let ends = (0..40).map(|_| {
        dies.sort_unstable();
        dies[0] = power.begin(DieWork::Program, dies[0], MS / 4) + MS / 4;
        dies[0]
    });
    let ends = ends.collect();
    (power, ends)
}

#[test]
fn some_of_what_a_window_leaves_the_next_have_until_the_stretch_ends() {
    let (mut power, ends) = ends_after(|power, at| _ = power.begin(DieWork::Read, at, MS / 100));
    // One die's work in 5 ms, and an eighth of what a stretch may hold.
    let done = ends.iter().filter(|&&end| end <= 10 * MS).count();
    assert!((24..=26).contains(&done), "{ends:?}");
    let mut die = 10 * MS;
    (0..40).for_each(|_| die = power.begin(DieWork::Program, die, MS / 4) + MS / 4);
    power.advance(20 * MS);
    let mean_mw = power.mean_mw(10 * MS, 20 * MS);
    assert!((2_155.0..=2_165.0).contains(&mean_mw), "{mean_mw}");
    let highest_mw = power.mean_mw(0, 10 * MS).max(mean_mw);
    assert!((power.highest_mw() - highest_mw).abs() < 1e-6);
}

#[test]
fn a_second_that_begins_elsewhere_than_a_stretch_holds_little_more() {
    for light_ms in 1..20 {
        let mut power = Power::new(PowerSpec {
            limit_windows: 10,
            ..spec(Some(2_165))
        });
        let mut dies = [0; 2];
        for ms in 0..60 {
            power.advance(ms * MS);
            if ms % (light_ms + 10) < light_ms {
                power.begin(DieWork::Read, ms * MS, MS / 100);
                continue;
            }
            for die in &mut dies {
                while *die < (ms + 1) * MS {
                    *die = power.begin(DieWork::Program, (*die).max(ms * MS), MS / 4) + MS / 4;
                }
            }
        }
        power.advance(100 * MS);
        // An eighth of the work that the limit allows, and what a window leaves before it is over.
        let most_mw = 2_165.0 + 165.0 * (1.0 / 8.0 + 1.0 / 10.0);
        for start in 0..60 {
            let mean_mw = power.mean_mw(start * MS, (start + 10) * MS);
            assert!(mean_mw <= most_mw, "{light_ms}: {mean_mw} from {start} ms");
        }
    }
}

#[test]
fn what_a_rest_leaves_nobody_has() {
    let (_, ends) = ends_after(|_, _| ());
    let done = ends.iter().filter(|&&end| end <= 10 * MS).count();
    assert!(
        (19..=21).contains(&done),
        "one die's work in 5 ms: {ends:?}"
    );
}

#[test]
fn a_limit_that_comes_into_force_begins_a_stretch() {
    let mut power = Power::new(PowerSpec {
        limit_windows: 1_000,
        ..spec(None)
    });
    (0..500).for_each(|ms| {
        power.advance(ms * MS);
        (0..20).for_each(|_| _ = power.begin(DieWork::Program, ms * MS, MS));
    });
    power.advance(500 * MS);
    // What was drawn before is not taken from what it may draw now.
    power.limit(Some(2_200));
    let start = power.begin(DieWork::Program, 500 * MS, MS / 2);
    assert!(start < 502 * MS, "{start}");
}

proptest! {
    #[test]
    fn classes_and_trace_agree_and_no_stretch_exceeds_the_limit(
        works in proptest::collection::vec((0_u64..300_000, 0_u8..5, 1_u64..6_000_000), 1..400),
        cap in proptest::option::of(2_500_u64..6_000),
        active_mw in prop_oneof![Just(0_u64), 1_u64..300],
        limit_windows in prop_oneof![Just(1_u64), 2_u64..20],
    ) {
        let mut power = Power::new(PowerSpec { limit_windows, active_mw, ..spec(cap) });
        let mut now = 0;
        for (step, what, length) in works {
            now += step;
            power.advance(now);
            let start = match what {
                0 => power.begin(DieWork::Read, now, length / 50),
                1 => power.begin(DieWork::Program, now, length / 2),
                2 => power.begin(DieWork::Erase, now, length),
                3 => power.transfer(now, 1 + (length % 64) as u32),
                _ => power.command(now, 4096 * (1 + (length % 8) as u32)),
            };
            prop_assert!(start >= now);
        }
        prop_assert_eq!(power.energy().total_pj(), power.trace_pj());
        if let Some(cap) = cap {
            let windows = 0..now / MS + 100;
            let works = |window: u64| power.mean_mw(window * MS, (window + 1) * MS) > 2_000.0;
            let last = windows.clone().filter(|&window| works(window)).max();
            // After a rest stretches begin anew.
            if limit_windows == 1 || (0..last.unwrap_or(0)).all(works) {
                for start in windows.step_by(limit_windows as usize) {
                    let mean_mw = power.mean_mw(start * MS, (start + limit_windows) * MS);
                    prop_assert!(mean_mw <= cap as f64 + 1e-6, "{mean_mw} mW from {start} ms on");
                }
            }
            prop_assert!(power.highest_mw() <= cap as f64 + 1e-6);
        }
    }
}
