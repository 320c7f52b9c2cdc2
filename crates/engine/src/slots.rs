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

    /// Takes `count` free slots, for I/Os that are meant to start when they are submitted: their numbers, and all slots, of
    /// which those are to be filled.
    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> (&[u16], &mut [InFlight]) {
        let were_free = self.free_count;
        self.free_count -= count;
        (&self.free[self.free_count..were_free], &mut self.all)
    }

    /// Gives a free slot to an I/O with an intended start; says which, as a slice of one.
    pub(crate) fn take_for(&mut self, io: Io, intended_ns: u64) -> &[u16] {
        let (taken, all) = self.take(1);
        let place = &mut all[usize::from(taken[0])];
        place.io = io;
        place.intended_ns = intended_ns;
        taken
    }

    /// Takes `count` slots back: where their numbers are to be written, and all slots, to be looked at.
    #[inline]
    pub(crate) fn give_back(&mut self, count: usize) -> (&mut [u16], &[InFlight]) {
        let were_free = self.free_count;
        self.free_count += count;
        (&mut self.free[were_free..self.free_count], &self.all)
    }

    /// What is in a slot.
    pub(crate) fn at(&self, slot: usize) -> InFlight {
        self.all[slot]
    }

    /// The slot of a write that was done flushes from now on.
    pub(crate) fn begin_flush(&mut self, slot: u16, submit_ns: u64) {
        self.all[usize::from(slot)].submit_ns = submit_ns;
    }

    /// Takes one slot back; says what was in it.
    pub(crate) fn give_one_back(&mut self, slot: usize) -> InFlight {
        let (numbers, all) = self.give_back(1);
        numbers[0] = slot as u16;
        all[slot]
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
        let (taken, all) = slots.take(1);
        let first = usize::from(taken[0]);
        all[first].io = io(0);
        assert_eq!(slots.stamp(10), 1);
        slots.submitted();
        let second = usize::from(slots.take_for(io(512), 7)[0]);
        assert_eq!((slots.stamp(20), slots.free()), (1, 1));
        let was = slots.give_one_back(first);
        assert_eq!((was.intended_ns(), was.submit_ns), (10, 10));
        let (numbers, all) = slots.give_back(1);
        numbers[0] = second as u16;
        let was = all[second];
        assert_eq!((was.io, was.intended_ns(), was.submit_ns), (io(512), 7, 20));
        assert_eq!(slots.free(), 3);
    }
}
