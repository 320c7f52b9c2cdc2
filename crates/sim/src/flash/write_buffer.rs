//! The write buffer: host data that is not in flash yet.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use serde::{Deserialize, Serialize};

use crate::flash::behind::Behind;
use crate::flash::data_path::Passing;

/// Sectors of 512 bytes in a unit.
pub(crate) const SECTORS: u32 = 8;

/// Data that enters at once: a unit or a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Sectors of 512 bytes that it adds to those programmed: its own, and those that a unit lacks which makes way for it.
    pub sectors: u32,
    /// Whether its unit occupies no room in the buffer yet, so that this piece takes it.
    pub takes_room: bool,
}

impl Piece {
    /// A whole unit that is not in the buffer yet.
    pub const UNIT: Self = Self {
        sectors: SECTORS,
        takes_room: true,
    };
}

/// A program that holds units of the buffer until it ends.
///
/// Reads go before programs, so the end is not known when the program is queued. It follows from the program's work
/// on die and channel, and from its data on the data path, with the delays by reads so far. `end` is the end as known
/// at the last look; the true end is never earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Program {
    /// End as known at the last look.
    pub end: u64,
    /// Host units that it holds.
    pub units: u32,
    /// Its work on the die and its transfer on the channel.
    pub work: Behind,
    /// Its data on the data path, where reads may still delay it.
    pub data: Passing,
    /// Time from when its data has passed to its end, in ns.
    pub after_data_ns: u64,
}

/// A bounded first-in, first-out buffer of units. A unit waits for room, and later units wait behind it. A unit
/// leaves when the program that holds it ends.
///
/// A program frees a whole word line at once. If the buffer ran full before units had to wait, some writes would wait
/// for a program and the others not at all. So it slows the host before it is full, as drives do: above half, and
/// above what keeps all dies busy, units enter at a distance. Firmware does not know when a program will end, so it
/// goes by the fill level, in twelve steps that each double the distance.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WriteBuffer {
    capacity: u32,
    used: u32,
    /// Fill level above which the host is slowed.
    slow_from: u32,
    /// When the last unit entered; the next one enters no earlier.
    last_in: u64,
    running: BinaryHeap<Reverse<Program>>,
    /// Program time per unit, in ns, if all dies program and do nothing else.
    unit_program_ns: u64,
}

/// Steps that slow the host: from twice the program rate of all dies down to a thousandth of it.
const LEVELS: u32 = 12;

impl WriteBuffer {
    /// Creates a buffer of `capacity` units, of which `in_programs` keep all dies busy. A unit takes
    /// `unit_program_ns` if all dies program and do nothing else.
    pub fn new(capacity: u32, in_programs: u32, unit_program_ns: u64) -> Self {
        Self {
            capacity,
            used: 0,
            slow_from: in_programs.max(capacity / 2).min(capacity),
            last_in: 0,
            running: BinaryHeap::new(),
            unit_program_ns,
        }
    }

    /// Takes a unit that is ready at `ready`, behind earlier ones and as soon as programs have made room. Returns
    /// when it has entered. `end` gives the end of a program as known so far.
    ///
    /// # Panics
    /// If the buffer is smaller than the open word lines. A checked profile excludes that.
    #[inline]
    pub fn admit(&mut self, ready: u64, end: impl Fn(&Program) -> u64) -> u64 {
        let mut at = ready.max(self.last_in);
        self.settle(at, &end);
        at = self.paced(at, SECTORS);
        at = self.wait_for_room(at, &end);
        self.enter(at);
        at
    }

    #[inline]
    fn wait_for_room(&mut self, from: u64, end: impl Fn(&Program) -> u64) -> u64 {
        let mut at = from;
        while self.used >= self.capacity {
            let Reverse(next) = self
                .running
                .peek()
                .expect("the buffer is larger than the open word lines: the profile was checked");
            at = at.max(next.end);
            self.settle(at, &end);
        }
        at
    }

    /// Returns when a piece that is ready at `ready` enters, behind earlier ones, if that is by `until`. All delays
    /// of programs up to that time must be known. `paced` keeps the time from which the pacing admits the piece.
    ///
    /// # Errors
    /// If the piece does not enter by `until`: a later time, before which it does not enter either.
    pub fn enters(
        &mut self,
        ready: u64,
        piece: Piece,
        until: u64,
        paced: &mut Option<u64>,
        end: impl Fn(&Program) -> u64,
    ) -> Result<u64, u64> {
        let mut at = if let Some(at) = *paced {
            at
        } else {
            let at = ready.max(self.last_in);
            if at > until {
                return Err(at);
            }
            self.settle(at, &end);
            *paced.insert(self.paced(at, piece.sectors))
        };
        if at > until {
            return Err(at);
        }
        self.settle(at, &end);
        while piece.takes_room && self.used >= self.capacity {
            let next = self.running.peek().map_or(u64::MAX, |next| next.0.end);
            if next > until {
                return Err(next);
            }
            at = at.max(next);
            self.settle(at, &end);
        }
        Ok(at)
    }

    /// Takes the unit for which [`enters`](Self::enters) returned this time.
    pub fn enter(&mut self, at: u64) {
        self.used += 1;
        self.last_in = at;
    }

