//! Dies and channels against an event-exact model, which puts every operation through an event queue. The model shares no code
//! with the simulator and is slow. It shows how accurate the simulator's shortcuts are: two clocks for each die, and reserved
//! stretches of a channel.

// Tests print the figures that they check.
#![allow(clippy::print_stdout)]

mod exact;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sim::flash::{Flash, Machine};
use sim::profile::spec::{DriveOptions, Geometry, Pauses, Timing};
use workload::random::mix;

use exact::exact;

/// Workers with one read in flight each, beside programs that arrive at random at every die.
#[derive(Debug, Clone, Copy)]
struct Case {
    channels: u32,
    dies_per_channel: u32,
    timing: Timing,
    workers: u32,
    think_ns: u64,
    /// Mean time between two programs of a die; 0: no programs.
    program_every_ns: u64,
    reads_each: u64,
    seed: u64,
}

/// In place of a die: all dies erase a block.
const ERASE: u32 = u32::MAX;
/// Programs of all dies for each erase: erases are rare, as with blocks of many word lines.
const PROGRAMS_PER_ERASE: usize = 100;

impl Case {
    fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }

    fn geometry(&self) -> Geometry {
        Geometry {
            channels: self.channels,
            dies_per_channel: self.dies_per_channel,
            planes: 1,
            page_bytes: 16384,
            pages_per_block: 300,
            bits_per_cell: 3,
            superblocks: 10,
        }
    }

    fn die_of(&self, worker: u32, n: u64) -> u32 {
        (mix(self.seed ^ 0xD1E, u64::from(worker) << 32 | n) % u64::from(self.dies())) as u32
    }

    fn pause(&self, worker: u32, n: u64) -> u64 {
        self.think_ns * (mix(self.seed ^ 0x7415, u64::from(worker) << 32 | n) % 1000) / 500
    }

    /// All programs as time and die, sorted by time. They arrive at random, but the queue of a die stays short.
    fn programs(&self, until_ns: u64) -> Vec<(u64, u32)> {
        let mut all = Vec::new();
        for die in 0..self.dies() {
            let (mut at, mut n) = (0, 0);
            while self.program_every_ns > 0 && at < until_ns {
                let random = mix(self.seed ^ 0x9406, u64::from(die) << 32 | n) % 1000;
                at += self.program_every_ns * (500 + random) / 1000;
                n += 1;
                all.push((at, die));
            }
        }
        all.sort_unstable();
        for erase in all.iter_mut().skip(1).step_by(PROGRAMS_PER_ERASE) {
            erase.1 = ERASE;
        }
        all
    }

    fn transfer_ns(&self, units: u64) -> u64 {
        self.timing.command_ns + units * self.timing.unit_transfer_ns
    }
}

/// Latencies of all reads in the simulator.
fn simulator(case: &Case, programs: &[(u64, u32)]) -> Vec<u64> {
    let geometry = case.geometry();
    // The buffer is so large that no program waits for room.
    let mut machine = Machine::new(geometry, case.timing, 1 << 30, 1, &DriveOptions::default());
    let mut programs = programs.iter().peekable();
    let mut workers: BinaryHeap<_> = (0..case.workers)
        .map(|w| Reverse((case.pause(w, 0), w, 0)))
        .collect();
    let mut latency_ns = Vec::new();
    while let Some(Reverse((now, worker, n))) = workers.pop() {
        while let Some(&(at, die)) = programs.next_if(|&&(at, _)| at <= now) {
            machine.begin(at);
            machine.at = at;
            if die == ERASE {
                machine.erase_at_once(0);
            } else {
                let units = geometry.units_per_program();
                for _ in 0..units {
                    machine.admit(at);
                }
                machine.program_host((die + 1) * units - 1, units);
            }
        }
        machine.begin(now);
        let place = machine.place(case.die_of(worker, n) * geometry.units_per_program());
        let done = machine.read(place, 1, now);
        latency_ns.push(done - now);
        if n + 1 < case.reads_each {
            workers.push(Reverse((done + case.pause(worker, n + 1), worker, n + 1)));
        }
    }
    latency_ns
}

fn timing(read_ns: u64, program_ns: u64, suspend_ns: Option<u64>, unit_transfer_ns: u64) -> Timing {
    Timing {
        read_ns: [read_ns; 4],
        program_ns,
        erase_ns: 5_000_000,
        unit_transfer_ns,
        command_ns: 300,
        suspend_ns,
        deferral_limit_ns: 20_000_000,
        pauses: Pauses::default(),
    }
}

#[test]
fn one_read_at_a_time_is_equal() {
    for seed in 0..20 {
        let case = Case {
            channels: 1 + seed as u32 % 3,
            dies_per_channel: 1 + seed as u32 % 4,
            timing: timing(
                20_000 + 7_001 * seed,
                1_000_000,
                Some(10_000),
                3_000 + 501 * seed,
            ),
            workers: 1,
            think_ns: 1000 * seed,
            program_every_ns: 0,
            reads_each: 200,
            seed,
        };
        assert_eq!(simulator(&case, &[]), exact(&case, &[]), "{case:?}");
    }
}

