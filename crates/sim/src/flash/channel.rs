//! A channel of the flash bus: data of host reads crosses first; data of programs and moves waits behind it.
//!
//! Like a die, a channel has two queues: reserved stretches for reads, and an ordered queue of all other transfers. A
//! read does not interrupt the unit that is crossing, but goes before units that wait.

use serde::{Deserialize, Serialize};

use crate::flash::in_order::InOrder;
use crate::flash::timeline::{Fitted, Timeline};

/// The transfers of a channel; times in ns.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Channel {
    reads: Timeline,
    /// Transfers of programs and moves, in order, each with the time of one unit.
    behind: InOrder<u64>,
    /// Time for which ends of transfers are kept after they are past, because a program may follow a transfer.
    known_ns: u64,
    /// Whether reads have delayed any transfer whose end is still kept.
    held_up: bool,
}

impl Channel {
    /// Creates an idle channel. Ends of transfers are kept for `follows_ns` after they are past: the time of a program.
    pub fn new(follows_ns: u64) -> Self {
        Self {
            known_ns: follows_ns,
            ..Self::default()
        }
    }

    /// Transfers the data of a read from `ready` on, behind the unit that is crossing then. Returns when it is over.
    ///
    /// `now` is the submission clock: no later request is for an earlier time.
    #[inline]
    pub fn bring(&mut self, now: u64, ready: u64, duration_ns: u64) -> u64 {
        if self.behind.ends() <= ready {
            return self.reads.fit(now, ready, duration_ns).told;
        }
        self.behind.forget_ended(now);
        let mut pages = self.behind.begins().enumerate();
        let mut next = pages.find(|(_, (begins, pages))| begins + pages.takes_ns > ready);
        let mut ready = ready;
        if let Some((_, (begins, pages))) = next
            && begins <= ready
            && self.reads.free_from(ready) == ready
        {
            ready += (begins + pages.takes_ns - ready) % pages.what.max(1);
        }
        let read = self.reads.fit(now, ready, duration_ns);
        while let Some((_, (begins, over))) = next
            && begins + over.takes_ns <= read.start
        {
            next = pages.next();
        }
        if let Some((at, (begins, _))) = next {
            drop(pages);
            self.push_out(at, begins, read);
        }
        read.told
    }

    /// Delays the transfer at index `at`, which begins at `begins` and has not ended when the read starts.
    fn push_out(&mut self, at: usize, begins: u64, read: Fitted) {
        self.held_up = true;
        // Dies will ask for the ends of all these transfers, not only of those with host data.
        self.behind.watch_all();
        let left_ns = read.left_ns(begins);
        if begins <= read.start {
            self.behind.stretch(at, 0, left_ns);
        } else {
            self.behind.stretch(at, left_ns, 0);
        }
    }

    /// Queues a transfer of `all_ns` behind the others, from `at` on. A read can interrupt it every `page_ns`,
    /// counted back from its end. Returns its number, and its end if no more reads come.
    #[inline]
    pub fn carry(&mut self, now: u64, at: u64, all_ns: u64, page_ns: u64) -> (u64, u64) {
        self.behind.forget_ended(now);
        self.behind.pass(now.saturating_sub(self.known_ns));
        if self.behind.is_past() {
            self.held_up = false;
        }
        let start = at.max(self.behind.ends());
        let end = self.reads.beside(start, all_ns);
        self.behind.push(at, start, end - start, page_ns)
    }

    /// Queues a transfer as [`carry`](Self::carry) does, but before transfers that were requested earlier for a later time.
    pub fn carry_in_time(&mut self, now: u64, at: u64, all_ns: u64, page_ns: u64) -> (u64, u64) {
        self.behind.forget_ended(now);
        let takes_ns = self.reads.beside(at, all_ns) - at;
        self.behind.push_in_time(at, takes_ns, page_ns)
    }

    /// Returns whether reads have delayed any transfer whose end is still kept.
    #[inline]
    pub fn is_held_up(&self) -> bool {
        self.held_up
    }

    /// Keeps the end of a transfer for later calls of [`end_of`](Self::end_of).
    pub fn watch(&mut self, number: u64) {
        self.behind.watch(number);
    }

    /// Returns the end of a transfer as known so far; 0 if even the program behind it is past.
    pub fn end_of(&self, number: u64) -> u64 {
        self.behind.end_of(number)
    }

    /// Returns when the channel becomes idle.
    pub fn ends(&self) -> u64 {
        self.behind.ends().max(self.reads.ends())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE_NS: u64 = 40;
    const READ_NS: u64 = 5;

    #[test]
    fn a_read_goes_before_pages_that_wait_and_behind_the_one_that_crosses() {
        let mut channel = Channel::default();
        assert_eq!(channel.carry(0, 100, 3 * PAGE_NS, PAGE_NS), (0, 220));
        // One read before the first page, one within the second, and one right behind another read.
        assert_eq!(channel.bring(0, 20, READ_NS), 25);
        assert_eq!(channel.bring(0, 150, READ_NS), 180 + READ_NS);
        assert_eq!(channel.bring(0, 182, READ_NS), 185 + READ_NS);
        assert_eq!(channel.end_of(0), 220 + 2 * READ_NS);
        assert_eq!(channel.ends(), 220 + 2 * READ_NS);
    }

    #[test]
    fn pages_cross_beside_reads_that_were_there_before() {
        let mut channel = Channel::default();
        assert_eq!(channel.bring(0, 110, READ_NS), 115);
        assert_eq!(channel.carry(0, 100, PAGE_NS, PAGE_NS), (0, 145));
    }

    #[test]
    fn a_read_meets_what_crosses_before_a_rest_and_a_rest_makes_up_for_it() {
        let mut channel = Channel::default();
        assert_eq!(channel.carry(0, 0, PAGE_NS, PAGE_NS), (0, 40));
        assert_eq!(channel.carry(0, 43, PAGE_NS, PAGE_NS), (1, 83));
        assert_eq!(channel.bring(0, 10, READ_NS), 40 + READ_NS);
        // The idle time before the second transfer absorbs 3 of the 5 ns.
        assert_eq!([0, 1].map(|number| channel.end_of(number)), [40, 85]);
    }
}