    /// Returns whether `units` units may enter at `at` without being slowed.
    pub fn has_room(&mut self, at: u64, units: u32, end: impl Fn(&Program) -> u64) -> bool {
        self.settle(at, end);
        self.used + units <= self.slow_from
    }

    /// Returns when pacing admits `sectors` sectors that are ready at `at`. A part of a unit waits in proportion.
    #[inline]
    fn paced(&self, at: u64, sectors: u32) -> u64 {
        if self.used > self.slow_from {
            at.max(self.last_in + self.distance_ns() * u64::from(sectors) / u64::from(SECTORS))
        } else {
            at
        }
    }

    /// Takes a unit or a part of one, as [`admit`](Self::admit) does.
    ///
    /// # Panics
    /// As `admit` does.
    pub fn admit_piece(&mut self, ready: u64, piece: Piece, end: impl Fn(&Program) -> u64) -> u64 {
        let mut at = ready.max(self.last_in);
        self.settle(at, &end);
        at = self.paced(at, piece.sectors);
        if piece.takes_room {
            at = self.wait_for_room(at, &end);
            self.used += 1;
        }
        self.last_in = at;
        at
    }

    /// If the buffer is full at `at`, returns when the first program ends that makes room; [`u64::MAX`] if there is none.
    pub fn room_at(&mut self, at: u64, end: impl Fn(&Program) -> u64) -> Option<u64> {
        self.settle(at, &end);
        let first = || self.running.peek().map_or(u64::MAX, |next| next.0.end);
        (self.used >= self.capacity).then(first)
    }

    /// Frees the room of programs that end by `at`. No read may delay a program before `at` any more.
    #[inline]
    pub fn settle(&mut self, at: u64, end: impl Fn(&Program) -> u64) {
        while let Some(Reverse(next)) = self.running.peek()
            && next.end <= at
        {
            self.settle_first(at, &end);
        }
    }

    /// Returns the distance between two units while the host is slowed, in ns.
    fn distance_ns(&self) -> u64 {
        let above = self.used - self.slow_from - 1;
        let room = self.capacity - self.slow_from;
        let level = (above * LEVELS / room.max(1)).min(LEVELS - 1);
        (self.unit_program_ns << level) / 2
    }

    fn settle_first(&mut self, at: u64, end: impl Fn(&Program) -> u64) {
        let Some(mut first) = self.running.peek_mut() else {
            return;
        };
        let now = end(&first.0);
        if now > at {
            first.0.end = now;
            return;
        }
        let Reverse(Program { units, .. }) = PeekMut::pop(first);
        self.used -= units;
    }

    /// Adds a program that holds units of the buffer.
    #[inline]
    pub fn programmed(&mut self, program: Program) {
        self.running.push(Reverse(program));
    }

    /// Frees the room of units that were dropped before any program took them.
    pub fn discarded(&mut self, units: u32) {
        self.used -= units;
    }

    /// Returns when all programs so far have ended.
    pub fn drained_at(&self, end: impl Fn(&Program) -> u64) -> u64 {
        let ends = self.running.iter().map(|Reverse(program)| end(program));
        ends.max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(end: u64, units: u32) -> Program {
        Program {
            end,
            units,
            work: Behind {
                numbers: [end, 0],
                ..Behind::default()
            },
            data: Passing::default(),
            after_data_ns: 0,
        }
    }

    #[test]
    fn room_is_there_when_a_program_has_ended_and_for_all_that_wait_then() {
        let mut buffer = WriteBuffer::new(4, 4, 50);
        let known = |program: &Program| program.end;
        assert_eq!([0, 1, 2, 3].map(|at| buffer.admit(at, known)), [0, 1, 2, 3]);
        buffer.programmed(program(100, 2));
        buffer.programmed(program(250, 2));
        // Two wait for the first program, the third for the second; units enter in the order in which they were ready.
        let waited = [4, 5, 6].map(|at| buffer.admit(at, known));
        assert_eq!(waited, [100, 100, 250]);
    }

    #[test]
    fn programs_that_end_together_do_not_let_units_in_together() {
        let mut buffer = WriteBuffer::new(400, 40, 30);
        let known = |program: &Program| program.end;
        let mut ins = Vec::new();
        for n in 0..40_000_u64 {
            ins.push(buffer.admit(0, known));
            if n % 10 == 9 {
                // Four programs of ten units each end every 4 us: one unit in 100 ns.
                buffer.programmed(program((n / 40 + 1) * 4000, 10));
            }
        }
        let steady = &ins[20_000..];
        let gaps = || steady.windows(2).map(|pair| pair[1] - pair[0]);
        let mean = gaps().sum::<u64>() / gaps().count() as u64;
        assert!((95..=105).contains(&mean), "{mean}");
        // A buffer without pacing would let forty in together, and the next ones 4 us later.
        assert!(
            gaps().all(|gap| (20..=400).contains(&gap)),
            "{:?}",
            gaps().max()
        );
    }

    #[test]
    fn a_program_that_reads_have_delayed_makes_room_later() {
        let mut buffer = WriteBuffer::new(1, 1, 0);
        assert_eq!(buffer.admit(0, |program| program.end), 0);
        buffer.programmed(program(100, 1));
        let delayed = |program: &Program| program.work.numbers[0] + 40;
        assert_eq!(buffer.drained_at(delayed), 140);
        assert_eq!(buffer.admit(10, delayed), 140);
    }
}
