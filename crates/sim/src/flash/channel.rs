//! A channel: what reads bring in front, what programs and moves carry behind, page by page.
//!
//! As a die has two queues, a channel has the reserved stretches of reads and a queue of all other transfers. A page
//! that is crossing is not interrupted; those that wait let reads go first.

use serde::{Deserialize, Serialize};

use crate::flash::in_order::InOrder;
use crate::flash::timeline::{Fitted, Timeline};

/// The transfers of a channel, in ns.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Channel {
    reads: Timeline,
    /// The other transfers: pages that cross one after another, and what each takes.
    behind: InOrder<u64>,
    /// For so long their ends are known when they are over: a program may follow them.
    known_ns: u64,
    /// Whether reads have held any of them up.
    held_up: bool,
}

impl Channel {
    /// Nothing crosses yet, and what follows it takes so long.
    pub fn new(follows_ns: u64) -> Self {
        Self {
            known_ns: follows_ns,
            ..Self::default()
        }
    }

    /// What a read brings crosses from `ready` on, behind the page that is crossing then. Returns when it is over.
    ///
    /// `now` is the submission clock: nothing will be asked for before it.
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

    /// A read crosses, and the transfer at this place, which begins then, has not ended when it starts.
    fn push_out(&mut self, at: usize, begins: u64, read: Fitted) {
        self.held_up = true;
        // The dies will ask, of programs of the host and others.
        self.behind.watch_all();
        let left_ns = read.left_ns(begins);
        if begins <= read.start {
            self.behind.stretch(at, 0, left_ns);
        } else {
            self.behind.stretch(at, left_ns, 0);
        }
    }

    /// So many pages cross from `at` on, each in `page_ns` and the last in what is left of `all_ns`. Returns their number, and when
    /// they are over if no more reads come.
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

    /// The same for what goes before that which is asked for later, though it came before.
    pub fn carry_in_time(&mut self, now: u64, at: u64, all_ns: u64, page_ns: u64) -> (u64, u64) {
        self.behind.forget_ended(now);
        let takes_ns = self.reads.beside(at, all_ns) - at;
        self.behind.push_in_time(at, takes_ns, page_ns)
    }

    /// Whether reads have held up any transfer that is not over.
    #[inline]
    pub fn is_held_up(&self) -> bool {
        self.held_up
    }

    /// Somebody will ask for the end of the transfer of this number.
    pub fn watch(&mut self, number: u64) {
        self.behind.watch(number);
    }

    /// When the transfer of this number is over as things stand; 0 if that is so long past that what follows it is over too.
    pub fn end_of(&self, number: u64) -> u64 {
        self.behind.end_of(number)
    }

    /// When nothing will cross any more.
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
        // Before the first page, within the second, and right behind another read.
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
        // Of 5 ns the rest has made up 3.
        assert_eq!([0, 1].map(|number| channel.end_of(number)), [40, 85]);
    }
}
