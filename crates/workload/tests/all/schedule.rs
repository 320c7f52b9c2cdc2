//! The promises of the schedules: exact rates, no drift, the stated law.

use crate::workloads::{dues, open, plan, stream};
use proptest::prelude::*;
use workload::spec::{Arrival, Process, Stream};

const NS_PER_S: u128 = 1_000_000_000;

fn even(num: u64, den: u64) -> Stream {
    Stream {
        arrival: open(Process::Even, num, den),
        ..stream()
    }
}

/// The definition: arrival n at `num / den` per second, in ns, rounded down.
fn formula(n: u64, num: u64, den: u64) -> u64 {
    (u128::from(n) * u128::from(den) * NS_PER_S / u128::from(num)) as u64
}

/// Rates from one in 1000 seconds to 10^9 per second.
fn rates() -> impl Strategy<Value = (u64, u64)> {
    (1u64..1_000_000_000, 1u64..1000)
}

proptest! {
    #[test]
    fn even_arrivals_are_the_formula((num, den) in rates()) {
        let dues = dues(&plan(1, even(num, den)), 0, 2000);
        for (n, due) in dues.into_iter().enumerate() {
            prop_assert_eq!(due, formula(n as u64, num, den));
        }
    }

    #[test]
    fn queues_of_act2019_make_up_the_even_sequence((num, den) in rates(), queues in 1u32..20, each in 1u32..5) {
        let arrival = open(Process::Act2019 { queues }, num, den);
        let workers = queues * each;
        let plan = plan(1, Stream { arrival, workers, ..stream() });
        prop_assert_eq!(plan.stream(0).sources(), queues);
        for worker in 0..workers {
            prop_assert_eq!(plan.stream(0).source_of_worker(worker), worker / each);
        }
        for queue in 0..queues {
            for (k, due) in dues(&plan, queue, 100).into_iter().enumerate() {
                let n = u64::from(queue) + k as u64 * u64::from(queues);
                prop_assert_eq!(due, formula(n, num, den));
            }
        }
    }

    #[test]
    fn ticks_of_act6_are_the_same_for_all((num, den) in rates(), workers in 1u32..300) {
        let arrival = open(Process::Act6, num, den);
        let plan = plan(1, Stream { arrival, workers, ..stream() });
        prop_assert_eq!(plan.stream(0).sources(), workers);
        let ticks = dues(&plan, 0, 100);
        for (k, due) in ticks.iter().enumerate() {
            prop_assert_eq!(*due, formula(k as u64 * u64::from(workers), num, den));
        }
        prop_assert_eq!(&ticks, &dues(&plan, workers - 1, 100));
        prop_assert_eq!(plan.stream(0).source_of_worker(workers - 1), workers - 1);
    }

    #[test]
    fn poisson_arrivals_never_go_back((num, den) in rates(), seed: u64) {
        let arrival = open(Process::Poisson, num, den);
        let dues = dues(&plan(seed, Stream { arrival, ..stream() }), 0, 2000);
        prop_assert!(dues.is_sorted());
    }

    #[test]
    fn bursts_are_due_at_their_start(ios in 1u64..200, every_ns in 1u64..1_000_000_000) {
        let arrival = Arrival::Bursts { bytes: ios * 4096, every_ns };
        let plan = plan(1, Stream { arrival, workers: 7, ..stream() });
        prop_assert_eq!(plan.stream(0).sources(), 1);
        prop_assert_eq!(plan.stream(0).source_of_worker(6), 0);
        for (n, due) in dues(&plan, 0, 1000).into_iter().enumerate() {
            prop_assert_eq!(due, n as u64 / ios * every_ns);
        }
    }
}

proptest! {
    #[test]
    fn pulses_rest_until_the_next_begins(on_ns in 1u64..1_000, off_ns in 1u64..1_000, at_ns in 0u64..100_000) {
        let every_ns = on_ns + off_ns;
        let pulses = Arrival::Pulses { on_ns, every_ns };
        let begun = (0..=at_ns).rev().find(|at| at % every_ns == 0).unwrap();
        let resting = at_ns >= begun + on_ns;
        prop_assert_eq!(pulses.rests_until(at_ns), resting.then_some(begun + every_ns));
    }
}

#[test]
fn pulses_are_a_closed_loop() {
    let arrival = Arrival::Pulses {
        on_ns: 1,
        every_ns: 2,
    };
    let plan = plan(
        1,
        Stream {
            arrival,
            workers: 7,
            ..stream()
        },
    );
    assert_eq!(plan.stream(0).sources(), 7);
    assert!(plan.stream(0).schedule(3).is_none());
    assert_eq!(Arrival::Closed { think_ns: 5 }.rests_until(3), None);
}

