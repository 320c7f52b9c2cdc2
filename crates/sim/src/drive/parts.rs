//! Mapping units that the host has written in part: held in the write buffer until they are whole, or until the rest has been read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::flash::{Piece, Rest, SECTORS};
use crate::profile::spec::{DriveSpec, UNIT, UNIT_BYTES};

/// What is known to be written of a unit is counted in these.
const SECTOR: u64 = 512;

/// A unit that the host has written in part.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Held {
    pub(crate) unit: u32,
    /// A bit for each sector that was written.
    sectors: u128,
}

/// Of the bytes from one to before another.
fn sectors(from: u64, until: u64) -> u32 {
    (until - from).div_ceil(SECTOR) as u32
}

impl Held {
    /// Whether it holds anything of the 4 KiB that this sector is in.
    fn touches(self, sector: u64) -> bool {
        let first = sector / u64::from(SECTORS) * u64::from(SECTORS);
        self.sectors >> first & u128::from(u8::MAX) != 0
    }

    fn of_units(self, counts: impl Fn(u128) -> bool) -> u32 {
        let all = u128::from(u8::MAX);
        let each = (0..u128::BITS).step_by(SECTORS as usize);
        each.filter(|at| counts(self.sectors >> at & all)).count() as u32
    }

    /// 4 KiB of which it holds anything: they have room in the buffer.
    pub(crate) fn touched(self) -> u32 {
        self.of_units(|sectors| sectors != 0)
    }

    /// Sectors that these lack: they are programmed with what was written.
    pub(crate) fn lacks(self) -> u32 {
        self.touched() * SECTORS - self.sectors.count_ones()
    }

    /// 4 KiB that it holds whole.
    pub(crate) fn whole(self) -> u32 {
        self.of_units(|sectors| sectors == u128::from(u8::MAX))
    }
}

/// A unit whose rest is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Waiting {
    rest: Rest,
    unit: u32,
}

/// The mapping units that are written in part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Parts {
    /// Units of 4 KiB in a mapping unit.
    together: u32,
    contexts: usize,
    user_bytes: u64,
    /// The one written longest ago first.
    held: Vec<Held>,
    waiting: BinaryHeap<Reverse<Waiting>>,
    /// Ends of a write that meet it concern these; see [`concern`](Self::concern).
    mask: u64,
    pub(crate) counts: PartCounts,
}

/// What came in parts since the last reset.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct PartCounts {
    /// Units of 4 KiB that were placed, of mapping units that the host wrote in part.
    pub(crate) units: u64,
    /// Bytes that the host wrote of them.
    pub(crate) bytes: u64,
}

impl Parts {
    pub(crate) fn new(spec: &DriveSpec) -> Self {
        let mut parts = Self {
            together: spec.options.units_together(),
            contexts: spec.options.contexts() as usize,
            user_bytes: spec.user_bytes,
            held: Vec::new(),
            waiting: BinaryHeap::new(),
            mask: 0,
            counts: PartCounts::default(),
        };
        parts.refresh();
        parts
    }

    /// Whether a write with these ends (both in one number) is one of whole units of 4 KiB, and nothing else need be looked at.
    #[inline]
    pub(crate) fn concern(&self, ends: u64) -> bool {
        ends & self.mask != 0
    }

    fn refresh(&mut self) {
        let plain = self.together == 1 && !self.is_busy();
        self.mask = if plain { UNIT - 1 } else { u64::MAX };
    }

