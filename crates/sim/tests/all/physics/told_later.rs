//! Commands whose completion depends on what the host does in the meantime.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use sim::drive::{Device, Drive};
use sim::ftl::{Ftl, Greedy};
use sim::profile::spec::DriveSpec;
use workload::Op;
use workload::random::mix;

use crate::drives::loops::below;
use crate::drives::{UNIT, tortured};
use crate::physics::{spec, with};

const DEPTH: u32 = 48;

/// When the drive reports the completion of a write.
#[derive(Clone, Copy, PartialEq)]
enum Told {
    AtOnce,
    Later,
}

/// Writes at depth `DEPTH`, the n-th to block `block(n)`. Returns submission and completion time of each.
fn writes(
    drive: &mut impl Device,
    bytes: u32,
    block: impl Fn(u64) -> u64,
    ios: u64,
    told: Told,
) -> Vec<(u64, u64)> {
    let begin = drive.now();
    let mut due: BinaryHeap<_> = (0..DEPTH).map(|slot| Reverse((begin, slot))).collect();
    let mut seen = Vec::new();
    let mut in_flight = BTreeMap::new();
    let mut n = 0;
    while n < ios || drive.waits() {
        let next = due.peek().filter(|_| n < ios);
        let next = next.map_or(u64::MAX - 1, |next: &Reverse<(u64, u32)>| next.0.0);
        drive.advance(next);
        let ended: Vec<_> = std::iter::from_fn(|| drive.ended()).collect();
        for (slot, done) in &ended {
            seen.push((in_flight[slot], *done));
            due.push(Reverse((*done, *slot)));
        }
        if !ended.is_empty() || n == ios {
            continue;
        }
        let Reverse((now, slot)) = due.pop().unwrap();
        let blocks = drive.user_bytes() / u64::from(bytes);
        let at = block(n) % blocks * u64::from(bytes);
        n += 1;
        let end = match told {
            Told::AtOnce => Some(drive.submit(now, Op::Write, at, bytes)),
            Told::Later => drive.issue(now, slot, Op::Write, at, bytes),
        };
        match end {
            Some(done) => {
                seen.push((now, done));
                due.push(Reverse((done, slot)));
            }
            None => {
                in_flight.insert(slot, now);
            }
        }
    }
    assert!(in_flight.is_empty() == (told == Told::AtOnce), "some wait");
    seen.sort_unstable();
    seen
}

fn mean_ns(of: &[(u64, u64)]) -> f64 {
    let latencies = of.iter().map(|(came, ended)| ended - came);
    latencies.sum::<u64>() as f64 / of.len() as f64
}

#[test]
fn where_nothing_is_read_ends_are_the_same_whenever_they_are_told() {
    let drive = tortured(&spec());
    let random = |n| mix(7, n);
    let in_order = |n| n;
    let told = |bytes, block: &dyn Fn(u64) -> u64| {
        [Told::AtOnce, Told::Later]
            .map(|told| writes(&mut drive.clone(), bytes, block, 40_000, told))
    };
    let [at_once, later] = told(UNIT as u32, &random);
    assert!(at_once == later);
    // Sequential parts meet in the buffer, so nothing is read for them.
    let [at_once, later] = told(512, &in_order);
    println!("{} {}", mean_ns(&at_once), mean_ns(&later));
    let same = at_once
        .iter()
        .zip(&later)
        .filter(|(one, other)| one == other);
    println!("{}", same.count());
    // The missing parts are read, and which of them have arrived at a given time differs.
    let [at_once, later] = told(1536, &random);
    let ratio = mean_ns(&later) / mean_ns(&at_once);
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
}

/// A drive whose buffer is so small that writes are not slowed down before it is full.
fn small_buffer() -> DriveSpec {
    with(|spec| {
        let word_lines = spec.geometry.dies() * spec.geometry.units_per_program();
        spec.buffer_bytes = u64::from(word_lines) * UNIT;
    })
}