#[test]
fn a_day_of_an_odd_rate_does_not_drift() {
    // The rate of ACT's large blocks: 2000 per 85 seconds, 23.529... per second, 2 032 941 per day.
    let plan = plan(1, even(2000, 85));
    let mut schedule = plan.stream(0).schedule(0).unwrap();
    let mut last = 0;
    for _ in 0..=2_032_941 {
        last = schedule.next();
    }
    assert_eq!(last, formula(2_032_941, 2000, 85));
    assert_eq!(last, 86_399_992_500_000);
}

/// Returns the mean and the coefficient of variation of the distances.
fn moments(dues: &[u64]) -> (f64, f64) {
    let gaps: Vec<f64> = dues.windows(2).map(|d| (d[1] - d[0]) as f64).collect();
    let count = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / count;
    let variance = gaps.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / count;
    (mean, variance.sqrt() / mean)
}

#[test]
fn ticks_of_ten_workers_come_in_bursts() {
    // ACT at 2000/s with 10 threads: nine gaps of zero and one of 5 ms, so the CV is 3.
    let arrival = open(Process::Act6, 2000, 1);
    let plan = plan(
        1,
        Stream {
            arrival,
            workers: 10,
            ..stream()
        },
    );
    let mut merged: Vec<u64> = (0..10).flat_map(|s| dues(&plan, s, 2000)).collect();
    merged.sort_unstable();
    let (mean, cv) = moments(&merged);
    assert!((mean / 500_000.0 - 1.0).abs() < 0.001, "{mean}");
    assert!((cv - 3.0).abs() < 0.01, "{cv}");
}

#[test]
fn poisson_has_the_rate_and_the_law() {
    // From gaps far above a nanosecond to gaps at which whole nanoseconds would distort the rate.
    for (num, den) in [(1000, 1), (2000, 85), (100_000, 1), (300_000_007, 1)] {
        let arrival = open(Process::Poisson, num, den);
        let plan = plan(
            11,
            Stream {
                arrival,
                ..stream()
            },
        );
        let count = 400_000;
        let dues = dues(&plan, 0, count);
        let wanted = den as f64 * 1e9 / num as f64;
        // The mean of n exponential gaps has a relative standard deviation of 1 / sqrt(n).
        let mean = dues[count - 1] as f64 / count as f64;
        let deviation = 1.0 / (count as f64).sqrt();
        assert!(
            (mean / wanted - 1.0).abs() < 5.0 * deviation,
            "{num}/{den}: {mean}"
        );
        if wanted > 1000.0 {
            let (_, cv) = moments(&dues);
            assert!((cv - 1.0).abs() < 0.02, "{num}/{den}: CV {cv}");
            assert_exponential(&dues, wanted);
        }
    }
}

/// Checks the gaps against the exponential law by the Kolmogorov-Smirnov statistic, at the 0.1 %
/// level.
fn assert_exponential(dues: &[u64], mean_ns: f64) {
    let mut gaps: Vec<f64> = dues.windows(2).map(|d| (d[1] - d[0]) as f64).collect();
    gaps.sort_unstable_by(f64::total_cmp);
    let count = gaps.len() as f64;
    let farthest = gaps.iter().enumerate().map(|(rank, gap)| {
        let law = 1.0 - (-gap / mean_ns).exp();
        (law - rank as f64 / count)
            .abs()
            .max((law - (rank + 1) as f64 / count).abs())
    });
    let statistic = farthest.fold(0.0, f64::max);
    assert!(statistic < 1.95 / count.sqrt(), "{statistic}");
}

#[test]
fn neighbouring_poisson_gaps_are_independent() {
    let arrival = open(Process::Poisson, 1000, 1);
    let dues = dues(
        &plan(
            3,
            Stream {
                arrival,
                ..stream()
            },
        ),
        0,
        200_001,
    );
    let gaps: Vec<f64> = dues
        .windows(2)
        .map(|d| (d[1] - d[0]) as f64 / 1e6 - 1.0)
        .collect();
    let count = gaps.len() as f64;
    let correlation = gaps.windows(2).map(|g| g[0] * g[1]).sum::<f64>() / count;
    assert!(correlation.abs() < 5.0 / count.sqrt(), "{correlation}");
}

#[test]
fn a_closed_loop_has_no_schedule() {
    let plan = plan(
        1,
        Stream {
            workers: 3,
            ..stream()
        },
    );
    assert!(plan.stream(0).schedule(2).is_none());
    assert_eq!(plan.stream(0).sources(), 3);
}

#[test]
fn the_longest_distances_saturate_instead_of_wrapping() {
    let arrival = open(Process::Act6, 1, 1_000_000);
    let plan = plan(
        1,
        Stream {
            arrival,
            workers: 4096,
            ..stream()
        },
    );
    let dues = dues(&plan, 4095, 20);
    assert!(dues.is_sorted());
    assert_eq!(dues[19], u64::MAX);
}
