//! Which I/O has which slot of a ring, and when it was meant to start and was submitted.

use workload::{Io, Op};

/// Stands for the submission as the intended start.
pub(crate) const AT_ONCE: u64 = u64::MAX;

/// An I/O in flight; half a cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InFlight {
    pub(crate) io: Io,
    intended_ns: u64,
    pub(crate) submit_ns: u64,
}

impl InFlight {
    /// When it was meant to start.
    pub(crate) fn intended_ns(&self) -> u64 {
        self.intended_ns.min(self.submit_ns)
    }
}

/// The slots of one worker.
#[derive(Debug)]
pub(crate) struct Slots {
    all: Box<[InFlight]>,
    /// A stack of the numbers of free slots: the first `free_count` are free. Those taken since the last submission still
    /// stand above them, so that they can be stamped all at once.
    free: Box<[u16]>,
    free_count: usize,
    free_at_submission: usize,
}

impl Slots {
    pub(crate) fn new(depth: u32) -> Self {
        let depth = depth as usize;
        let io = Io {
            op: Op::Read,
            offset: 0,
            length: 0,
        };
        let unused = InFlight {
            io,
            intended_ns: AT_ONCE,
            submit_ns: 0,
        };
        Self {
            all: vec![unused; depth].into(),
            free: (0..depth).rev().map(|slot| slot as u16).collect(),
            free_count: depth,
            free_at_submission: depth,
        }
    }

    /// Number of slots that are free.
    #[inline]
    pub(crate) fn free(&self) -> usize {
        self.free_count
    }

    /// Gives a free slot to an I/O, in a loop in which all are meant to start when they are submitted.
    #[inline]
    pub(crate) fn take(&mut self, io: Io) -> usize {
        self.free_count -= 1;
        let slot = usize::from(self.free[self.free_count]);
        self.all[slot].io = io;
        slot
    }

    /// Gives a free slot to an I/O with an intended start of its own.
    pub(crate) fn take_for(&mut self, io: Io, intended_ns: u64) -> usize {
        let slot = self.take(io);
        self.all[slot].intended_ns = intended_ns;
        slot
    }

    /// Takes a slot back; says what was in it.
    #[inline]
    pub(crate) fn give_back(&mut self, slot: usize) -> &InFlight {
        self.free[self.free_count] = slot as u16;
        self.free_count += 1;
        &self.all[slot]
    }

    /// Stamps what was taken since the last submission; says how many that are.
    #[inline]
    pub(crate) fn stamp(&mut self, submit_ns: u64) -> u32 {
        let fresh = &self.free[self.free_count..self.free_at_submission];
        for &slot in fresh {
            self.all[usize::from(slot)].submit_ns = submit_ns;
        }
        fresh.len() as u32
    }

    /// What is taken from here on is fresh.
    #[inline]
    pub(crate) fn submitted(&mut self) {
        self.free_at_submission = self.free_count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(offset: u64) -> Io {
        Io {
            op: Op::Write,
            offset,
            length: 512,
        }
    }

    #[test]
    fn only_what_was_taken_since_the_last_submission_is_stamped() {
        let mut slots = Slots::new(3);
        let first = slots.take(io(0));
        assert_eq!(slots.stamp(10), 1);
        slots.submitted();
        let second = slots.take_for(io(512), 7);
        assert_eq!((slots.stamp(20), slots.free()), (1, 1));
        let was = *slots.give_back(first);
        assert_eq!((was.intended_ns(), was.submit_ns), (10, 10));
        let was = *slots.give_back(second);
        assert_eq!((was.io, was.intended_ns(), was.submit_ns), (io(512), 7, 20));
        assert_eq!(slots.free(), 3);
    }
}
