//! Tests of energy under a power limit.

use proptest::prelude::*;

use crate::power::{DieWork, Power};
use crate::profile::spec::{PowerSpec, RestSpec};

const MS: u64 = 1_000_000;

/// A drive that idles at 2 W, with windows of 1 ms and a limit over each of them.
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

/// A limit over `windows` windows that leaves power for one die.
fn limited(windows: u64) -> Power {
    Power::new(PowerSpec {
        limit_windows: windows,
        ..spec(Some(2_165))
    })
}

/// Lets `light` work for 5 ms under a limit over 0.1 s. Returns how many programs of 0.25 ms two dies end in the next 5 ms.
fn done_after(light: impl Fn(&mut Power, u64)) -> usize {
    let mut power = limited(100);
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
    ends.filter(|&end| end <= 10 * MS).count()
}

#[test]
fn heavy_work_has_some_of_what_lighter_work_left() {
    let done = done_after(|power, at| _ = power.begin(DieWork::Read, at, MS / 100));
    // One die's work in 5 ms, and a 40th of the work allowed in 0.1 s, less the part kept for reads.
    assert!((28..=30).contains(&done), "{done}");
}

#[test]
fn what_a_rest_leaves_nobody_has() {
    let done = done_after(|_, _| ());
    assert!((19..=20).contains(&done), "one die's work in 5 ms: {done}");
}

#[test]
fn heavy_work_behind_light_work_exceeds_no_limit() {
    for light_ms in 1..20 {
        let mut power = limited(10);
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
        for start in 0..60 {
            let mean_mw = power.mean_mw(start * MS, (start + 10) * MS);
            assert!(mean_mw <= 2_165.0, "{light_ms}: {mean_mw} from {start} ms");
        }
    }
}

#[test]
fn steady_work_has_all_but_a_40th_and_its_margin_is_not_lost() {
    let mut power = limited(100);
    let mut dies = [0; 4];
    while let Some(die) = dies.iter_mut().min().filter(|die| **die < 1_000 * MS) {
        power.advance(*die / MS * MS);
        *die = power.begin(DieWork::Program, *die, MS / 4) + MS / 4;
    }
    let used_mw = power.mean_mw(100 * MS, 900 * MS) - 2_000.0;
    let share = used_mw / (165.0 * 39.0 / 40.0);
    assert!((0.99..=1.0 + 1e-9).contains(&share), "{share}");
}

#[test]
fn what_was_drawn_before_a_limit_does_not_count_for_it() {
    let mut power = Power::new(PowerSpec {
        limit_windows: 1_000,
        ..spec(None)
    });
    (0..500).for_each(|ms| {
        power.advance(ms * MS);
        (0..20).for_each(|_| _ = power.begin(DieWork::Program, ms * MS, MS));
    });
    power.advance(500 * MS);
    power.limit(Some(2_200));
    let start = power.begin(DieWork::Program, 500 * MS, MS / 2);
    assert!(start < 502 * MS, "{start}");
}

#[test]
fn what_was_planned_before_a_limit_nobody_owes() {
    for asked_ms in [0, 10] {
        let mut power = Power::new(spec(None));
        (0..20).for_each(|_| _ = power.begin(DieWork::Program, 0, 10 * MS));
        power.limit(Some(2_200));
        power.advance(asked_ms * MS);
        let start = power.begin(DieWork::Program, asked_ms * MS, MS / 2);
        // It starts right behind the planned work.
        assert!(
            (10 * MS..12 * MS).contains(&start),
            "asked at {asked_ms} ms: {start}"
        );
    }
}

#[test]
fn a_command_comes_in_however_little_a_limit_leaves() {
    for allowed_mw in 0..4 {
        let mut power = Power::new(spec(Some(2_000 + allowed_mw)));
        assert_eq!(power.transfer(0, 1), 0);
        power.begin(DieWork::Program, 0, MS / 2);
        assert!(power.transfer(0, 1) <= MS);
    }
}

#[test]
fn at_rest_what_is_saved_is_not_the_highest() {
    let state = RestSpec {
        mw: 5,
        entry_ns: 0,
        exit_ns: 0,
        after_ns: MS,
    };
    let mut power = Power::new(PowerSpec {
        rests: std::array::from_fn(|at| (at == 0).then_some(state)),
        ..spec(None)
    });
    power.advance(10_000 * MS);
    let mean_mw = power.mean_mw(0, 10_000 * MS);
    assert!(
        power.highest_mw() <= mean_mw + 1.0,
        "{} of {mean_mw}",
        power.highest_mw()
    );
}

proptest! {
    #[test]
    fn classes_and_trace_agree_and_nothing_exceeds_the_limit(
        works in proptest::collection::vec((0_u64..300_000, 0_u8..5, 1_u64..6_000_000), 1..400),
        cap in proptest::option::of(prop_oneof![1_900_u64..2_500, 2_500_u64..6_000]),
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
        // One die may always work, so a lower limit cannot be kept.
        if let Some(cap) = cap.filter(|&cap| cap >= PowerSpec::lowest_cap_mw(2_000 + active_mw, 160)) {
            for start in 0..now / MS + 100 {
                let mean_mw = power.mean_mw(start * MS, (start + limit_windows) * MS);
                prop_assert!(mean_mw <= cap as f64 + 1e-6, "{mean_mw} mW from {start} ms on");
            }
            prop_assert!(power.highest_mw() <= cap as f64 + 1e-6);
        }
    }
}
