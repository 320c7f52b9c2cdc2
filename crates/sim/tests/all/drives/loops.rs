//! Closed loops of I/Os, and what they saw.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sim::drive::Device;
use workload::Op;
use workload::random::mix;

use super::{MS, SECOND, UNIT};

/// Bytes of a sequential I/O.
const BLOCK: u64 = 131_072;

/// I/Os in flight, sorted by completion time and then by a number.
type InFlight = BinaryHeap<Reverse<(u64, u32)>>;

/// Writes `bytes` sequentially from `start`, with four I/Os of 128 KiB in flight. Returns MB/s as the host sees it.
pub fn sequential(drive: &mut impl Device, start: u64, bytes: u64) -> f64 {
    in_order(drive, Op::Write, start, bytes, 4)
}

/// Reads or writes `bytes` sequentially from `start`, with `depth` I/Os of 128 KiB in flight. Returns MB/s as the host sees it.
pub fn in_order(drive: &mut impl Device, op: Op, start: u64, bytes: u64, depth: u32) -> f64 {
    let begin = drive.now();
    let mut due: InFlight = (0..depth).map(|slot| Reverse((begin, slot))).collect();
    let mut last = begin;
    for block in 0..bytes / BLOCK {
        let Reverse((now, slot)) = due.pop().unwrap();
        let done = drive.submit(now, op, start + block * BLOCK, BLOCK as u32);
        last = last.max(done);
        due.push(Reverse((done, slot)));
    }
    drive.wait_until(last);
    bytes as f64 / (last - begin) as f64 * 1000.0
}

/// Submission and completion time of each I/O, in order of submission.
pub struct Seen {
    pub ios: Vec<(u64, u64)>,
}

impl Seen {
    fn elapsed_ns(&self) -> u64 {
        self.ios.iter().map(|io| io.1).max().unwrap() - self.ios[0].0
    }

    pub fn iops(&self) -> f64 {
        self.ios.len() as f64 / self.elapsed_ns() as f64 * 1e9
    }

    /// I/Os per second over the second half of the submissions, without the start and the end of the loop.
    pub fn steady_iops(&self) -> f64 {
        let half = &self.ios[self.ios.len() / 2..];
        (half.len() - 1) as f64 / (half[half.len() - 1].0 - half[0].0) as f64 * 1e9
    }

    pub fn mean_ns(&self) -> f64 {
        self.ios.iter().map(|io| io.1 - io.0).sum::<u64>() as f64 / self.ios.len() as f64
    }

    /// Mean latency of the I/Os that `steady_iops` counts.
    pub fn mean_of_second_half_ns(&self) -> f64 {
        let half = &self.ios[self.ios.len() / 2..];
        half.iter().map(|io| io.1 - io.0).sum::<u64>() as f64 / half.len() as f64
    }

    /// Latencies in ns that the given shares of the I/Os do not exceed.
    pub fn quantiles_ns<const N: usize>(&self, shares: [f64; N]) -> [u64; N] {
        let mut latency_ns: Vec<u64> = self.ios.iter().map(|io| io.1 - io.0).collect();
        latency_ns.sort_unstable();
        shares.map(|share| latency_ns[((latency_ns.len() - 1) as f64 * share) as usize])
    }

    /// Completions in each 100 ms; the last may be cut short.
    pub fn by_tenth(&self) -> Vec<u64> {
        let begin = self.ios[0].0;
        let mut tenths = Vec::new();
        for &(_, done) in &self.ios {
            let tenth = ((done - begin) / (100 * MS)) as usize;
            if tenths.len() <= tenth {
                tenths.resize(tenth + 1, 0);
            }
            tenths[tenth] += 1;
        }
        tenths
    }
}

/// Random I/Os of 4 KiB at depth `depth` in the first `span` bytes.
pub fn random(drive: &mut impl Device, span: u64, read_pct: u64, depth: u32, ios: u64) -> Seen {
    random_blocks(drive, UNIT, span, read_pct, depth, ios)
}

/// The same with I/Os of `bytes`.
pub fn random_blocks(
    drive: &mut impl Device,
    bytes: u64,
    span: u64,
    read_pct: u64,
    depth: u32,
    ios: u64,
) -> Seen {
    let begin = drive.now();
    let mut due: InFlight = (0..depth).map(|slot| Reverse((begin, slot))).collect();
    let mut seen = Seen {
        ios: Vec::with_capacity(ios as usize),
    };
    let mut last = begin;
    for n in 0..ios {
        let Reverse((now, slot)) = due.pop().unwrap();
        let block = below(mix(begin, n), span / bytes);
        let read = mix(!begin, n) % 100 < read_pct;
        let op = if read { Op::Read } else { Op::Write };
        let done = drive.submit(now, op, block * bytes, bytes as u32);
        seen.ios.push((now, done));
        last = last.max(done);
        due.push(Reverse((done, slot)));
    }
    drive.wait_until(last);
    seen
}

/// Runs `reads` reads of 4 KiB at a fixed rate beside writes at another, both random in the first `span` bytes and independent
/// of the drive's progress. Returns what the reads saw.
pub fn beside_writes(
    drive: &mut impl Device,
    span: u64,
    reads_per_s: u32,
    writes_per_s: u32,
    reads: u64,
) -> Seen {
    let begin = drive.now();
    let mut seen = Seen { ios: Vec::new() };
    let write_every_ns = SECOND.checked_div(u64::from(writes_per_s));
    let mut next_write = write_every_ns.map_or(u64::MAX, |every| begin + every);
    let mut now = begin;
    for n in 0..reads {
        now += SECOND / u64::from(reads_per_s);
        while next_write <= now {
            let unit = below(mix(!begin, next_write), span / UNIT);
            drive.submit(next_write, Op::Write, unit * UNIT, UNIT as u32);
            next_write += write_every_ns.unwrap_or(0);
        }
        let unit = below(mix(begin, n), span / UNIT);
        let done = drive.submit(now, Op::Read, unit * UNIT, UNIT as u32);
        seen.ios.push((now, done));
    }
    seen
}

/// A number below `bound` from 64 random bits.
pub fn below(random: u64, bound: u64) -> u64 {
    ((u128::from(random) * u128::from(bound)) >> 64) as u64
}