#[test]
fn many_reads_without_programs_are_equal() {
    for seed in 0..20 {
        let case = Case {
            channels: 1 + seed as u32 % 3,
            dies_per_channel: 1 + seed as u32 % 4,
            timing: timing(60_000, 1_000_000, Some(10_000), 3_000 + 501 * seed),
            workers: 1 + seed as u32,
            think_ns: 0,
            program_every_ns: 0,
            reads_each: 20_000,
            seed,
        };
        let (mut fast, mut slow) = (simulator(&case, &[]), exact(&case, &[]));
        fast.sort_unstable();
        slow.sort_unstable();
        let difference = mean(&fast) / mean(&slow) - 1.0;
        assert!(difference.abs() < 0.005, "{difference} {case:?}");
    }
}

#[test]
fn a_read_that_meets_one_program_is_equal() {
    let mut meetings = 0;
    for suspend_ns in [None, Some(20_000)] {
        for seed in 0..200 {
            let case = Case {
                channels: 1,
                dies_per_channel: 1,
                timing: timing(60_000, 1_700_000, suspend_ns, 5_000),
                workers: 1,
                think_ns: 1_000_000,
                program_every_ns: 0,
                reads_each: 1,
                seed,
            };
            let (fast, slow) = (simulator(&case, &[(0, 0)]), exact(&case, &[(0, 0)]));
            meetings += u32::from(slow[0] > 65_300);
            assert_eq!(fast, slow, "{} {suspend_ns:?}", case.pause(0, 0));
        }
    }
    assert!(meetings > 200);
}

fn mean(of: &[u64]) -> f64 {
    of.iter().sum::<u64>() as f64 / of.len() as f64
}

fn draw(seed: u64, n: u64, from: u64, to: u64) -> u64 {
    from + mix(seed, n) % (to - from)
}

/// Differences of read latency between the two models, beside programs: mean and 99th percentile.
fn deviation(seed: u64, suspends: bool) -> (f64, f64) {
    let program_ns = draw(seed, 1, 600_000, 3_000_000);
    // Programs take a fifth to half of each die's time; erases come on top.
    let program_every_ns = program_ns * 100 / draw(seed, 2, 20, 50);
    let suspend_ns = suspends.then(|| draw(seed, 3, 5_000, 50_000));
    let (channels, dies_per_channel) = (draw(seed, 4, 1, 3), draw(seed, 5, 2, 5));
    let (read_ns, workers) = (draw(seed, 6, 20_000, 110_000), draw(seed, 8, 1, 9));
    // Reads take a tenth to two fifths of each die's time, so that programs are not deferred for ever.
    let reads_pct = draw(seed, 9, 10, 40);
    let case = Case {
        channels: channels as u32,
        dies_per_channel: dies_per_channel as u32,
        timing: timing(read_ns, program_ns, suspend_ns, draw(seed, 7, 1_500, 6_000)),
        workers: workers as u32,
        think_ns: workers * read_ns * 100 / (channels * dies_per_channel * reads_pct),
        program_every_ns,
        reads_each: 48_000 / workers,
        seed,
    };
    let programs = case.programs(100_000_000_000);
    let (mut fast, mut slow) = (simulator(&case, &programs), exact(&case, &programs));
    fast.sort_unstable();
    slow.sort_unstable();
    let last = |of: &[u64]| of[of.len() * 99 / 100] as f64;
    (
        mean(&fast) / mean(&slow) - 1.0,
        last(&fast) / last(&slow) - 1.0,
    )
}

/// Compares random cases. Returns the worst difference of the mean, and the worst and median difference of the 99th percentile.
fn compare(what: &str, suspends: bool) -> [f64; 3] {
    let all: Vec<(f64, f64)> = (0..50).map(|seed| deviation(seed, suspends)).collect();
    let worst =
        |of: &dyn Fn(&(f64, f64)) -> f64| all.iter().map(|d| of(d).abs()).fold(0.0, f64::max);
    let mut tails: Vec<f64> = all.iter().map(|d| d.1.abs()).collect();
    tails.sort_by(f64::total_cmp);
    let found = [worst(&|d| d.0), worst(&|d| d.1), tails[tails.len() / 2]];
    let [mean, p99, median] = found.map(|d| d * 100.0);
    println!(
        "{what}: mean differs by at most {mean:.2} %, 99th percentile by at most {p99:.2} %, by {median:.2} % in the median"
    );
    for (seed, d) in all.iter().enumerate().filter(|(_, d)| d.0.abs() > 0.02) {
        println!(
            "  seed {seed}: mean {:+.2} %, 99th percentile {:+.2} %",
            d.0 * 100.0,
            d.1 * 100.0
        );
    }
    found
}

#[test]
fn reads_that_interrupt_programs_have_the_exact_mean_within_two_per_cent() {
    let [mean, p99, median] = compare("with suspend", true);
    assert!(mean <= 0.02 && p99 <= 0.10 && median <= 0.02);
}

#[test]
fn reads_that_wait_for_programs_have_the_exact_mean_within_two_per_cent() {
    let [mean, p99, median] = compare("without suspend", false);
    assert!(mean <= 0.02 && p99 <= 0.10 && median <= 0.02);
}
