//! A channel: what reads bring in front, what programs and moves carry behind, page by page.
//!
//! As a die has two queues, a channel has the reserved stretches of reads and a queue of all other transfers. A page
//! that is crossing is not interrupted; those that wait let reads go first.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::flash::timeline::Timeline;

/// Pages that cross one after another.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[allow(clippy::struct_field_names)] // The unit is part of each name.
struct Pages {
    /// The channel carries nothing else for so long before them.
    rest_ns: u64,
    /// All of them, and what reads brought between them.
    take_ns: u64,
    each_ns: u64,
}

/// The transfers of a channel, in ns.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Channel {
    reads: Timeline,
    /// When the other transfers given so far would end if no read came, those that are not over, and how long they take with
    /// the rests before them.
    behind: u64,
    queue: VecDeque<Pages>,
    queued_ns: u64,
    /// By how much reads have delayed other transfers since the beginning.
    delayed_ns: u64,
}

impl Channel {
    /// What a read brings crosses from `ready` on, behind the page that is crossing then. Returns when it is over.
    ///
    /// `now` is the submission clock: nothing will be asked for before it.
    #[inline]
    pub fn bring(&mut self, now: u64, ready: u64, duration_ns: u64) -> u64 {
        if self.behind <= ready {
            return self.reads.reserve(now, ready, duration_ns);
        }
        self.forget_ended(now);
        let (mut at, mut begins) = self.first_ending_after(ready);
        let mut ready = ready;
        if begins <= ready && !self.reads.covers(ready) {
            let pages = self.queue[at];
            ready += (begins + pages.take_ns - ready) % pages.each_ns.max(1);
        }
        let end = self.reads.reserve(now, ready, duration_ns);
        let start = end - duration_ns;
        while let Some(pages) = self.queue.get(at)
            && begins + pages.take_ns <= start
        {
            begins += pages.take_ns;
            at += 1;
            begins += self.queue.get(at).map_or(0, |next| next.rest_ns);
        }
        self.push_out(at, begins, start, end);
        end
    }

    /// The first transfer that ends after this time, and when it begins.
    fn first_ending_after(&self, time: u64) -> (usize, u64) {
        let mut end = self.behind - self.queued_ns;
        for (at, pages) in self.queue.iter().enumerate() {
            let begins = end + pages.rest_ns;
            end = begins + pages.take_ns;
            if end > time {
                return (at, begins);
            }
        }
        (self.queue.len(), self.behind)
    }

    /// A read crosses from `start` to `end`, and the transfer at this place has not ended by then. Rests make up for the delay.
    fn push_out(&mut self, at: usize, begins: u64, start: u64, end: u64) {
        let Some(first) = self.queue.get_mut(at) else {
            return;
        };
        let mut late_ns = if begins <= start {
            first.take_ns += end - start;
            end - start
        } else {
            let late_ns = end.saturating_sub(begins);
            first.rest_ns += late_ns;
            late_ns
        };
        self.queued_ns += late_ns;
        for later in self.queue.iter_mut().skip(at + 1) {
            if late_ns == 0 {
                break;
            }
            let made_up_ns = late_ns.min(later.rest_ns);
            later.rest_ns -= made_up_ns;
            self.queued_ns -= made_up_ns;
            late_ns -= made_up_ns;
        }
        self.behind += late_ns;
        self.delayed_ns += late_ns;
    }

    /// So many pages cross from `at` on, each in `page_ns` and the last in what is left of `all_ns`. Returns when they are over if
    /// no more reads come.
    #[inline]
    pub fn carry(&mut self, now: u64, at: u64, all_ns: u64, page_ns: u64) -> u64 {
        self.forget_ended(now);
        let start = at.max(self.behind);
        let end = self.reads.beside(start, all_ns);
        let rest_ns = if self.queue.is_empty() {
            0
        } else {
            start - self.behind
        };
        self.queue.push_back(Pages {
            rest_ns,
            take_ns: end - start,
            each_ns: page_ns,
        });
        self.queued_ns += rest_ns + end - start;
        self.behind = end;
        end
    }

    /// Forgets transfers that have ended by `now`.
    #[inline]
    fn forget_ended(&mut self, now: u64) {
        let waiting = self.behind.saturating_sub(now);
        while let Some(first) = self.queue.front()
            && self.queued_ns - first.rest_ns - first.take_ns >= waiting
        {
            self.queued_ns -= first.rest_ns + first.take_ns;
            self.queue.pop_front();
        }
    }

    /// By how much reads have delayed other transfers since the beginning.
    pub fn delayed_ns(&self) -> u64 {
        self.delayed_ns
    }

    /// When nothing will cross any more.
    pub fn ends(&self) -> u64 {
        self.behind.max(self.reads.ends())
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
        assert_eq!(channel.carry(0, 100, 3 * PAGE_NS, PAGE_NS), 220);
        // Before the first page, within the second, and right behind another read.
        assert_eq!(channel.bring(0, 20, READ_NS), 25);
        assert_eq!(channel.bring(0, 150, READ_NS), 180 + READ_NS);
        assert_eq!(channel.bring(0, 182, READ_NS), 185 + READ_NS);
        assert_eq!(channel.delayed_ns(), 2 * READ_NS);
        assert_eq!(channel.ends(), 220 + 2 * READ_NS);
    }

    #[test]
    fn pages_cross_beside_reads_that_were_there_before() {
        let mut channel = Channel::default();
        assert_eq!(channel.bring(0, 110, READ_NS), 115);
        assert_eq!(channel.carry(0, 100, PAGE_NS, PAGE_NS), 145);
        assert_eq!(channel.delayed_ns(), 0);
    }

    #[test]
    fn a_read_meets_what_crosses_before_a_rest_and_a_rest_makes_up_for_it() {
        let mut channel = Channel::default();
        assert_eq!(channel.carry(0, 0, PAGE_NS, PAGE_NS), 40);
        assert_eq!(channel.carry(0, 43, PAGE_NS, PAGE_NS), 83);
        assert_eq!(channel.bring(0, 10, READ_NS), 40 + READ_NS);
        // Of 5 ns the rest has made up 3.
        assert_eq!((channel.ends(), channel.delayed_ns()), (85, 2));
    }
}
