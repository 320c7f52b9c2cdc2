//! Mapping units that the host has written only in part. The write buffer holds them until they are complete, or until what
//! they lack has been read from flash.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::flash::{Piece, Rest, SECTORS};
use crate::profile::spec::{DriveSpec, UNIT, UNIT_BYTES};

/// Granularity at which written parts are tracked, in bytes.
const SECTOR: u64 = 512;

/// A mapping unit that the host has written in part.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Held {
    pub(crate) unit: u32,
    /// One bit for each sector, set if the host has written it.
    sectors: u128,
}

/// Sectors in the bytes `from..until`, rounded up.
fn sectors(from: u64, until: u64) -> u32 {
    (until - from).div_ceil(SECTOR) as u32
}

impl Held {
    /// Whether any sector is written in the 4 KiB that contain `sector`.
    fn touches(self, sector: u64) -> bool {
        let first = sector / u64::from(SECTORS) * u64::from(SECTORS);
        self.sectors >> first & u128::from(u8::MAX) != 0
    }

    fn of_units(self, counts: impl Fn(u128) -> bool) -> u32 {
        let all = u128::from(u8::MAX);
        let each = (0..u128::BITS).step_by(SECTORS as usize);
        each.filter(|at| counts(self.sectors >> at & all)).count() as u32
    }

    /// Number of 4 KiB units with any written sector; each has room in the buffer.
    pub(crate) fn touched(self) -> u32 {
        self.of_units(|sectors| sectors != 0)
    }

    /// Sectors missing from the touched 4 KiB units; they are programmed along with the written ones.
    pub(crate) fn lacks(self) -> u32 {
        self.touched() * SECTORS - self.sectors.count_ones()
    }

    /// Number of 4 KiB units that are written completely.
    pub(crate) fn whole(self) -> u32 {
        self.of_units(|sectors| sectors == u128::from(u8::MAX))
    }
}

/// A mapping unit whose missing data is being read from flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Waiting {
    rest: Rest,
    unit: u32,
}

/// The mapping units that are written in part, and those whose missing data is being read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Parts {
    /// 4 KiB units per mapping unit.
    together: u32,
    /// Most units that `held` may have.
    contexts: usize,
    user_bytes: u64,
    /// The least recently written unit comes first.
    held: Vec<Held>,
    waiting: BinaryHeap<Reverse<Waiting>>,
    /// Bits of a write's ends that send it through this module; see [`concern`](Self::concern).
    mask: u64,
    pub(crate) counts: PartCounts,
}

/// Counts of partial writes since the last reset.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct PartCounts {
    /// 4 KiB units placed for mapping units that the host wrote in part.
    pub(crate) units: u64,
    /// Bytes that the host wrote into parts of mapping units.
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

    /// Whether a write must be handled here, and not as whole units. `ends` is its offset and its end, combined by OR. False
    /// only if both are multiples of 4 KiB, mapping units are 4 KiB, and no unit is written in part.
    #[inline]
    pub(crate) fn concern(&self, ends: u64) -> bool {
        ends & self.mask != 0
    }

    fn refresh(&mut self) {
        let plain = self.together == 1 && !self.is_busy();
        self.mask = if plain { UNIT - 1 } else { u64::MAX };
    }

    /// Whether any unit is held in part or waits for its missing data.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        !self.held.is_empty() || self.waits()
    }

    /// Whether missing data of any unit is being read.
    #[inline]
    pub(crate) fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// 4 KiB units per mapping unit.
    pub(crate) fn together(&self) -> u32 {
        self.together
    }

    /// Bytes per mapping unit.
    pub(crate) fn unit_bytes(&self) -> u64 {
        u64::from(self.together * UNIT_BYTES)
    }

    /// Returns the mapping units that lie wholly in the bytes `offset..end`. The drive's last mapping unit may extend beyond
    /// the end of the drive; it counts if the range reaches that end.
    pub(crate) fn within(&self, offset: u64, end: u64) -> Range<u64> {
        let size = self.unit_bytes();
        let last = if end == self.user_bytes {
            end.div_ceil(size)
        } else {
            end / size
        };
        offset.div_ceil(size)..last
    }

    /// Whether a mapping unit is held in part or waits for its missing data.
    pub(crate) fn has(&self, unit: u32) -> bool {
        self.held.iter().any(|held| held.unit == unit) || self.rest_of(unit).is_some()
    }

    /// Returns the pending read of a unit's missing data, if there is one.
    pub(crate) fn rest_of(&self, unit: u32) -> Option<Rest> {
        let mut waiting = self.waiting.iter();
        let found = waiting.find(|waiting| waiting.0.unit == unit)?;
        Some(found.0.rest)
    }

    /// Forgets one unit, or all if `unit` is `None`. Returns the 4 KiB units of buffer room that this frees.
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

    /// Takes out the least recently written unit if `unit` needs its context. `None` while a context is free, or if `unit` is
    /// held already.
    pub(crate) fn makes_way_for(&mut self, unit: u32) -> Option<Held> {
        let full = self.place_of(unit).is_none() && self.held.len() == self.contexts;
        full.then(|| self.take_oldest()).flatten()
    }

    /// Returns the piece that enters the buffer first when the host writes the bytes `from..until` of one 4 KiB unit. If the
    /// oldest mapping unit must make way and has untouched 4 KiB units, one of those enters first. Otherwise the written
    /// sectors enter, together with the sectors that a unit making way lacks.
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

    /// Takes out the least recently written unit.
    pub(crate) fn take_oldest(&mut self) -> Option<Held> {
        let oldest = (!self.held.is_empty()).then(|| self.held.remove(0));
        self.refresh();
        oldest
    }

    /// Records that the host writes the bytes `from..until`, which lie within one 4 KiB unit. Returns the piece that enters
    /// the buffer.
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

    /// Takes out the most recently written unit if all of it is written, apart from any part beyond the end of the drive.
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

    /// Records that the missing data of `unit` is being read as `rest`.
    pub(crate) fn wait_for(&mut self, unit: u32, rest: Rest) {
        self.waiting.push(Reverse(Waiting { rest, unit }));
        self.refresh();
    }

    /// Returns all pending reads of missing data, in any order.
    pub(crate) fn rests(&self) -> impl Iterator<Item = &Rest> {
        self.waiting.iter().map(|waiting| &waiting.0.rest)
    }

    /// Returns the pending read that ends first as far as is known: later host reads may still delay it.
    pub(crate) fn first_rest(&self) -> Option<Rest> {
        self.waiting.peek().map(|waiting| waiting.0.rest)
    }

    /// Moves the end of the first pending read to `there`, since host reads have delayed it.
    pub(crate) fn put_off(&mut self, there: u64) {
        if let Some(mut first) = self.waiting.peek_mut() {
            first.0.rest.there = there;
        }
    }

    /// Removes the first pending read, which has ended. Returns its unit.
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
            // All sectors of the first 4 KiB, two of the third, and the last one of all.
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