    /// Whether any unit is written in part.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        !self.held.is_empty() || self.waits()
    }

    /// Whether the rest of any is being read.
    #[inline]
    pub(crate) fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Units of 4 KiB in a mapping unit.
    pub(crate) fn together(&self) -> u32 {
        self.together
    }

    /// Bytes of a mapping unit.
    pub(crate) fn unit_bytes(&self) -> u64 {
        u64::from(self.together * UNIT_BYTES)
    }

    /// Mapping units that lie wholly in a range of bytes. The last one may go on behind the end of the drive.
    pub(crate) fn within(&self, offset: u64, end: u64) -> Range<u64> {
        let size = self.unit_bytes();
        let last = if end == self.user_bytes {
            end.div_ceil(size)
        } else {
            end / size
        };
        offset.div_ceil(size)..last
    }

    /// Whether a mapping unit is written in part.
    pub(crate) fn has(&self, unit: u32) -> bool {
        self.held.iter().any(|held| held.unit == unit) || self.rest_of(unit).is_some()
    }

    /// The rest of a unit, if it is being read.
    pub(crate) fn rest_of(&self, unit: u32) -> Option<Rest> {
        let mut waiting = self.waiting.iter();
        let found = waiting.find(|waiting| waiting.0.unit == unit)?;
        Some(found.0.rest)
    }

    /// Forgets a unit, or all. Returns the units of 4 KiB that it has room for in the buffer.
    pub(crate) fn forget(&mut self, unit: Option<u32>) -> u32 {
        let forgotten = |other: u32| unit.is_none_or(|unit| unit == other);
        let mut room = 0;
        self.held.retain(|held| {
            let goes = forgotten(held.unit);
            room += if goes { held.touched() } else { 0 };
            !goes
        });
        let before = self.waiting.len();
        self.waiting.retain(|waiting| !forgotten(waiting.0.unit));
        room += (before - self.waiting.len()) as u32 * self.together;
        self.refresh();
        room
    }

    /// The one that must make way before another is held: none while there is room for it, or if it is held already.
    pub(crate) fn makes_way_for(&mut self, unit: u32) -> Option<Held> {
        let full = self.place_of(unit).is_none() && self.held.len() == self.contexts;
        full.then(|| self.take_oldest()).flatten()
    }

    /// What enters the buffer first when sectors of 4 KiB are written, from one byte of the drive to before another: of a unit that must
    /// make way the 4 KiB that it has nothing of, else these, with what the others lack.
    pub(crate) fn first_piece(&self, from: u64, until: u64) -> Piece {
        let size = self.unit_bytes();
        let Some(at) = self.place_of((from / size) as u32) else {
            let oldest = self.held.first();
            let makes_way = oldest.filter(|_| self.held.len() == self.contexts);
            return if makes_way.is_some_and(|oldest| oldest.touched() < self.together) {
                Piece::UNIT
            } else {
                Piece {
                    sectors: sectors(from, until) + makes_way.map_or(0, |oldest| oldest.lacks()),
                    takes_room: true,
                }
            };
        };
        Piece {
            sectors: sectors(from, until),
            takes_room: !self.held[at].touches(from % size / SECTOR),
        }
    }

    fn place_of(&self, unit: u32) -> Option<usize> {
        self.held.iter().position(|held| held.unit == unit)
    }

    /// Takes the one that was written longest ago.
    pub(crate) fn take_oldest(&mut self) -> Option<Held> {
        let oldest = (!self.held.is_empty()).then(|| self.held.remove(0));
        self.refresh();
        oldest
    }

    /// Sectors of 4 KiB are written, from one byte of the drive to before another. Returns what enters the buffer.
    pub(crate) fn hold(&mut self, from: u64, until: u64) -> Piece {
        let size = self.unit_bytes();
        let unit = (from / size) as u32;
        let at = self.place_of(unit);
        let mut held = at.map_or(Held { unit, sectors: 0 }, |at| self.held.remove(at));
        let first = from % size / SECTOR;
        let piece = Piece {
            sectors: sectors(from, until),
            takes_room: !held.touches(first),
        };
        held.sectors |= ((1 << piece.sectors) - 1) << first;
        self.held.push(held);
        self.refresh();
        piece
    }

    /// Takes the one written last if all of it that lies on the drive is there.
    pub(crate) fn take_whole(&mut self) -> Option<Held> {
        let size = self.unit_bytes();
        let whole = self.held.pop_if(|held| {
            let left = self.user_bytes - u64::from(held.unit) * size;
            let sectors = left.min(size) / SECTOR;
            u64::from(held.sectors.count_ones()) == sectors
        });
        self.refresh();
        whole
    }

    /// The rest of a unit is being read.
    pub(crate) fn wait_for(&mut self, unit: u32, rest: Rest) {
        self.waiting.push(Reverse(Waiting { rest, unit }));
        self.refresh();
    }

    /// The rests that are being read, in any order.
    pub(crate) fn rests(&self) -> impl Iterator<Item = &Rest> {
        self.waiting.iter().map(|waiting| &waiting.0.rest)
    }

    /// The first rest to be there, as far as is known.
    pub(crate) fn first_rest(&self) -> Option<Rest> {
        self.waiting.peek().map(|waiting| waiting.0.rest)
    }

    /// The first rest is there later than was known.
    pub(crate) fn put_off(&mut self, there: u64) {
        if let Some(mut first) = self.waiting.peek_mut() {
            first.0.rest.there = there;
        }
    }

    /// The first rest is there. Returns its unit.
    pub(crate) fn take_read(&mut self) -> Option<u32> {
        let unit = self.waiting.pop().map(|waiting| waiting.0.unit);
        self.refresh();
        unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_unit_lacks_the_sectors_of_what_it_touches_alone() {
        for (written, touched, lacks, whole) in [
            (vec![], 0, 0, 0),
            (vec![3], 1, 7, 0),
            // All of the first 4 KiB, two sectors of the third, one of the last.
            ((0..8).chain([16, 23, 127]).collect(), 3, 6 + 7, 1),
            ((0..128).collect(), 16, 0, 16),
        ] {
            let sectors = written.iter().fold(0, |all, at| all | 1_u128 << at);
            let held = Held { unit: 0, sectors };
            let found = (held.touched(), held.lacks(), held.whole());
            assert_eq!(found, (touched, lacks, whole), "{written:?}");
        }
    }
}
