//! Mapping units that are written in part, or that a drive has of more than 4 KiB: parts meet in the write buffer.

use std::ops::Range;

use crate::drive::model::Drive;
use crate::drive::parts::Held;
use crate::flash::{Flash, NONE, Piece};
use crate::ftl::{MappingCache, Translation};
use crate::profile::spec::{TrimRule, UNIT};

/// Where the 4 KiB end that a byte is in, or the write before it.
fn piece_ends(at: u64, end: u64) -> u64 {
    (at / UNIT * UNIT + UNIT).min(end)
}

impl<T: Translation, M: MappingCache> Drive<T, M> {
    /// A write whose data has crossed the link at `sent`; its core was free of it at `processed`. Returns when all of it is in the buffer
    /// and what was moved for it has been entered.
    #[inline(never)]
    pub(crate) fn write_parts(&mut self, processed: u64, sent: u64, offset: u64, end: u64) -> u64 {
        let mut there = sent;
        let mut at = offset;
        while at < end {
            (at, there) = self.enter_piece(offset..end, at, there);
        }
        there.max(self.charge_moves(processed))
    }

    /// What a write of these bytes has of 4 KiB, from `at` on. Returns where it ends, and when it is in the buffer.
    pub(crate) fn enter_piece(&mut self, all: Range<u64>, at: u64, ready: u64) -> (u64, u64) {
        let until = piece_ends(at, all.end);
        let unit = at / self.parts.unit_bytes();
        let there = if self.parts.within(all.start, all.end).contains(&unit) {
            self.enter_whole(unit as u32, at..until, ready)
        } else {
            self.enter_part(unit as u32, at..until, ready)
        };
        (until, there)
    }

    /// What enters first of what [`enter_piece`](Self::enter_piece) takes.
    pub(crate) fn first_piece(&self, all: Range<u64>, at: u64) -> Piece {
        let unit = at / self.parts.unit_bytes();
        if self.parts.within(all.start, all.end).contains(&unit) {
            Piece::UNIT
        } else {
            self.parts.first_piece(at, piece_ends(at, all.end))
        }
    }

    /// 4 KiB of a mapping unit that the write has all of.
    fn enter_whole(&mut self, unit: u32, bytes: Range<u64>, ready: u64) -> u64 {
        let size = self.parts.unit_bytes();
        if bytes.start.is_multiple_of(size) && self.parts.is_busy() {
            self.forget(unit);
        }
        let mut there = self.admit_beside_rests(ready, Piece::UNIT);
        if bytes.end.is_multiple_of(size) || bytes.end == self.user_bytes {
            // Of the last one some may lie behind the end of the drive.
            for _ in bytes.end / UNIT..(u64::from(unit) + 1) * size / UNIT {
                there = self.admit_beside_rests(there, Piece::UNIT);
            }
            self.place_unit(unit, there);
        }
        there
    }

    /// Up to 4 KiB of a mapping unit that the write has not all of.
    fn enter_part(&mut self, unit: u32, bytes: Range<u64>, ready: u64) -> u64 {
        self.parts.counts.bytes += bytes.end - bytes.start;
        let (mut there, mut lacks) = (ready, 0);
        if let Some(oldest) = self.parts.makes_way_for(unit) {
            there = self.make_way(oldest, there);
            lacks = oldest.lacks();
        }
        let mut piece = self.parts.hold(bytes.start, bytes.end);
        // What makes way is programmed whole, whatever was written of it: the buffer's pace is that of whole units.
        piece.sectors += lacks;
        there = self.admit_beside_rests(there, piece);
        if let Some(whole) = self.parts.take_whole() {
            for _ in whole.touched()..self.parts.together() {
                there = self.admit_beside_rests(there, Piece::UNIT);
            }
            self.forget(unit);
            self.place_part(whole.unit, there);
        }
        there
    }

    /// What is held of a unit, or being completed, is overwritten.
    pub(crate) fn forget(&mut self, unit: u32) {
        let room = self.parts.forget(Some(unit));
        self.machine.discard(room);
    }

