//! The slots of a ring: which I/O each holds, its intended start and its submission time.

use workload::{Io, Op};

/// Intended start of an I/O that is meant to start when it is submitted.
pub(crate) const AT_ONCE: u64 = u64::MAX;

/// An I/O in flight; half a cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InFlight {
    pub(crate) io: Io,
    intended_ns: u64,
    pub(crate) submit_ns: u64,
}

impl InFlight {
    /// Returns the intended start; for [`AT_ONCE`], the submission time.
    pub(crate) fn intended_ns(&self) -> u64 {
        self.intended_ns.min(self.submit_ns)
    }
}

#[derive(Debug)]
pub(crate) struct Slots {
    all: Box<[InFlight]>,
    /// Stack of free slot numbers: the first `free_count` are free. The slots taken since the last submission still lie
    /// above them, so that all can be stamped at once.
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

    /// Returns the number of free slots.
    #[inline]
    pub(crate) fn free(&self) -> usize {
        self.free_count
    }

    /// Takes `count` free slots for I/Os that start when they are submitted. Returns their numbers, and all slots, in
    /// which the caller fills those taken.
    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> (&[u16], &mut [InFlight]) {
        let were_free = self.free_count;
        self.free_count -= count;
        (&self.free[self.free_count..were_free], &mut self.all)
    }

    /// Puts an I/O with an intended start into a free slot. Returns the slot's number, as a slice of one.
    pub(crate) fn take_for(&mut self, io: Io, intended_ns: u64) -> &[u16] {
        let (taken, all) = self.take(1);
        let place = &mut all[usize::from(taken[0])];
        place.io = io;
        place.intended_ns = intended_ns;
        taken
    }

    /// Frees `count` slots. Returns where the caller must write their numbers, and all slots, to be read.
    #[inline]
    pub(crate) fn give_back(&mut self, count: usize) -> (&mut [u16], &[InFlight]) {
        let were_free = self.free_count;
        self.free_count += count;
        (&mut self.free[were_free..self.free_count], &self.all)
    }

    pub(crate) fn at(&self, slot: usize) -> InFlight {
        self.all[slot]
    }

    /// Marks the slot of a completed write as flushing since `submit_ns`.
    pub(crate) fn begin_flush(&mut self, slot: u16, submit_ns: u64) {
        self.all[usize::from(slot)].submit_ns = submit_ns;
    }

    /// Frees one slot. Returns what it held.
    pub(crate) fn give_one_back(&mut self, slot: usize) -> InFlight {
        let (numbers, all) = self.give_back(1);
        numbers[0] = slot as u16;
        all[slot]
    }

    /// Stamps the slots taken since the last submission. Returns their number.
    #[inline]
    pub(crate) fn stamp(&mut self, submit_ns: u64) -> u32 {
        let fresh = &self.free[self.free_count..self.free_at_submission];
        for &slot in fresh {
            self.all[usize::from(slot)].submit_ns = submit_ns;
        }
        fresh.len() as u32
    }

    /// Ends the submission: slots taken from here on belong to the next one.
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
