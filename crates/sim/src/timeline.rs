//! A resource that serves one request at a time, reserved ahead: a channel, a link.
//!
//! Requests are resolved when they are submitted, so one that will need a channel late may be seen before one that needs it
//! early. A single next-free time would make the second wait for the first. The timeline keeps the reserved stretches
//! and gives each request the first gap that fits; touching stretches are merged, so a busy resource holds few.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Reserved stretches of time in ns, in order, none touching another.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Timeline {
    reserved: VecDeque<(u64, u64)>,
    busy_ns: u64,
}

impl Timeline {
    /// Reserves `duration` ns in the first gap at or after `ready`. Returns when it ends.
    ///
    /// `now` is the submission clock: nothing will be asked for before it, so what has ended by then is forgotten.
    #[inline]
    pub fn reserve(&mut self, now: u64, ready: u64, duration: u64) -> u64 {
        while self.reserved.front().is_some_and(|&(_, end)| end <= now) {
            self.reserved.pop_front();
        }
        self.busy_ns += duration;
        if duration == 0 {
            return ready;
        }
        // The common case: at or after everything reserved.
        match self.reserved.back_mut() {
            None => {
                self.reserved.push_back((ready, ready + duration));
                return ready + duration;
            }
            Some((start, end)) if ready >= *start => {
                if ready > *end {
                    self.reserved.push_back((ready, ready + duration));
                    return ready + duration;
                }
                *end += duration;
                return *end;
            }
            Some(_) => {}
        }
        self.reserve_in_gap(ready, duration)
    }

    fn reserve_in_gap(&mut self, ready: u64, duration: u64) -> u64 {
        let mut at = self.reserved.partition_point(|&(_, end)| end < ready);
        let mut start = ready;
        while let Some(&(taken_from, taken_to)) = self.reserved.get(at) {
            if start + duration <= taken_from {
                break;
            }
            start = start.max(taken_to);
            at += 1;
        }
        self.insert(at, start, start + duration);
        start + duration
    }

    fn insert(&mut self, at: usize, start: u64, end: u64) {
        let joins_before = at > 0 && self.reserved[at - 1].1 == start;
        let joins_after = at < self.reserved.len() && self.reserved[at].0 == end;
        match (joins_before, joins_after) {
            (true, true) => {
                self.reserved[at - 1].1 = self.reserved[at].1;
                self.reserved.remove(at);
            }
            (true, false) => self.reserved[at - 1].1 = end,
            (false, true) => self.reserved[at].0 = start,
            (false, false) => self.reserved.insert(at, (start, end)),
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
