//! How many I/Os a worker hands to its ring at a time.
//!
//! The kernel holds back the I/Os of one call until it has seen all of them, and a drive tends to complete together
//! what it received together. Handing over a whole queue depth at once makes the drive work in bursts, with idle time
//! between them. So at most an eighth of the depth goes out at once, and the worker waits only when nothing is left to
//! hand over.
//!
//! If I/Os complete within the call that submits them, no drive is waiting and only the calls cost time. Then all that
//! is ready goes out at once. A stream that sets a batch has made the choice itself.
//!
//! For the same reason at most two portions are reaped at a time: a free slot is work that the drive does not have, and
//! handing over costs a hundred times what counting costs.

/// At most one `SHARE`-th of the queue depth is handed over at once.
const SHARE: usize = 8;

const PORTIONS_REAPED: usize = 2;

/// Sizes of the next portions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Portions {
    small: usize,
    whole: usize,
    /// Whether the I/Os submitted last had completed when the call returned.
    at_once: bool,
}

impl Portions {
    pub(crate) fn new(depth: u32, batch: Option<u32>) -> Self {
        let whole = depth as usize;
        let small = match batch {
            Some(_) => whole,
            None => whole.div_ceil(SHARE),
        };
        Self {
            small,
            whole,
            at_once: false,
        }
    }

    /// Returns the largest number of I/Os to hand over next.
    #[inline]
    pub(crate) fn max_portion(&self) -> usize {
        if self.at_once { self.whole } else { self.small }
    }

    /// Returns the largest number of completions to reap at a time.
    #[inline]
    pub(crate) fn max_to_reap(&self) -> usize {
        PORTIONS_REAPED * self.max_portion()
    }

    /// Returns whether to look for completions before waiting for one.
    #[inline]
    pub(crate) fn look_first(&self) -> bool {
        self.at_once
    }

    /// Learns from a call: `looked` if it did not wait, and the number of I/Os that it left in flight.
    #[inline]
    pub(crate) fn learn(&mut self, looked: bool, in_flight: u32) {
        self.at_once = looked && in_flight == 0 && self.small < self.whole;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_gets_an_eighth_of_the_depth_at_a_time() {
        let sizes = [1, 7, 8, 9, 32, 512].map(|depth| Portions::new(depth, None).max_portion());
        assert_eq!(sizes, [1, 1, 1, 2, 4, 64]);
    }

    #[test]
    fn what_completes_at_once_is_handed_over_at_once() {
        let mut portions = Portions::new(32, None);
        portions.learn(true, 0);
        assert_eq!((portions.max_portion(), portions.look_first()), (32, true));
        portions.learn(true, 3);
        assert_eq!((portions.max_portion(), portions.look_first()), (4, false));
        portions.learn(false, 0);
        assert_eq!(portions.max_portion(), 4, "a wait says nothing");
    }

    #[test]
    fn a_batch_is_not_cut() {
        let mut portions = Portions::new(32, Some(8));
        assert_eq!(portions.max_portion(), 32);
        portions.learn(true, 0);
        assert!(!portions.look_first());
    }
}
