//! Both models on one machine.

use std::ops::Range;

use sim::drive::Drive;
use sim::ftl::{Ftl, Greedy};
use sim::profile::spec::DriveSpec;
use workload::Op;
use workload::random::mix;

use crate::events::drive::Exact;
use crate::events::load::{Arrival, Load, Seen};
use crate::events::machines::{Draw, PLAIN_UNITS, machine};
use crate::events::map::Map;
use crate::events::stops::Stops;

const IOS: u64 = 60_000;
const MEAN_TOLERANCE: f64 = 0.05;
const P99_TOLERANCE: f64 = 0.2;
/// The exact figures themselves have a standard error. If that of the mean or of the 99th percentile exceeds a fifth of the
/// tolerance, the machine runs `LONGER` times as many I/Os, up to `MOST`. This happens when a load saturates in rare stretches.
///
/// If the error then still exceeds a third of the tolerance, it is printed with the figures. The models may then differ by the
/// tolerance and two standard errors of the difference, but by no more than `MOST_MORE` tolerances beyond the tolerance.
/// Without that bound, an error of the fast model that lies in few parts would widen its own allowance.
const ENOUGH: f64 = 5.0;
const MEAN_ERROR: f64 = MEAN_TOLERANCE / 3.0;
const P99_ERROR: f64 = P99_TOLERANCE / 3.0;
const MOST_MORE: f64 = 1.0;
const LONGER: u64 = 4;
const MOST: u64 = IOS * LONGER * LONGER * LONGER;
/// Parts of a run whose percentiles show how well that of the whole run is known.
const PARTS: usize = 12;

pub struct Case {
    pub spec: DriveSpec,
    pub load: Load,
    pub text: String,
    seed: u64,
}

/// A drive at rest, after one sequential fill and two random overwrites.
fn used(spec: &DriveSpec, seed: u64) -> (Drive<Ftl<Greedy>>, (Map, Option<Stops>)) {
    let mut drive: Drive<Ftl<Greedy>> = Drive::new(spec, Greedy);
    let mut map = Map::new(spec);
    let mut stops = spec.options.housekeeping.map(Stops::new);
    let bytes = map.together * 4096;
    let units = (spec.user_bytes / u64::from(bytes)) as u32;
    let random = (0..2 * u64::from(units)).map(|n| (mix(seed, n) % u64::from(units)) as u32);
    let mut asked = Vec::new();
    for unit in (0..units).chain(random) {
        let at = u64::from(unit) * u64::from(bytes);
        let done = drive.submit(drive.now(), Op::Write, at, bytes);
        drive.wait_until(done);
        let moved = map.moved_units;
        map.write(unit, &mut asked);
        if let Some(stops) = &mut stops {
            stops.moved(map.moved_units - moved);
        }
        asked.clear();
    }
    drive.wait_until(drive.idle_at());
    (drive, (map, stops))
}

impl Case {
    /// Returns a machine with a load of `ios` I/Os. The rate of an open loop depends on the machine's number only.
    fn drawn(seed: u64, ios: u64) -> Self {
        let mut draw = Draw::new(seed);
        let spec = machine(seed, &mut draw);
        let read_pct = draw.one_of(&[0, 5, 10, 20, 30, 50, 70, 80, 90, 95, 100]);
        let block_units = draw.one_of(&[1, 1, 1, 2, 8, 32]);
        let depth = draw.one_of(&[1, 2, 4, 8, 16, 32, 64]);
        let open = draw.between(0, 1) == 1;
        let share = draw.between(10, 95);
        let load = |arrival, ios| {
            let units = (spec.user_bytes / 4096) as u32;
            let streams = if seed >= PLAIN_UNITS && seed.is_multiple_of(2) {
                Draw::new(!seed / 7).one_of(&[1, 3, 10, 30])
            } else {
                0
            };
            let mut load = Load::new(ios, read_pct, block_units, units, arrival, seed);
            load.streams = streams;
            load
        };
        let closed = load(Arrival::Closed { depth }, ios);
        let mut text = format!("{read_pct} % reads of {block_units}");
        if closed.streams > 0 {
            text = format!("{text}, writes in {} streams", closed.streams);
        }
        if open {
            let peak = load(Arrival::Closed { depth: 64 }, IOS);
            let (mut drive, _) = used(&spec, seed);
            let begin = drive.now();
            peak.run(&mut drive);
            let every_ns = (drive.now() - begin) as f64 / IOS as f64 * 100.0 / share as f64;
            text = format!("{text}, {share} % load");
            let load = load(Arrival::Open { every_ns }, ios);
            return Self {
                spec,
                load,
                text,
                seed,
            };
        }
        text = format!("{text}, depth {depth}");
        Self {
            spec,
            load: closed,
            text,
            seed,
        }
    }
}

