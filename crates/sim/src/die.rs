//! A die: reads in front, programs and erases behind.
//!
//! Two clocks stand for the two queues. `front` says when the last read ends, `behind` when the programs and erases given so far
//! would end if no read came. A read goes before what waits behind and pushes it out; if the flash can
//! suspend it also interrupts what is running, else it waits for that to end.

use crate::nand::Timing;

/// The two clocks of a die, in ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Die {
    front: u64,
    behind: u64,
    /// Length of the operation at the end of the queue, to find the rest of the running one.
    last_ns: u64,
}

impl Die {
    /// A read that may start at `now` and takes `read_ns`. Returns when its data is ready.
    #[inline]
    pub fn read(&mut self, now: u64, read_ns: u64, timing: &Timing) -> u64 {
        let mut start = now.max(self.front);
        if self.behind > start {
            start = start.max(self.behind.saturating_sub(timing.deferral_limit_ns));
            let waiting = self.behind - start;
            match timing.suspend_ns {
                Some(penalty) => {
                    // Several reads in a row pay for one interruption: the die is already suspended.
                    let penalty = if self.front >= now && self.front > 0 && start == self.front {
                        0
                    } else {
                        penalty
                    };
                    start += penalty.min(waiting);
                }
                None => start += Self::rest_of_running(waiting, self.last_ns),
            }
            if self.behind > start {
                self.behind += read_ns;
                self.behind += start - now.max(self.front);
            }
        }
        self.front = start + read_ns;
        self.front
    }

    /// A program, erase or move that may start at `now`. Returns when it ends if no read comes between.
    #[inline]
    pub fn work(&mut self, now: u64, duration_ns: u64) -> u64 {
        let start = now.max(self.behind).max(self.front);
        self.behind = start + duration_ns;
        self.last_ns = duration_ns;
        self.behind
    }

    /// When the die has nothing more to do.
    pub fn idle_at(&self) -> u64 {
        self.front.max(self.behind)
    }

    fn rest_of_running(waiting: u64, operation: u64) -> u64 {
        match waiting.checked_rem(operation) {
            Some(0) | None => waiting.min(operation),
            Some(rest) => rest,
        }
    }
}