/// Writes to a drive until a write waits. Returns its tag, and the time.
fn full(drive: &mut Drive<Ftl<Greedy>>) -> (u32, u64) {
    let at = drive.now();
    let units = drive.user_bytes() / UNIT;
    let write = |tag: &u32| {
        let unit = below(mix(1, u64::from(*tag)), units);
        drive
            .issue(at, *tag, Op::Write, unit * UNIT, UNIT as u32)
            .is_none()
    };
    let waits = (0..u32::MAX).find(write).unwrap();
    (waits, at)
}

/// Returns when the command with this tag completes if no other arrives.
fn end_of(drive: &mut Drive<Ftl<Greedy>>, tag: u32) -> u64 {
    loop {
        drive.advance(u64::MAX - 1);
        while let Some((other, end)) = drive.ended() {
            if other == tag {
                return end;
            }
        }
    }
}

/// Returns when each waiting command completes if no other arrives, in order.
fn ends(drive: &mut Drive<Ftl<Greedy>>) -> Vec<u64> {
    let mut ends = Vec::new();
    while drive.waits() {
        drive.advance(u64::MAX - 1);
        ends.extend(std::iter::from_fn(|| drive.ended()).map(|(_, end)| end));
    }
    ends
}

#[test]
fn what_is_read_meanwhile_puts_off_a_write_that_waits_for_room() {
    let mut drive = tortured(&small_buffer());
    let (first, at) = full(&mut drive);
    let waits = first + 100;
    for tag in first + 1..=waits {
        drive.issue(at, tag, Op::Write, 0, UNIT as u32);
    }
    let undisturbed = end_of(&mut drive.clone(), waits);
    // Every die gets more reads than it can serve.
    let units = drive.user_bytes() / UNIT;
    for n in 0..10_000 {
        let now = at + (undisturbed - at) * n / 10_000;
        let unit = below(mix(2, n), units);
        let end = drive.issue(now, waits + 1, Op::Read, unit * UNIT, UNIT as u32);
        assert!(end.is_some_and(|end| end > now));
    }
    let put_off = end_of(&mut drive, waits);
    assert!(put_off > undisturbed, "{put_off} and {undisturbed}");
}

#[test]
fn room_that_a_trim_makes_lets_nothing_in_before_it() {
    let mut drive = tortured(&small_buffer());
    let last = drive.user_bytes() - UNIT;
    // A sector that waits for the rest of its unit already has room in the buffer.
    let held = drive.submit(drive.now(), Op::Write, last, 512);
    drive.wait_until(held);
    let (waits, at) = full(&mut drive);
    let others = 200;
    for tag in waits + 1..waits + others {
        drive.issue(at, tag, Op::Write, 0, UNIT as u32);
    }
    let undisturbed = ends(&mut drive.clone());
    let waits_longest = (1..undisturbed.len()).max_by_key(|&n| undisturbed[n] - undisturbed[n - 1]);
    let first = waits_longest.unwrap();
    let trimmed = undisturbed[first - 1].midpoint(undisturbed[first]);
    drive.issue(trimmed, waits + others, Op::Trim, last, UNIT as u32);
    let ends = ends(&mut drive);
    assert_eq!(ends[..first], undisturbed[..first]);
    assert!((trimmed..undisturbed[first]).contains(&ends[first]));
}

#[test]
fn what_has_no_slot_waits_for_the_first_end() {
    let limit = 8;
    let mut drive = tortured(&with(|spec| spec.host.queue_limit = Some(limit)));
    let (waits, at) = full(&mut drive);
    for tag in waits + 1..waits + limit {
        let end = drive.issue(at, tag, Op::Write, 0, UNIT as u32);
        assert_eq!(end, None);
    }
    let read = waits + limit;
    assert_eq!(drive.issue(at, read, Op::Read, 0, UNIT as u32), None);
    let first = end_of(&mut drive.clone(), waits);
    let sensed_ns = spec().timing.read_ns[0];
    let read_ends = end_of(&mut drive, read);
    assert!(read_ends > first + sensed_ns, "{read_ends} and {first}");
    assert!(drive.waits());
}
