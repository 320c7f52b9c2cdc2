//! The background queue of a die or channel: entries run one after another, with idle times ("rests") between them.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// An entry of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Turn<T> {
    number: u64,
    /// Whether its end is kept after it is removed.
    watched: bool,
    /// The time for which it was requested. Later requests may be for earlier times.
    asked: u64,
    /// Idle time before it, in ns.
    pub(crate) rest_ns: u64,
    pub(crate) takes_ns: u64,
    pub(crate) what: T,
}

impl<T> Turn<T> {
    fn all_ns(&self) -> u64 {
        self.rest_ns + self.takes_ns
    }
}

/// The entries that are not over, by number. A delay of one entry delays those behind it, less the rests between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InOrder<T> {
    turns: VecDeque<Turn<T>>,
    /// End of the last entry, also if it is past.
    ends: u64,
    /// Time of all entries with their rests; `rests_ns` is that of the rests alone.
    queued_ns: u64,
    rests_ns: u64,
    /// Number of the next entry.
    next: u64,
    /// Entries with this number or a higher one are in order of their numbers.
    mixed_below: u64,
    /// All entries below this number are watched.
    watched_below: u64,
    /// Numbers and ends of watched entries that have been removed.
    ended: VecDeque<[u64; 2]>,
}

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        Self {
            turns: VecDeque::new(),
            ends: 0,
            queued_ns: 0,
            rests_ns: 0,
            next: 0,
            mixed_below: 0,
            watched_below: 0,
            ended: VecDeque::new(),
        }
    }
}

