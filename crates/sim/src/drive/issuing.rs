//! Issued commands: their ends may be reported later.
//!
//! Host reads go ahead of programs, so the time at which a program frees buffer room is certain only when it has come. The
//! end of an *issued* command may therefore be reported later. A *submitted* command returns its end at once, as if no
//! further command came.

use workload::Op;

use crate::drive::model::Drive;
use crate::drive::waiting::{AtDoor, Entering};
use crate::flash::Piece;
use crate::ftl::{MappingCache, Translation};
use crate::profile::spec::UNIT;

impl<T: Translation, M: MappingCache> Drive<T, M> {
    /// Submits a command as [`submit`](Self::submit) does. Returns `None` if its end depends on what the host does before
    /// then; [`ended`](Self::ended) reports that end later, with this `tag`.
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

    /// Whether any issued command's end has not been reported yet.
    #[inline]
    pub fn waits(&self) -> bool {
        self.waiting.has_unknown() || !self.waiting.ended.is_empty()
    }

    /// Takes the next pending command whose end has become known: its tag, and when it has ended or will end.
    pub fn ended(&mut self) -> Option<(u32, u64)> {
        self.waiting.next_ended()
    }

    /// Advances pending commands to `until`, or to the first end that becomes known if that is earlier. The caller must
    /// submit no command before that time.
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

    /// Advances pending commands to `until`, whichever of them end before.
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

    /// Lets the next piece enter the buffer, or takes the next queued command, if either happens by `until`. Returns whether
    /// one did.
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

    fn slot_at(&self) -> u64 {
        self.host.slot_at(self.waiting.entering())
    }

    /// Takes a command into the device. Returns its end, if that is known.
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

    /// As [`perform`](Self::perform), but out of line: `perform` is inlined into `submit`.
    #[inline(never)]
    fn perform_apart(&mut self, accepted: u64, op: Op, offset: u64, length: u32) -> u64 {
        self.perform(accepted, op, offset, length)
    }

    /// Whether a write of `length` bytes can enter the buffer without waiting for room.
    fn enters_as_it_comes(&mut self, length: u32) -> bool {
        // Each end of the write may make a partly written mapping unit give way, which then needs room for all of it.
        let units = length.div_ceil(UNIT as u32) + 1 + 2 * self.parts.together();
        self.waiting.entering.is_empty() && self.machine.has_room(self.clock, units)
    }

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

    /// Lets the next piece of the first waiting write enter the buffer, if it can by `until`. Returns whether it did.
    fn enter_first(&mut self, until: u64) -> bool {
        let Some(mut first) = self.waiting.entering.pop_front() else {
            return false;
        };
        let enters = self.first_enters(&mut first, until);
        if let Some(at) = enters {
            // A trim may have freed the room only now, so the piece enters no earlier than the drive's clock.
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

    /// Returns when the next piece of a write enters the buffer, if that is by `until`. Units whose missing data arrives
    /// before are placed, since their programs may free room.
    fn first_enters(&mut self, first: &mut Entering, until: u64) -> Option<u64> {
        loop {
            // Placing a unit below may change which parts are held, so the piece is determined anew.
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

    /// Lets the next piece of a write enter the buffer at `at`.
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

    /// Advances the drive to a pending event at `at`.
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
