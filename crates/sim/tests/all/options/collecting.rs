//! When collection works, and parity over dies.

use sim::profile::spec::{DriveSpec, Pacing};

use crate::drives::loops::{Seen, beside_writes, random, sequential};
use crate::drives::{MS, REVIEWED, assert_within, filled, tortured};

fn with(change: impl FnOnce(&mut DriveSpec)) -> DriveSpec {
    let mut spec = REVIEWED.spec();
    change(&mut spec);
    spec
}

/// Completions in each 10 ms, fewest first, but for the last.
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
    done.sort_unstable();
    done
}

/// What random writes of 32 in flight do where collection works so.
struct Paced {
    iops: f64,
    amplification: f64,
    /// Completions in each 10 ms beside their mean, fewest first.
    rows: Vec<f64>,
    /// The median latency beside the mean one.
    middle: f64,
}

impl Paced {
    fn by(pacing: Pacing) -> Self {
        let spec = with(|spec| spec.options.pacing = pacing);
        let mut drive = tortured(&spec);
        let seen = random(&mut drive, spec.user_bytes, 0, 32, 300_000);
        let rows = by_hundredth(&seen);
        let mean = rows.iter().sum::<u64>() as f64 / rows.len() as f64;
        let mut waits: Vec<u64> = seen.ios.iter().map(|&(at, done)| done - at).collect();
        waits.sort_unstable();
        Self {
            iops: seen.iops(),
            amplification: drive.ftl_counts().write_amplification().unwrap(),
            rows: rows.iter().map(|&row| row as f64 / mean).collect(),
            middle: waits[waits.len() / 2] as f64 / seen.mean_ns(),
        }
    }

    fn row_at(&self, pct: usize) -> f64 {
        self.rows[self.rows.len() * pct / 100]
    }

    fn spread(&self) -> f64 {
        let squares = self.rows.iter().map(|row| (row - 1.0).powi(2));
        (squares.sum::<f64>() / self.rows.len() as f64).sqrt()
    }
}

#[test]
fn late_and_in_bursts_the_host_is_fast_until_it_is_slow() {
    let smooth = Paced::by(Pacing::default());
    let bursts = Paced::by(Pacing {
        target: 12,
        burst_milli: 950,
        ..Pacing::default()
    });
    assert!(smooth.row_at(10) > 0.8 && smooth.row_at(90) < 1.2);
    assert!(bursts.row_at(10) < 0.5 && bursts.row_at(90) > 1.5);
    // On the whole it is the same work; a few more superblocks stand free, and are no spare.
    assert_within(
        "write amplification",
        bursts.amplification,
        smooth.amplification,
        0.08,
    );
    assert_within("IOPS", bursts.iops, smooth.iops, 0.12);
}

#[test]
fn by_turns_the_host_is_slower_and_faster_and_on_the_whole_the_same() {
    let smooth = Paced::by(Pacing::default());
    let late = Paced::by(Pacing {
        late_units: 1024,
        catch_up_pct: 150,
        ..Pacing::default()
    });
    assert!(late.spread() > 2.0 * smooth.spread());
    assert!((0.5..2.0).contains(&late.middle), "none waits for all");
    assert_within(
        "write amplification",
        late.amplification,
        smooth.amplification,
        0.02,
    );
    assert_within("IOPS", late.iops, smooth.iops, 0.03);
}

#[test]
fn beside_reads_collection_works_until_the_pool_is_there() {
    let run = |beside_lines| {
        let spec = with(|spec| {
            spec.options.pacing = Pacing {
                target: 40,
                beside_lines,
                ..Pacing::default()
            };
        });
        let mut drive = tortured(&spec);
        // Reads for 4 s, half a second, and as many again.
        let mut read = |n| {
            let before = drive.ftl_counts().moved_units;
            let seen = beside_writes(&mut drive, spec.user_bytes, 5000, 0, n);
            (seen.mean_ns(), drive.ftl_counts().moved_units - before)
        };
        let (first, _, after) = (read(2000), read(16_000), read(2000));
        let writes = random(&mut drive, spec.user_bytes, 0, 32, 15_000).iops();
        println!(
            "{beside_lines} word lines: reads {first:?}, then {after:?}; {writes:.0} writes/s"
        );
        (first, after, writes)
    };
    let (without, with) = (run(0), run(4));
    assert_eq!((without.0.1, without.1.1), (0, 0));
    // It works while the host only reads, which wait for it, and rests when as much is free as is to be.
    assert!(with.0.1 > 0 && with.1.1 == 0);
    assert!(with.0.0 > 1.02 * with.1.0);
    assert_within("reads beside nothing, ns", with.1.0, without.1.0, 0.02);
    assert!(
        with.2 > 1.5 * without.2,
        "what is free takes writes at once"
    );
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
    // The last word line of what was written is not full.
    let data = ftl.flash_units() / line;
    assert_eq!(counts.parity_units / line, data / u64::from(lines - 1));
    assert_eq!(counts.programs, data + counts.parity_units / line);
    assert_eq!(
        drive.programmed_units(),
        ftl.flash_units() + counts.parity_units
    );
    // All dies are busy with programs, and the blocks of parity are erased too.
    let share = f64::from(lines - 1) / f64::from(lines);
    assert_within("MB/s", mb_s, plain_mb_s * share, 0.01);
    assert_within(
        "erases",
        counts.erases as f64,
        plain.erases as f64 / share,
        0.02,
    );
}
