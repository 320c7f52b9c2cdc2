//! Garbage collection between marks, and parity over dies.

use sim::profile::spec::{DriveSpec, Marks};

use crate::drives::loops::{Seen, random, sequential};
use crate::drives::{MS, REVIEWED, assert_within, filled, tortured};

fn with(change: impl FnOnce(&mut DriveSpec)) -> DriveSpec {
    let mut spec = REVIEWED.spec();
    change(&mut spec);
    spec
}

/// Completions in each 10 ms, except the last.
fn by_hundredth(seen: &Seen) -> Vec<u64> {
    let begin = seen.ios[0].0;
    let mut done = Vec::new();
    for &(_, at) in &seen.ios {
        let window = ((at - begin) / (10 * MS)) as usize;
        if done.len() <= window {
            done.resize(window + 1, 0);
        }
        done[window] += 1;
    }
    done.pop();
    done
}

/// Results of random writes at depth 32 with given marks.
struct Marked {
    iops: f64,
    amplification: f64,
    /// Standard deviation of the completions in each 10 ms, relative to their mean.
    spread: f64,
    /// Median and 99.9th percentile of latency, relative to the mean.
    middle: f64,
    tail: f64,
}

impl Marked {
    fn by(marks: Option<Marks>) -> Self {
        let spec = with(|spec| spec.options.marks = marks);
        let mut drive = tortured(&spec);
        let seen = random(&mut drive, spec.user_bytes, 0, 32, 300_000);
        let rows = by_hundredth(&seen);
        let mean = rows.iter().sum::<u64>() as f64 / rows.len() as f64;
        let squares = rows.iter().map(|&row| (row as f64 / mean - 1.0).powi(2));
        let mut waits: Vec<u64> = seen.ios.iter().map(|&(at, done)| done - at).collect();
        waits.sort_unstable();
        let at = |part: f64| waits[(waits.len() as f64 * part) as usize] as f64 / seen.mean_ns();
        Self {
            iops: seen.iops(),
            amplification: drive.ftl_counts().write_amplification().unwrap(),
            spread: (squares.sum::<f64>() / rows.len() as f64).sqrt(),
            middle: at(0.5),
            tail: at(0.999),
        }
    }
}

#[test]
fn between_marks_the_host_is_slower_and_faster_and_on_the_whole_the_same() {
    let even = Marked::by(None);
    let marked = |catch_up_pct, quantum_units| {
        Marked::by(Some(Marks {
            apart_units: 1024,
            quantum_units,
            catch_up_pct,
        }))
    };
    let (slight, hard, lumpy) = (marked(150, 1), marked(400, 1), marked(400, 512));
    for one in [&slight, &hard, &lumpy] {
        assert_within(
            "write amplification",
            one.amplification,
            even.amplification,
            0.02,
        );
        assert_within("IOPS", one.iops, even.iops, 0.05);
    }
    assert!(slight.spread > 1.5 * even.spread);
    assert!((0.5..2.0).contains(&slight.middle), "none waits for all");
    // Collection works during a quarter of the host's writes and rests during the others.
    assert!(hard.middle < 1.0 && hard.middle < slight.middle);
    assert!(lumpy.tail > even.tail, "a quantum is in front of the host");
}

#[test]
fn parity_takes_its_share_of_the_programs() {
    let lines = 8;
    let run = |parity_lines| {
        let spec = with(|spec| spec.options.parity_lines = parity_lines);
        let mut drive = filled(&spec);
        sequential(&mut drive, 0, spec.user_bytes);
        let mb_s = sequential(&mut drive, 0, spec.user_bytes);
        (drive, mb_s, spec)
    };
    let (plain, plain_mb_s, _) = run(0);
    let plain = plain.flash_counts();
    assert_eq!(plain.parity_units, 0);
    let (drive, mb_s, spec) = run(lines);
    let (counts, ftl) = (drive.flash_counts(), drive.ftl_counts());
    let line = u64::from(spec.geometry.units_per_program());
    // The last word line is not full.
    let data = ftl.flash_units() / line;
    assert_eq!(counts.parity_units / line, data / u64::from(lines - 1));
    assert_eq!(counts.programs, data + counts.parity_units / line);
    assert_eq!(
        drive.programmed_units(),
        ftl.flash_units() + counts.parity_units
    );
    // All dies are busy with programs, and blocks of parity are erased too.
    let share = f64::from(lines - 1) / f64::from(lines);
    assert_within("MB/s", mb_s, plain_mb_s * share, 0.01);
    assert_within(
        "erases",
        counts.erases as f64,
        plain.erases as f64 / share,
        0.02,
    );
}