/// Sorted latencies in one direction.
fn sorted(seen: &[Seen], read: bool) -> Vec<u64> {
    let of = seen.iter().filter(|seen| seen.read == read);
    let mut of: Vec<u64> = of.map(|seen| seen.latency_ns).collect();
    of.sort_unstable();
    of
}

fn p99(sorted: &[u64]) -> Option<f64> {
    let at = sorted.len() * 99 / 100;
    sorted.get(at).map(|&latency_ns| latency_ns as f64)
}

/// Drops the first fifth.
fn warm(seen: &[Seen]) -> &[Seen] {
    &seen[seen.len() / 5..]
}

/// Mean and 99th percentile of sorted latencies.
fn mean_and_p99(sorted: &[u64]) -> Option<[f64; 2]> {
    let mean = sorted.iter().sum::<u64>() as f64 / sorted.len() as f64;
    Some([mean, p99(sorted)?])
}

/// Mean and 99th percentile in one direction, without the first fifth.
fn figures(seen: &[Seen], read: bool) -> Option<[f64; 2]> {
    mean_and_p99(&sorted(warm(seen), read))
}

/// Both figures for each of `PARTS` equal parts.
fn of_parts(seen: &[Seen], read: bool) -> Vec<[f64; 2]> {
    let parts = warm(seen).chunks_exact(warm(seen).len() / PARTS);
    let figures = parts.filter_map(|part| mean_and_p99(&sorted(part, read)));
    figures.collect()
}

/// Relative standard errors of both figures, in the direction where they are larger.
fn errors(seen: &[Seen]) -> [f64; 2] {
    let both = [of_parts(seen, true), of_parts(seen, false)];
    // A direction without I/Os gives NaN, which `max` ignores.
    [0, 1].map(|figure| {
        let error = |of: &[[f64; 2]]| {
            let of = of.iter().map(|part| part[figure]);
            standard_error(of.clone()) / mean(of)
        };
        error(&both[0]).max(error(&both[1]))
    })
}

/// Relative standard errors of the differences of both figures. They are paired part by part, as both models ran the same I/Os.
fn errors_of_differences(fast: &[Seen], slow: &[Seen], read: bool) -> [f64; 2] {
    let (fast, slow) = (of_parts(fast, read), of_parts(slow, read));
    [0, 1].map(|figure| {
        let pairs = fast.iter().zip(&slow);
        let differences = pairs.map(|(fast, slow)| fast[figure] - slow[figure]);
        standard_error(differences) / mean(slow.iter().map(|part| part[figure]))
    })
}

fn mean(of: impl Iterator<Item = f64> + Clone) -> f64 {
    of.clone().sum::<f64>() / of.count() as f64
}