impl<T> InOrder<T> {
    #[inline]
    pub(crate) fn ends(&self) -> u64 {
        self.ends
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Returns whether the queue is empty and keeps no ends.
    #[inline]
    pub(crate) fn is_past(&self) -> bool {
        self.turns.is_empty() && self.ended.is_empty()
    }

    /// Returns the first entry and its start.
    #[inline]
    pub(crate) fn first(&mut self) -> Option<(u64, &mut Turn<T>)> {
        let from = self.ends - self.queued_ns;
        let first = self.turns.front_mut()?;
        Some((from + first.rest_ns, first))
    }

    #[inline]
    pub(crate) fn last(&mut self) -> Option<&mut Turn<T>> {
        self.turns.back_mut()
    }

    /// Iterates over the entries with their starts.
    pub(crate) fn begins(&self) -> impl Iterator<Item = (u64, &Turn<T>)> {
        let mut end = self.ends - self.queued_ns;
        self.turns.iter().map(move |turn| {
            let begins = end + turn.rest_ns;
            end = begins + turn.takes_ns;
            (begins, turn)
        })
    }

    /// Appends an entry that is requested for `asked` and starts at `ready` or later. Returns its number and end.
    #[inline]
    pub(crate) fn push(&mut self, asked: u64, ready: u64, takes_ns: u64, what: T) -> (u64, u64) {
        let start = ready.max(self.ends);
        let rest_ns = if self.turns.is_empty() {
            0
        } else {
            start - self.ends
        };
        let number = self.number();
        self.turns.push_back(Turn {
            number,
            watched: false,
            asked,
            rest_ns,
            takes_ns,
            what,
        });
        self.queued_ns += rest_ns + takes_ns;
        self.rests_ns += rest_ns;
        self.ends = start + takes_ns;
        (number, self.ends)
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Inserts an entry before those that were requested for a later time. Returns its number and end.
    pub(crate) fn push_in_time(&mut self, start: u64, takes_ns: u64, what: T) -> (u64, u64) {
        let mut end = self.ends - self.queued_ns;
        if let Some(first) = self.turns.front_mut()
            && end > start
        {
            let before_ns = end - start;
            first.rest_ns += before_ns;
            self.rests_ns += before_ns;
            self.queued_ns += before_ns;
            end = start;
        }
        let place = self.turns.iter().position(|turn| {
            let found = turn.asked > start;
            if !found {
                end += turn.all_ns();
            }
            found
        });
        let Some(at) = place else {
            return self.push(start, start, takes_ns, what);
        };
        let before_ns = start.saturating_sub(end);
        let number = self.number();
        self.mixed_below = self.next;
        let behind = &mut self.turns[at];
        let made_up_ns = behind.rest_ns.min(before_ns + takes_ns);
        behind.rest_ns -= made_up_ns;
        self.turns.insert(
            at,
            Turn {
                number,
                watched: false,
                asked: start,
                rest_ns: before_ns,
                takes_ns,
                what,
            },
        );
        self.queued_ns = self.queued_ns + before_ns + takes_ns - made_up_ns;
        self.rests_ns = self.rests_ns + before_ns - made_up_ns;
        self.delay_behind(at + 1, before_ns + takes_ns - made_up_ns);
        (number, end + before_ns + takes_ns)
    }

    /// Delays the first entry, whether it waits or runs.
    #[inline]
    pub(crate) fn put_off(&mut self, by_ns: u64) {
        self.delay_behind(0, by_ns);
    }

    /// Moves the end of the entry at `at` by `by_ns`, and the entries behind it as far as their rests do not absorb the delay.
    #[inline]
    fn delay_behind(&mut self, at: usize, by_ns: u64) {
        let mut left_ns = by_ns;
        if self.rests_ns > 0 {
            for later in self.turns.iter_mut().skip(at + 1) {
                if left_ns == 0 {
                    return;
                }
                let made_up_ns = left_ns.min(later.rest_ns);
                later.rest_ns -= made_up_ns;
                self.queued_ns -= made_up_ns;
                self.rests_ns -= made_up_ns;
                left_ns -= made_up_ns;
            }
        }
        self.ends += left_ns;
    }

    /// Lengthens the entry at `at` by `takes_ns`, and the rest before it by `rest_ns`.
    pub(crate) fn stretch(&mut self, at: usize, rest_ns: u64, takes_ns: u64) {
        let Some(turn) = self.turns.get_mut(at) else {
            return;
        };
        turn.rest_ns += rest_ns;
        turn.takes_ns += takes_ns;
        self.rests_ns += rest_ns;
        self.queued_ns += rest_ns + takes_ns;
        self.delay_behind(at, rest_ns + takes_ns);
    }

    /// Removes the entries that end by `by`: nothing delays them any more.
    #[inline]
    pub(crate) fn forget_ended(&mut self, by: u64) {
        while self.forget_first(by) {}
    }

    /// Removes the first entry if it ends by `by`. Returns whether it did.
    #[inline]
    pub(crate) fn forget_first(&mut self, by: u64) -> bool {
        let waiting = self.ends.saturating_sub(by);
        let Some(first) = self.turns.front() else {
            return false;
        };
        let behind_ns = self.queued_ns - first.all_ns();
        if behind_ns < waiting {
            return false;
        }
        if first.watched || first.number < self.watched_below {
            self.ended.push_back([first.number, self.ends - behind_ns]);
        }
        self.queued_ns = behind_ns;
        self.rests_ns -= first.rest_ns;
        self.turns.pop_front();
        true
    }

    /// Drops the kept ends that are past at `now`.
    #[inline]
    pub(crate) fn pass(&mut self, now: u64) {
        while self.ended.front().is_some_and(|&[_, end]| end <= now) {
            self.ended.pop_front();
        }
    }

    /// Keeps the end of an entry, which is not over, after its removal.
    pub(crate) fn watch(&mut self, number: u64) {
        if let Some(at) = self.place(number) {
            self.turns[at].watched = true;
        }
    }

    /// Keeps the ends of all present entries after their removal.
    #[inline]
    pub(crate) fn watch_all(&mut self) {
        self.watched_below = self.next;
    }

    /// Returns the end of an entry, also of a removed one that was watched; 0 if the end is not kept.
    pub(crate) fn end_of(&self, number: u64) -> u64 {
        let Some(behind) = self.place(number).map(|at| at + 1) else {
            let mut ended = self.ended.iter();
            return ended
                .find(|ended| ended[0] == number)
                .map_or(0, |ended| ended[1]);
        };
        if self.turns.len() - behind <= behind {
            let later = self.turns.range(behind..);
            return self.ends - later.map(Turn::all_ns).sum::<u64>();
        }
        let until = self.turns.range(..behind);
        self.ends - self.queued_ns + until.map(Turn::all_ns).sum::<u64>()
    }

    /// Returns the index of an entry. Its number usually gives the index, because most entries are in order.
    fn place(&self, number: u64) -> Option<usize> {
        let first = self.turns.front()?.number;
        let is_it = |turn: &Turn<T>| turn.number == number;
        let at = number.wrapping_sub(first) as usize;
        if self.turns.get(at).is_some_and(is_it) {
            return Some(at);
        }
        // An entry that is not at its index is over, unless some entries are out of order.
        if first >= self.mixed_below {
            return None;
        }
        self.turns.iter().position(is_it)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_rest_makes_up_for_a_delay_of_what_is_before_it() {
        let mut queue = InOrder::default();
        assert_eq!(queue.push(10, 10, 5, ()), (0, 15));
        assert_eq!(queue.push(18, 18, 5, ()), (1, 23));
        assert_eq!(queue.push(0, 0, 5, ()), (2, 28));
        queue.put_off(4);
        (0..3).for_each(|number| queue.watch(number));
        assert_eq!(queue.first().map(|(begins, _)| begins), Some(14));
        assert_eq!([0, 1, 2].map(|number| queue.end_of(number)), [19, 24, 29]);
        queue.forget_ended(24);
        assert_eq!([0, 1, 2].map(|number| queue.end_of(number)), [19, 24, 29]);
        queue.pass(19);
        assert_eq!([0, 1, 2].map(|number| queue.end_of(number)), [0, 24, 29]);
    }

    #[test]
    fn what_is_pushed_later_goes_before_what_is_asked_for_later() {
        let mut queue = InOrder::default();
        assert_eq!(queue.push(10, 10, 5, ()), (0, 15));
        assert_eq!(queue.push(40, 40, 5, ()), (1, 45));
        assert_eq!(queue.push(50, 50, 5, ()), (2, 55));
        // Into the rest, beyond the rest's end, right before another entry, and between two later ones.
        assert_eq!(queue.push_in_time(12, 8, ()), (3, 23));
        assert_eq!(queue.push_in_time(30, 12, ()), (4, 42));
        assert_eq!(queue.push_in_time(24, 6, ()), (5, 30));
        assert_eq!(queue.push_in_time(46, 9, ()), (6, 56));
        let ends = [0, 3, 5, 4, 1, 6, 2].map(|number| queue.end_of(number));
        assert_eq!(ends, [15, 23, 30, 42, 47, 56, 61]);
        queue.watch(1);
        queue.forget_ended(47);
        assert_eq!([1, 6, 2].map(|number| queue.end_of(number)), [47, 56, 61]);
        let mut ahead = InOrder::default();
        assert_eq!(ahead.push(40, 40, 5, ()), (0, 45));
        assert_eq!(ahead.push_in_time(10, 5, ()), (1, 15));
        assert_eq!(ahead.push_in_time(5, 5, ()), (2, 10));
        assert_eq!([0, 1].map(|number| ahead.end_of(number)), [45, 15]);
        assert_eq!(queue.push_in_time(49, 1, ()), (7, 57));
        assert_eq!(queue.push_in_time(50, 1, ()), (8, 63));
    }

    proptest! {
        /// Compares with a plain list of starts and ends that is updated in full.
        #[test]
        fn ends_are_those_of_a_plain_list(
            steps in proptest::collection::vec((0_u64..40, 1_u64..20, 0_usize..8, 0_u64..30), 1..60),
        ) {
            let mut queue = InOrder::default();
            let mut plain: Vec<[u64; 2]> = Vec::new();
            let mut over = 0;
            for (n, (start, takes_ns, at, by_ns)) in steps.into_iter().enumerate() {
                let start = over + start;
                let begins = plain.last().map_or(start, |last| start.max(last[1]));
                plain.push([begins, begins + takes_ns]);
                prop_assert_eq!(queue.push(start, start, takes_ns, ()), (n as u64, begins + takes_ns));
                queue.watch(n as u64);
                let live = plain.iter().position(|turn| turn[1] > over).unwrap_or(n);
                if live + at < plain.len() {
                    queue.forget_ended(over);
                    queue.stretch(at, 0, by_ns);
                    plain[live + at][1] += by_ns;
                    for later in live + at + 1..plain.len() {
                        let late = plain[later - 1][1].saturating_sub(plain[later][0]);
                        plain[later] = plain[later].map(|time| time + late);
                    }
                }
                for (number, turn) in plain.iter().enumerate() {
                    prop_assert_eq!(queue.end_of(number as u64), turn[1]);
                }
                over = over.max(begins);
            }
        }
    }
}
