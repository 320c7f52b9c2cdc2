//! The write buffer: host data that is not yet in flash.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use serde::{Deserialize, Serialize};

use crate::flash::behind::Behind;
use crate::flash::data_path::Passing;

/// Sectors of a unit.
pub(crate) const SECTORS: u32 = 8;

/// What enters at once: a unit or a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Of 512 bytes: what is programmed for it that nothing before it stood for.
    pub sectors: u32,
    /// Whether the unit has no room in the buffer yet.
    pub takes_room: bool,
}

impl Piece {
    /// A unit of which nothing is there.
    pub const UNIT: Self = Self {
        sectors: SECTORS,
        takes_room: true,
    };
}

/// A program that holds units of the buffer until it ends.
///
/// Reads go before programs, so its end is not known when it is given: it is that of work of its die and its channel, or what
/// follows its data on the data path, each as far as reads have delayed it since. `end` is what it was when it was last looked at,
/// never later than it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Program {
    /// When it would end if no read came.
    pub end: u64,
    /// Units of the host that it holds.
    pub units: u32,
    /// Work of its die, and of its channel.
    pub work: Behind,
    /// Its data on the data path, where reads may yet delay it.
    pub data: Passing,
    /// What follows when that has passed, in ns.
    pub after_data_ns: u64,
}

/// A bounded buffer of units, first in, first out: a unit waits for room, and those behind it wait for it. A unit leaves it when
/// the program that holds it ends.
///
/// A program frees a whole word line at once. A buffer that ran full and then let in what waits would make some writes wait for
/// a program and the others not at all. As drives do, it slows the host down before it is full: above half, and above what keeps
/// all dies at work, units come in at a distance. A firmware does not know when a program will end. It goes by how full the buffer is,
/// in twelve steps, of which each doubles the distance of the one before.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WriteBuffer {
    capacity: u32,
    used: u32,
    /// The host is slowed down where more is used.
    slow_from: u32,
    /// When the last unit came in: the next one does not before it.
    last_in: u64,
    running: BinaryHeap<Reverse<Program>>,
    /// What a unit takes where all dies program nothing else.
    unit_program_ns: u64,
}

/// Steps in which a buffer slows the host down: from twice what all dies can program to a thousandth of it.
const LEVELS: u32 = 12;

impl WriteBuffer {
    /// A buffer of so many units, of which `in_programs` are held by a program of every die. Each takes `unit_program_ns` where these
    /// program nothing else.
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

    /// Takes one unit that is there at `ready`, behind those before it and as soon as programs have made room. Returns when it
    /// is in. `end` says when a program ends as things stand.
    ///
    /// # Panics
    /// If the buffer is smaller than a word line, which profiles are checked for.
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

    /// When what is there at `ready` enters, behind what came before, if that is by `until`, when all that delays programs until then
    /// is known; else a time until which it does not. `paced` keeps from when on its distance lets it.
    ///
    /// # Errors
    /// That time.
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

    /// The unit that [`enters`](Self::enters) at this time is in.
    pub fn enter(&mut self, at: u64) {
        self.used += 1;
        self.last_in = at;
    }

    /// Whether so many units may come in at `at` as they are there.
    pub fn has_room(&mut self, at: u64, units: u32, end: impl Fn(&Program) -> u64) -> bool {
        self.settle(at, end);
        self.used + units <= self.slow_from
    }

    /// From when on the distance to what came before lets so many sectors in that are there at `at`: a part of a unit's.
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

    /// If there is no room at `at`, when the first program ends that makes some; [`u64::MAX`] if none was given.
    pub fn room_at(&mut self, at: u64, end: impl Fn(&Program) -> u64) -> Option<u64> {
        self.settle(at, &end);
        let first = || self.running.peek().map_or(u64::MAX, |next| next.0.end);
        (self.used >= self.capacity).then(first)
    }

    /// Nothing before `at` will delay a program any more: those that have ended by then make room.
    #[inline]
    pub fn settle(&mut self, at: u64, end: impl Fn(&Program) -> u64) {
        while let Some(Reverse(next)) = self.running.peek()
            && next.end <= at
        {
            self.settle_first(at, &end);
        }
    }

    /// How long after a unit the next one comes in where the host is slowed down.
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

    /// A program was given.
    #[inline]
    pub fn programmed(&mut self, program: Program) {
        self.running.push(Reverse(program));
    }

    /// Units were forgotten before any program took them.
    pub fn discarded(&mut self, units: u32) {
        self.used -= units;
    }

    /// When every program given so far has ended.
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
        // Two wait for the first program, the third for the second; none comes in before one that was there earlier.
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
                // Four programs of ten units each end every 4 us: a unit in 100 ns.
                buffer.programmed(program((n / 40 + 1) * 4000, 10));
            }
        }
        let steady = &ins[20_000..];
        let gaps = || steady.windows(2).map(|pair| pair[1] - pair[0]);
        let mean = gaps().sum::<u64>() / gaps().count() as u64;
        assert!((95..=105).contains(&mean), "{mean}");
        // A full buffer would let forty in together, and the next after all of 4 us.
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