/// Standard error of the mean.
fn standard_error(of: impl Iterator<Item = f64> + Clone) -> f64 {
    let (n, mean) = (of.clone().count() as f64, mean(of.clone()));
    let variance = of.map(|one| (one - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (variance / n).sqrt()
}

/// Prints the first I/Os that differ.
fn show(slow: &[Seen], fast: &[Seen], at_most: usize) {
    let pairs = slow.iter().zip(fast);
    let differ =
        pairs.filter(|(s, f)| s.latency_ns.abs_diff(f.latency_ns) > 1 + s.latency_ns / 100);
    for (s, f) in differ.take(at_most) {
        let what = if s.read { "read " } else { "write" };
        println!(
            "      {:6} {what} exact {:9} ns, simulator {:9} ns",
            s.n, s.latency_ns, f.latency_ns
        );
    }
    for read in [true, false] {
        let (s, f) = (sorted(warm(slow), read), sorted(warm(fast), read));
        for per_mille in [0, 10, 100, 250, 500, 750, 900, 950, 990, 995, 999] {
            if !s.is_empty() {
                let at = s.len() * per_mille / 1000;
                println!(
                    "      read {read} {per_mille:4} per mille: exact {:9}, simulator {:9}",
                    s[at], f[at]
                );
            }
        }
    }
}

struct Compared {
    case: Case,
    slow: Vec<Seen>,
    fast: Vec<Seen>,
}

/// Runs both models on a machine, and checks that they place the same units.
fn both(number: u64, ios: u64) -> Compared {
    let case = Case::drawn(number, ios);
    let (mut drive, map) = used(&case.spec, case.seed);
    let (slow, map) = Exact::new(&case.spec, map, drive.now(), &case.load).run();
    let fast = case.load.run(&mut drive);
    let counts = drive.ftl_counts();
    if number < PLAIN_UNITS {
        assert_eq!(
            (counts.host_units, counts.moved_units),
            (map.host_units, map.moved_units)
        );
    } else {
        // Which parts meet in the buffer depends on when missing data has been read.
        let placed = (counts.host_units + counts.moved_units) as f64;
        let exact = (map.host_units + map.moved_units) as f64;
        assert!(
            (placed / exact - 1.0).abs() < 0.01,
            "{placed} units placed, exact {exact}"
        );
    }
    Compared { case, slow, fast }
}

/// Runs both models for as many I/Os as the figures need.
fn long_enough(number: u64) -> Compared {
    let mut ios = IOS;
    loop {
        let compared = both(number, ios);
        let [of_mean, of_p99] = errors(&compared.slow);
        if ios >= MOST || (of_mean <= MEAN_TOLERANCE / ENOUGH && of_p99 <= P99_TOLERANCE / ENOUGH) {
            return compared;
        }
        ios *= LONGER;
    }
}

fn name(
    number: u64,
    Case {
        spec, load, text, ..
    }: &Case,
) -> String {
    let g = spec.geometry;
    format!(
        "{number:2}: {}x{} dies, {} units a page x {}, buffer {}, suspend {:?}, {}, stripe {}, {} together x {}; {text}; {} I/Os",
        g.channels,
        g.dies_per_channel,
        g.units_per_read(),
        g.bits_per_cell,
        spec.buffer_bytes / 4096,
        spec.timing.suspend_ns.map(|ns| ns / 1000),
        if spec.host.half_duplex {
            "SATA"
        } else {
            "NVMe"
        },
        spec.options.stripe_dies,
        spec.options.units_together(),
        spec.options.contexts(),
        load.ios,
    )
}

/// Relative differences allowed for the figures of one direction.
fn allowed(fast: &[Seen], slow: &[Seen], read: bool) -> [f64; 2] {
    let known = errors(slow);
    let differences = errors_of_differences(fast, slow, read);
    let limits = [(MEAN_TOLERANCE, MEAN_ERROR), (P99_TOLERANCE, P99_ERROR)];
    [0, 1].map(|figure| {
        let (tolerance, error) = limits[figure];
        if known[figure] <= error {
            tolerance
        } else {
            tolerance + (2.0 * differences[figure]).min(MOST_MORE * tolerance)
        }
    })
}

/// Compares both models on a range of machines, prints the figures, and fails if they differ too much.
pub fn compare(machines: Range<u64>) {
    let mut wrong = 0;
    for number in machines {
        let Compared { case, slow, fast } = long_enough(number);
        if let Ok(limit) = std::env::var("SHOW") {
            println!("{:#?}", case.spec);
            show(&slow, &fast, limit.parse().unwrap());
        }
        let [of_mean, of_p99] = errors(&slow);
        println!(
            "{}, standard errors {:.1} and {:.1} %",
            name(number, &case),
            of_mean * 100.0,
            of_p99 * 100.0
        );
        for read in [true, false] {
            let allowed = allowed(&fast, &slow, read);
            let (Some(fast), Some(slow)) = (figures(&fast, read), figures(&slow, read)) else {
                continue;
            };
            let off = [fast[0] / slow[0] - 1.0, fast[1] / slow[1] - 1.0];
            // NaN counts as a difference.
            let bad = !(0..2).all(|figure| off[figure].abs() <= allowed[figure]);
            wrong += u32::from(bad);
            println!(
                "    {} mean {:10.2} us, exact {:10.2} ({:+6.1} %); p99 {:10.2} us, exact {:10.2} ({:+6.1} %){}",
                if read { "reads " } else { "writes" },
                fast[0] / 1e3,
                slow[0] / 1e3,
                off[0] * 100.0,
                fast[1] / 1e3,
                slow[1] / 1e3,
                off[1] * 100.0,
                if bad { "  <--" } else { "" },
            );
        }
    }
    assert_eq!(wrong, 0, "differences beyond the tolerance");
}
