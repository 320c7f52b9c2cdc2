//! A resource that serves one request at a time, reserved ahead: a channel, a link.
//!
//! Requests are resolved when they are submitted, so one that will need a channel late may be seen before one that needs it
//! early. A single next-free time would make the second wait for the first. The timeline keeps the reserved stretches
//! and gives each request the first gap that fits; touching stretches are merged, so a busy resource holds few.

use serde::{Deserialize, Serialize};

/// A reserved stretch of time, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Stretch {
    start: u64,
    end: u64,
}

/// Reserved stretches of time in order, none touching another.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Timeline {
    /// From `head` on; what lies before is over.
    reserved: Vec<Stretch>,
    head: usize,
    busy_ns: u64,
}

/// Stretches that are over before they are taken out of memory.
const FORGOTTEN_TOGETHER: usize = 64;
/// Stretches that are looked at one by one, from the last on, before the search halves what is left.
const NEAR_THE_END: usize = 12;

impl Timeline {
    /// Reserves `duration` ns in the first gap at or after `ready`. Returns when it ends.
    ///
    /// `now` is the submission clock: nothing will be asked for before it, so what has ended by then is forgotten.
    #[inline]
    pub fn reserve(&mut self, now: u64, ready: u64, duration: u64) -> u64 {
        while self.reserved.get(self.head).is_some_and(|s| s.end <= now) {
            self.head += 1;
        }
        self.busy_ns += duration;
        if self.head < self.reserved.len()
            && let Some(last) = self.reserved.last_mut()
            && ready <= last.end
        {
            // The common case: right behind everything reserved.
            if ready >= last.start {
                last.end += duration;
                return if duration == 0 { ready } else { last.end };
            }
            return self.reserve_in_gap(ready, duration);
        }
        if duration > 0 {
            self.append(ready, ready + duration);
        }
        ready + duration
    }

    #[inline]
    fn append(&mut self, start: u64, end: u64) {
        if self.head == self.reserved.len() {
            self.reserved.clear();
            self.head = 0;
        } else if self.head >= FORGOTTEN_TOGETHER {
            self.reserved.drain(..self.head);
            self.head = 0;
        }
        self.reserved.push(Stretch { start, end });
    }

    /// The first stretch that ends at `ready` or later.
    #[inline]
    fn first_ending_from(&self, ready: u64) -> usize {
        let live = &self.reserved[self.head..];
        let mut at = live.len();
        let looked_at = live.iter().rev().take(NEAR_THE_END);
        for stretch in looked_at {
            if stretch.end < ready {
                return self.head + at;
            }
            at -= 1;
        }
        self.head + live[..at].partition_point(|stretch| stretch.end < ready)
    }

    fn reserve_in_gap(&mut self, ready: u64, duration: u64) -> u64 {
        if duration == 0 {
            return ready;
        }
        let mut at = self.first_ending_from(ready);
        let mut start = ready;
        while let Some(taken) = self.reserved.get(at) {
            if start + duration <= taken.start {
                break;
            }
            start = start.max(taken.end);
            at += 1;
        }
        self.insert(at, start, start + duration);
        start + duration
    }

    #[inline]
    fn insert(&mut self, at: usize, start: u64, end: u64) {
        let joins_before = at > self.head && self.reserved[at - 1].end == start;
        let joins_after = at < self.reserved.len() && self.reserved[at].start == end;
        match (joins_before, joins_after) {
            (true, true) => {
                self.reserved[at - 1].end = self.reserved[at].end;
                self.reserved.remove(at);
            }
            (true, false) => self.reserved[at - 1].end = end,
            (false, true) => self.reserved[at].start = start,
            (false, false) => self.insert_between(at, Stretch { start, end }),
        }
    }

    #[inline]
    fn insert_between(&mut self, at: usize, stretch: Stretch) {
        if at == self.head && at > 0 {
            // The place of one that is over.
            self.head -= 1;
            self.reserved[at - 1] = stretch;
        } else {
            self.reserved.insert(at, stretch);
        }
    }

    /// Time reserved since the beginning, in ns.
    pub fn busy_ns(&self) -> u64 {
        self.busy_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The slow obvious model: every nanosecond marked.
    #[derive(Default)]
    struct Marked(std::collections::BTreeSet<u64>);
    impl Marked {
        fn reserve(&mut self, ready: u64, duration: u64) -> u64 {
            let mut start = ready;
            while let Some(taken) = (start..start + duration).rev().find(|t| self.0.contains(t)) {
                start = taken + 1;
            }
            self.0.extend(start..start + duration);
            start + duration
        }
    }

    proptest! {
        #[test]
        fn equals_the_marked_model(requests in proptest::collection::vec((0_u64..30, 0_u64..120, 1_u64..12), 1..60)) {
            let (mut fast, mut slow, mut now) = (Timeline::default(), Marked::default(), 0);
            for (step, ahead, duration) in requests {
                now += step;
                prop_assert_eq!(fast.reserve(now, now + ahead, duration), slow.reserve(now + ahead, duration));
            }
        }
    }
}
