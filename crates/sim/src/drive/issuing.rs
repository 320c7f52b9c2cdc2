//! Commands that are issued: their ends may be told later.
//!
//! What is read goes before programs, so when one will make room is known when that time has come. A command that is *issued* may
//! therefore have its end told later; one that is submitted has it told at once, as if nothing more came.

use workload::Op;

use crate::drive::model::Drive;
use crate::drive::waiting::{AtDoor, Entering};
use crate::flash::Piece;
use crate::ftl::{MappingCache, Translation};
use crate::profile::spec::UNIT;

impl<T: Translation, M: MappingCache> Drive<T, M> {
    /// As [`submit`](Self::submit), but where the end hangs on what the host does until then it is told later, by
    /// [`ended`](Self::ended) with this tag.
    ///
    /// # Panics
    /// As `submit` does.
    #[inline(never)]
    pub fn issue(&mut self, now: u64, tag: u32, op: Op, offset: u64, length: u32) -> Option<u64> {
        self.begin(now);
        if self.waiting.has_unknown() && (!self.waiting.at_door.is_empty() || self.slot_at() > now)
        {
            self.waiting.at_door.push_back(AtDoor {
                tag,
                op,
                offset,
                length,
            });
            return None;
        }
        self.take(now, tag, op, offset, length)
    }

    /// Whether there are commands whose ends were not told.
    #[inline]
    pub fn waits(&self) -> bool {
        self.waiting.has_unknown() || !self.waiting.ended.is_empty()
    }

    /// The next command that has ended, or will, and when, of those whose ends were not told.
    pub fn ended(&mut self) -> Option<(u32, u64)> {
        self.waiting.next_ended()
    }

    /// Lets time pass for what waits, until then or until the first end that becomes known, whichever is earlier: no command
    /// comes before.
    pub fn advance(&mut self, until: u64) {
        let known = self.waiting.ended.iter().map(|&(_, end)| end);
        let mut until = known.fold(until, u64::min);
        let mut told = self.waiting.ended.len();
        while self.step(until) {
            if let Some(&(_, end)) = self.waiting.ended.get(told) {
                (until, told) = (until.min(end), told + 1);
            }
            debug_assert!(self.clock <= until, "the host may still do something then");
        }
    }

    /// Lets time pass for what waits until then, whatever ends before.
    #[cold]
    pub(crate) fn catch_up(&mut self, until: u64) {
        while self.step(until) {}
        if self.waiting.has_unknown() {
            self.idle_from = self.idle_from.max(until);
            if self.saves_power {
                self.machine.works_until(until);
            }
        }
    }

    /// The next unit enters or the next command is taken, if that is by `until`. Returns whether one was.
    fn step(&mut self, until: u64) -> bool {
        let slot_at = if self.waiting.at_door.is_empty() {
            u64::MAX
        } else {
            self.slot_at().max(self.clock)
        };
        let takes = slot_at <= until && slot_at != u64::MAX;
        let entered = self.enter_first(until.min(slot_at));
        if !entered && takes {
            self.take_first(slot_at);
        }
        entered || takes
    }

    /// When there is a slot for the next command, as far as is known.
    fn slot_at(&self) -> u64 {
        self.host.slot_at(self.waiting.entering())
    }

    /// The device takes a command. Returns its end, if that is known.
    #[inline]
    fn take(&mut self, now: u64, tag: u32, op: Op, offset: u64, length: u32) -> Option<u64> {
        let accepted = self.charged(now, op, length);
        if op != Op::Write || self.write_through || self.enters_as_it_comes(length) {
            return Some(self.perform_apart(accepted, op, offset, length));
        }
        let [_, ready] = self.arrives(accepted, length);
        self.waiting.entering.push_back(Entering {
            tag,
            ready,
            paced: None,
            offset,
            at: offset,
            end: offset + u64::from(length),
            moved: 0,
        });
        None
    }

    /// As [`perform`](Self::perform), which is where `submit` is.
    #[inline(never)]
    fn perform_apart(&mut self, accepted: u64, op: Op, offset: u64, length: u32) -> u64 {
        self.perform(accepted, op, offset, length)
    }

    /// Whether nothing in the buffer holds up a write of so many bytes.
    fn enters_as_it_comes(&mut self, length: u32) -> bool {
        // Both its ends may make others way.
        let units = length.div_ceil(UNIT as u32) + 1 + 2 * self.parts.together();
        self.waiting.entering.is_empty() && self.machine.has_room(self.clock, units)
    }

    /// The first command at the door is taken.
    fn take_first(&mut self, at: u64) {
        let Some(AtDoor {
            tag,
            op,
            offset,
            length,
        }) = self.waiting.at_door.pop_front()
        else {
            return;
        };
        self.happens_at(at);
        if let Some(end) = self.take(at, tag, op, offset, length) {
            self.waiting.ended.push_back((tag, end));
        }
    }

    /// The first unit that waits enters, if it may by `until`. Returns whether it did.
    fn enter_first(&mut self, until: u64) -> bool {
        let Some(mut first) = self.waiting.entering.pop_front() else {
            return false;
        };
        let enters = self.first_enters(&mut first, until);
        if let Some(at) = enters {
            // What a trim forgets makes room at once, whenever the first could have entered before.
            let at = at.max(self.clock);
            self.happens_at(at);
            self.enter_next(&mut first, at);
            if first.at >= first.end {
                let end = first.ready.max(first.moved) + self.host.command_half_ns();
                self.completes(end);
                self.waiting.ended.push_back((first.tag, end));
                return true;
            }
        }
        self.waiting.entering.push_front(first);
        enters.is_some()
    }

    /// When the next unit of a write enters, if that is by `until`. Rests that are there before it may make room.
    fn first_enters(&mut self, first: &mut Entering, until: u64) -> Option<u64> {
        loop {
            // What is placed meanwhile may leave other parts held.
            let piece = if self.parts.concern(first.offset | first.end) {
                self.first_piece(first.offset..first.end, first.at)
            } else {
                Piece::UNIT
            };
            let ready = first.ready;
            let enters = self.machine.enters(ready, piece, until, &mut first.paced);
            if let Ok(at) = enters {
                return Some(at);
            }
            self.place_first_rest(until)?;
        }
    }

    /// The next unit of a write enters at `at`.
    fn enter_next(&mut self, write: &mut Entering, at: u64) {
        write.paced = None;
        if self.parts.concern(write.offset | write.end) {
            let all = write.offset..write.end;
            (write.at, write.ready) = self.enter_piece(all, write.at, at);
            write.moved = write.moved.max(self.charge_moves(at));
            return;
        }
        self.machine.buffer.enter(at);
        let moved = self.place((write.at / UNIT) as u32, at, at);
        write.moved = write.moved.max(moved);
        (write.at, write.ready) = (write.at + UNIT, at);
    }

    /// Something that waited happens at `at`.
    fn happens_at(&mut self, at: u64) {
        let at = at.max(self.clock);
        self.idle_from = self.idle_from.max(at);
        if self.parts.waits() {
            self.place_rests(at);
        }
        self.idle_from = at.saturating_add(self.idle_after_ns);
        self.clock = at;
        self.machine.begin(at);
    }
}
