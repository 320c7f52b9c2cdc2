//! How many I/Os a worker hands to its ring at a time.
//!
//! The kernel holds back what is submitted by one call until it has seen all of it, and a drive tends to answer together
//! what it got together: handing over a whole depth at once makes it work in bursts, with nothing to do between them. So no
//! more than an eighth of the depth goes out at once, and only when nothing is left to hand over does the worker wait. Where
//! I/Os complete within the call that submits them, no drive is waiting and only the calls cost: there all that is ready
//! goes at once. A stream with a batch has said what it wants.
//!
//! For the same reason no more than two portions are reaped at a time: a slot that is free is work that the drive does not
//! have, and handing over costs a hundred times what counting costs.

/// Share of the depth that is handed over at once.
const SHARE: usize = 8;

/// Portions that are reaped at a time.
const PORTIONS_REAPED: usize = 2;

/// The size of the next portion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Portions {
    small: usize,
    whole: usize,
    /// What was submitted last had completed when the call returned.
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

    /// The most to hand over next.
    #[inline]
    pub(crate) fn max_portion(&self) -> usize {
        if self.at_once { self.whole } else { self.small }
    }

    /// The most to reap at a time.
    #[inline]
    pub(crate) fn max_to_reap(&self) -> usize {
        PORTIONS_REAPED * self.max_portion()
    }

    /// Whether to look for completions before waiting for one.
    #[inline]
    pub(crate) fn look_first(&self) -> bool {
        self.at_once
    }

    /// Learns from a call: whether it only looked, and what it left in flight.
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