    /// A unit that is held in part is to be placed: what it lacks is read, if there is anything. Returns when there is room for it.
    fn make_way(&mut self, held: Held, ready: u64) -> u64 {
        let together = self.parts.together();
        let mut there = ready;
        for _ in held.touched()..together {
            there = self.admit_beside_rests(there, Piece::UNIT);
        }
        if let Some(rest) = self.parts.rest_of(held.unit) {
            // An earlier part of it is being completed: there is the rest.
            self.parts.wait_for(held.unit, rest);
            return there;
        }
        let first = held.unit * together;
        let physical = self.ftl.physical(first);
        if physical == NONE {
            self.place_part(held.unit, there);
            return there;
        }
        self.machine.at = self.map_cache.look_up(first, there, &mut self.machine);
        let place = self.machine.place(physical);
        let rest = self.machine.read_rest(place, together - held.whole());
        self.parts.wait_for(held.unit, rest);
        there
    }

    /// Places all that is held in part, from `at` on. Returns when the last of it was whole.
    #[inline(never)]
    pub(crate) fn place_all_parts(&mut self, at: u64) -> u64 {
        let mut there = at;
        while let Some(oldest) = self.parts.take_oldest() {
            there = self.make_way(oldest, there);
        }
        while let Some(whole) = self.place_first_rest(u64::MAX) {
            there = there.max(whole);
        }
        there
    }

    /// Places the units whose rests are there by `until`.
    #[cold]
    #[inline(never)]
    pub(crate) fn place_rests(&mut self, until: u64) {
        while self.place_first_rest(until).is_some() {}
    }

    /// Places the unit whose rest is there first, if it is by `until`. Returns when that was.
    pub(crate) fn place_first_rest(&mut self, until: u64) -> Option<u64> {
        loop {
            let rest = self.parts.first_rest().filter(|rest| rest.there <= until)?;
            let there = self.machine.rest_there(&rest);
            if there > rest.there {
                self.parts.put_off(there);
                continue;
            }
            let unit = self.parts.take_read()?;
            self.place_part(unit, there);
            return Some(there);
        }
    }

    /// Places a mapping unit that the host wrote in parts.
    fn place_part(&mut self, unit: u32, at: u64) {
        self.parts.counts.units += u64::from(self.parts.together());
        self.place_unit(unit, at);
    }

    /// Places a mapping unit that is whole in the buffer at `at`, when it has passed the data path.
    fn place_unit(&mut self, unit: u32, at: u64) {
        let together = self.parts.together();
        let first = unit * together;
        self.machine.at = self.machine.path.pass(at, together);
        self.map_cache.change(first, &mut self.machine);
        self.ftl.write_together(first, &mut self.machine);
        self.map_cache.change_moved(&mut self.machine);
    }

    /// Takes 4 KiB or less into the buffer. Units whose rests are there before it are placed before it: programs may make room then.
    fn admit_beside_rests(&mut self, ready: u64, piece: Piece) -> u64 {
        if !self.parts.waits() {
            return self.machine.admit_piece(ready, piece);
        }
        self.place_rests(ready);
        if piece.takes_room {
            while let Some(room_at) = self.machine.room_at(ready)
                && self.place_first_rest(room_at).is_some()
            {}
        }
        let there = self.machine.admit_piece(ready, piece);
        self.place_rests(there);
        there
    }

    /// Only whole mapping units are forgotten.
    #[inline(never)]
    pub(crate) fn trim(&mut self, accepted: u64, offset: u64, length: u32) -> u64 {
        let processed = self.host.process(accepted, true);
        let end = offset + u64::from(length);
        if self.trim_rule == TrimRule::Ignored {
            return processed;
        }
        self.machine.at = processed;
        let together = self.parts.together();
        for unit in self.parts.within(offset, end) {
            if self.parts.is_busy() {
                self.forget(unit as u32);
            }
            let first = unit as u32 * together;
            let mut held = false;
            for unit in first..first + together {
                held |= self.ftl.trim(unit, &mut self.machine);
            }
            if held {
                self.map_cache.change(first, &mut self.machine);
            }
        }
        processed
    }

    /// Whether a unit of 4 KiB holds data, in the medium or in the buffer.
    pub fn holds(&self, unit: u64) -> bool {
        self.ftl.physical(unit as u32) != NONE
            || self.parts.has(unit as u32 / self.parts.together())
    }

    /// Whether all units do.
    pub fn is_full(&self) -> bool {
        let units = (self.user_bytes / UNIT).next_multiple_of(self.parts.together().into());
        self.ftl.mapped() == units
    }
}
