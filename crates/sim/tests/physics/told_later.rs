//! Commands whose ends hang on what the host does until then.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use sim::drive::{Device, Drive};
use sim::ftl::{Ftl, Greedy};
use workload::Op;
use workload::random::mix;

use crate::drives::loops::{below, random};
use crate::drives::{UNIT, tortured};
use crate::{spec, with};

const DEPTH: u32 = 48;

/// Writes of 4 KiB at random places, so many in flight and each end told when it is known: when each came and ended.
fn random_writes(drive: &mut impl Device, span: u64, ios: u64) -> Vec<(u64, u64)> {
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
        let unit = below(mix(begin, n), span / UNIT);
        n += 1;
        match drive.issue(now, slot, Op::Write, unit * UNIT, UNIT as u32) {
            Some(done) => {
                seen.push((now, done));
                due.push(Reverse((done, slot)));
            }
            None => {
                in_flight.insert(slot, now);
            }
        }
    }
    assert!(!in_flight.is_empty(), "some wait");
    seen
}

#[test]
fn where_nothing_is_read_ends_are_the_same_whenever_they_are_told() {
    let spec = spec();
    let ios = 40_000;
    let mut drive = tortured(&spec);
    let mut at_once = random(&mut drive.clone(), spec.user_bytes, 0, DEPTH, ios).ios;
    let mut later = random_writes(&mut drive, spec.user_bytes, ios);
    at_once.sort_unstable();
    later.sort_unstable();
    assert!(at_once == later);
}

/// A drive that was written to until a write waits: its tag, and the time.
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

/// When the command of this tag ends if no other comes.
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

#[test]
fn what_is_read_meanwhile_puts_off_a_write_that_waits() {
    let mut drive = tortured(&spec());
    let (waits, at) = full(&mut drive);
    let undisturbed = end_of(&mut drive.clone(), waits);
    // Every die is asked for more than it can read.
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
