//! Writes of partial mapping units, and of mapping units larger than 4 KiB: the write buffer combines parts.

use std::ops::Range;

use crate::drive::model::Drive;
use crate::drive::parts::Held;
use crate::flash::{Flash, NONE, Piece};
use crate::ftl::{MappingCache, Translation};
use crate::profile::spec::{TrimRule, UNIT};

/// Returns the end of the 4 KiB that contain byte `at`, or the end of the write if that comes first.
fn piece_ends(at: u64, end: u64) -> u64 {
    (at / UNIT * UNIT + UNIT).min(end)
}

impl<T: Translation, M: MappingCache> Drive<T, M> {
    /// Writes the bytes `offset..end`. A core had processed the command at `processed`, and its data had crossed the link at
    /// `sent`. Returns when all of the data is in the buffer and a core has updated the map for the moves it caused.
    #[inline(never)]
    pub(crate) fn write_parts(&mut self, processed: u64, sent: u64, offset: u64, end: u64) -> u64 {
        let mut there = sent;
        let mut at = offset;
        while at < end {
            (at, there) = self.enter_piece(offset..end, at, there);
        }
        there.max(self.charge_moves(processed))
    }

    /// Enters the part of the write `all` that lies in the 4 KiB unit at `at`. Returns where that part ends, and when it is
    /// in the buffer.
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

    /// Returns the piece that enters first when [`enter_piece`](Self::enter_piece) is called.
    pub(crate) fn first_piece(&self, all: Range<u64>, at: u64) -> Piece {
        let unit = at / self.parts.unit_bytes();
        if self.parts.within(all.start, all.end).contains(&unit) {
            Piece::UNIT
        } else {
            self.parts.first_piece(at, piece_ends(at, all.end))
        }
    }

    /// Enters 4 KiB of a mapping unit that the write covers completely. Returns when they are in the buffer.
    fn enter_whole(&mut self, unit: u32, bytes: Range<u64>, ready: u64) -> u64 {
        let size = self.parts.unit_bytes();
        if bytes.start.is_multiple_of(size) && self.parts.is_busy() {
            self.forget(unit);
        }
        let mut there = self.admit_beside_rests(ready, Piece::UNIT);
        if bytes.end.is_multiple_of(size) || bytes.end == self.user_bytes {
            // The drive's last mapping unit may extend beyond the end of the drive; that excess takes buffer room too.
            for _ in bytes.end / UNIT..(u64::from(unit) + 1) * size / UNIT {
                there = self.admit_beside_rests(there, Piece::UNIT);
            }
            self.place_unit(unit, there);
        }
        there
    }

    /// Enters up to 4 KiB of a mapping unit that the write covers in part. Returns when they are in the buffer.
    fn enter_part(&mut self, unit: u32, bytes: Range<u64>, ready: u64) -> u64 {
        self.parts.counts.bytes += bytes.end - bytes.start;
        let (mut there, mut lacks) = (ready, 0);
        if let Some(oldest) = self.parts.makes_way_for(unit) {
            there = self.make_way(oldest, there);
            lacks = oldest.lacks();
        }
        let mut piece = self.parts.hold(bytes.start, bytes.end);
        // The unit that makes way is programmed whole, however little of it was written, so pacing counts the sectors that it
        // lacks.
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

    /// Forgets the parts of a mapping unit that are held or being completed, since all of the unit is overwritten or trimmed.
    pub(crate) fn forget(&mut self, unit: u32) {
        let room = self.parts.forget(Some(unit));
        self.machine.discard(room);
    }

    /// Completes a partly written unit for placement: reads what it lacks, or places it at once if flash holds no data of it.
    /// Returns when the buffer has room for all of it.
    fn make_way(&mut self, held: Held, ready: u64) -> u64 {
        let together = self.parts.together();
        let mut there = ready;
        for _ in held.touched()..together {
            there = self.admit_beside_rests(there, Piece::UNIT);
        }
        if let Some(rest) = self.parts.rest_of(held.unit) {
            // An earlier part of the unit is already being completed: the same read brings what this part lacks.
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

    /// Completes and places all partly written units, from `at` on. Returns when the last one was complete.
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

    /// Places the units whose missing data has arrived by `until`.
    #[cold]
    #[inline(never)]
    pub(crate) fn place_rests(&mut self, until: u64) {
        while self.place_first_rest(until).is_some() {}
    }

    /// Places the unit whose missing data arrives first, if that is by `until`. Returns when it arrived.
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

    /// Places a mapping unit that the host wrote in parts, and counts it.
    fn place_part(&mut self, unit: u32, at: u64) {
        self.parts.counts.units += u64::from(self.parts.together());
        self.place_unit(unit, at);
    }

    /// Places a mapping unit that is complete in the buffer at `at`; it first crosses the data path.
    fn place_unit(&mut self, unit: u32, at: u64) {
        let together = self.parts.together();
        let first = unit * together;
        self.machine.at = self.machine.path.pass(at, together);
        self.map_cache.change(first, &mut self.machine);
        self.ftl.write_together(first, &mut self.machine);
        self.map_cache.change_moved(&mut self.machine);
    }

    /// Admits a piece of at most 4 KiB to the buffer. Units whose missing data arrives before that are placed first, since
    /// their programs may free room.
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

    /// Trims the mapping units that lie wholly in the range; others keep their data. Returns when a core has processed the
    /// command.
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

    /// Whether a 4 KiB unit holds data, in the medium or in the buffer.
    pub fn holds(&self, unit: u64) -> bool {
        self.ftl.physical(unit as u32) != NONE
            || self.parts.has(unit as u32 / self.parts.together())
    }

    /// Whether the map has an entry for every unit.
    pub fn is_full(&self) -> bool {
        let units = (self.user_bytes / UNIT).next_multiple_of(self.parts.together().into());
        self.ftl.mapped() == units
    }
}
