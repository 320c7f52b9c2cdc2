//! Host reads: from flash, or from data that was read ahead.

use crate::drive::model::Drive;
use crate::drive::read_ahead::{Piece, Stream};
use crate::flash::NONE;
use crate::ftl::{MappingCache, Translation};
use crate::profile::spec::UNIT;

impl<T: Translation, M: MappingCache> Drive<T, M> {
    #[inline]
    pub(crate) fn read(&mut self, accepted: u64, offset: u64, length: u32) -> u64 {
        let processed = self.process(accepted, false);
        let ready = self.host.turn_around(self.clock, processed);
        let end = offset + u64::from(length);
        if self.read_ahead.is_some() {
            return self.read_in_stream(ready, offset, end);
        }
        self.read_from_flash(ready, offset, end)
    }

    /// Reads the bytes `offset..end`. Returns when all of them have crossed the link.
    #[inline]
    fn read_from_flash(&mut self, ready: u64, offset: u64, end: u64) -> u64 {
        let mut unit = offset / UNIT;
        let mut done = ready;
        while unit * UNIT < end {
            let first = unit;
            let there;
            (unit, there) = self.fetch(unit, end.div_ceil(UNIT), ready);
            let bytes = (unit * UNIT).min(end) - (first * UNIT).max(offset);
            done = done.max(self.receive(there, bytes));
        }
        done
    }

    /// Sends bytes over the data path and the link together, from `there` on or once the link is free. Returns when they have
    /// crossed.
    #[inline]
    fn receive(&mut self, there: u64, bytes: u64) -> u64 {
        let done = self.host.receive(self.clock, there, bytes);
        let takes_ns = self.host.link_ns(bytes);
        self.machine.path.read(self.clock, done, takes_ns);
        done
    }

    /// Reads unit `first` into the controller, together with the units after it and before `end` that the same array read
    /// brings. Returns the unit after the last of these, and when all are in the controller.
    #[inline]
    fn fetch(&mut self, first: u64, end: u64, ready: u64) -> (u64, u64) {
        let physical = self.ftl.physical(first as u32);
        let asked = ready;
        let ready = self
            .map_cache
            .look_up(first as u32, ready, &mut self.machine);
        let mut unit = first + 1;
        if physical == NONE {
            return (unit, ready);
        }
        let place = self.machine.place(physical);
        while unit < end && self.shares_array_read(unit as u32, place.array_read) {
            unit += 1;
        }
        let units = (unit - first) as u32;
        if ready > asked {
            return (unit, self.machine.read_later(place, units, ready));
        }
        (unit, self.machine.read(place, units, ready))
    }

    /// Reads on a drive with read-ahead.
    #[inline(never)]
    fn read_in_stream(&mut self, ready: u64, offset: u64, end: u64) -> u64 {
        let Some(ahead) = &mut self.read_ahead else {
            return ready;
        };
        let Some(place) = ahead.find(offset) else {
            ahead.begin(end);
            return self.read_from_flash(ready, offset, end);
        };
        let mut stream = ahead.take(place);
        let (mut at, mut done) = (offset, ready);
        while at < end
            && let Some(piece) = stream.fetched(at / UNIT, end.div_ceil(UNIT))
        {
            let until = (piece.end * UNIT).min(end);
            let there = piece.there.max(ready);
            done = done.max(self.receive(there, until - at));
            at = until;
        }
        if at < end {
            done = done.max(self.read_from_flash(ready, at, end));
        }
        stream.goes_on(end);
        self.fetch_ahead(place, stream, ready);
        done
    }

    /// Fetches what a stream will need next, then puts the stream back in its place.
    fn fetch_ahead(&mut self, place: usize, mut stream: Stream, ready: u64) {
        let Some(ahead) = &self.read_ahead else {
            return;
        };
        let wanted = ahead.wanted(&stream, self.user_bytes / UNIT);
        let mut unit = wanted.start;
        while unit < wanted.end {
            let there;
            (unit, there) = self.fetch(unit, wanted.end, ready);
            stream.put(Piece { end: unit, there });
        }
        if let Some(ahead) = &mut self.read_ahead {
            ahead.put_back(place, stream);
        }
    }

    #[inline]
    fn shares_array_read(&self, unit: u32, array_read: u32) -> bool {
        let physical = self.ftl.physical(unit);
        physical != NONE && self.machine.place(physical).array_read == array_read
    }
}
