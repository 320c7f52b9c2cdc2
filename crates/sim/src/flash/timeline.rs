//! A resource that serves one request at a time and is reserved ahead: a channel or a link.
//!
//! Requests are resolved when they are submitted, so a request for a late time may come before one for an early time. With
//! a single next-free time, the early request would wait for the late one. The timeline therefore keeps the reserved
//! stretches and gives each request the first gap that fits. It merges stretches that touch, so a busy resource holds few.

use serde::{Deserialize, Serialize};

/// A reserved stretch of time, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Stretch {
    start: u64,
    end: u64,
}

/// A request placed among earlier reservations; times in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fitted {
    /// When it begins, and how long it takes.
    pub start: u64,
    pub duration: u64,
    /// Start of the next reservation, which was made before this request and is not over; [`u64::MAX`] if there is none.
    pub next: u64,
    /// End of this request if the next reservation keeps its reported end.
    pub over: u64,
    /// Reported end of this request.
    pub told: u64,
}

impl Fitted {
    /// Returns how much of its duration is left at `at`; before it begins, all of it.
    pub fn left_ns(&self, at: u64) -> u64 {
        if at < self.next {
            (self.start + self.duration).saturating_sub(at.max(self.start))
        } else {
            self.over.saturating_sub(at)
        }
    }
}

/// Reserved stretches of time in order; no two touch.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Timeline {
    /// Live stretches from index `head` on; those before are over.
    reserved: Vec<Stretch>,
    head: usize,
    busy_ns: u64,
}

/// Number of stretches that must be over before they are removed from memory together.
const FORGOTTEN_TOGETHER: usize = 64;
/// In a list longer than `LONG`, the first `NEAR` stretches are searched one by one.
const NEAR: usize = 8;
const LONG: usize = 64;

impl Timeline {
    /// Reserves `duration` ns in the first gap at or after `ready`. Returns the end.
    ///
    /// `now` is the submission clock: no later request is for an earlier time, so stretches that are over by then are removed.
    #[inline]
    pub fn reserve(&mut self, now: u64, ready: u64, duration: u64) -> u64 {
        self.busy_ns += duration;
        while let Some(first) = self.reserved.get(self.head)
            && first.end <= now
        {
            self.head += 1;
        }
        let end = ready + duration;
        if duration == 0 {
            return end;
        }
        match self.reserved.last_mut() {
            // A stretch that is over can only be last if no live stretch is left.
            Some(last) if ready <= last.end && last.end > now => {
                if ready < last.start {
                    return self.reserve_in_gap(ready, duration);
                }
                // Right behind everything reserved.
                last.end += duration;
                last.end
            }
            _ => {
                self.append(ready, end);
                end
            }
        }
    }

    /// Reserves `duration` ns from `ready` on, in as many gaps as needed: data in small frames continues behind
    /// reserved stretches. Returns the end.
    #[inline]
    pub fn share(&mut self, now: u64, ready: u64, duration: u64) -> u64 {
        let in_a_gap = self
            .reserved
            .last()
            .is_some_and(|last| last.end > now && ready < last.start);
        if !in_a_gap || duration == 0 {
            return self.reserve(now, ready, duration);
        }
        self.busy_ns += duration;
        while let Some(first) = self.reserved.get(self.head)
            && first.end <= now
        {
            self.head += 1;
        }
        let live = &self.reserved[self.head..];
        let first = first_ending_from(live, ready);
        let (mut next, mut end) = (first, ready + duration);
        while let Some(taken) = live.get(next)
            && taken.start <= end
        {
            end += taken.end - taken.start.max(ready);
            next += 1;
        }
        let start = live
            .get(first)
            .map_or(ready, |taken| taken.start.min(ready));
        if first == next {
            self.insert(first, Stretch { start, end });
        } else {
            let from = self.head + first;
            self.reserved[from] = Stretch { start, end };
            self.reserved.drain(from + 1..self.head + next);
        }
        end
    }

    /// Reserves as [`share`](Self::share) does, for data that crosses in one piece.
    ///
    /// The end of the next reservation was reported before this request came, so that reservation cannot wait. If at
    /// least half of this request fits before it, the reported end is the uninterrupted one; else the one after an
    /// interruption. For requests at random times the two errors cancel on average.
    #[inline]
    pub fn fit(&mut self, now: u64, ready: u64, duration: u64) -> Fitted {
        let last = self.reserved.last();
        let behind_all = last.is_none_or(|last| last.end <= now || ready >= last.start);
        if behind_all || duration == 0 {
            let over = self.reserve(now, ready, duration);
            return Fitted {
                start: over - duration,
                duration,
                next: u64::MAX,
                over,
                told: over,
            };
        }
        let (start, next) = self.free_stretch(ready);
        let over = self.share(now, start, duration);
        let whole = start + duration;
        let told = if start.midpoint(whole) <= next {
            whole
        } else {
            over
        };
        Fitted {
            start,
            duration,
            next,
            over,
            told,
        }
    }

    /// Returns the first unreserved stretch from `ready` on. Its end is [`u64::MAX`] if nothing behind it is reserved.
    fn free_stretch(&self, ready: u64) -> (u64, u64) {
        let live = &self.reserved[self.head..];
        // A stretch that ends exactly at `ready` does not cover it.
        let mut next = first_ending_from(live, ready + 1);
        let mut start = ready;
        if let Some(taken) = live.get(next)
            && taken.start <= start
        {
            start = taken.end;
            next += 1;
        }
        (start, live.get(next).map_or(u64::MAX, |taken| taken.start))
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

    fn reserve_in_gap(&mut self, ready: u64, duration: u64) -> u64 {
        let live = &mut self.reserved[self.head..];
        let mut at = first_ending_from(live, ready);
        let mut start = ready;
        while at < live.len() && start + duration > live[at].start {
            start = start.max(live[at].end);
            at += 1;
        }
        let end = start + duration;
        let joins_before = at > 0 && live[at - 1].end == start;
        let joins_after = at < live.len() && live[at].start == end;
        match (joins_before, joins_after) {
            (false, false) => self.insert(at, Stretch { start, end }),
            (true, false) => live[at - 1].end = end,
            (false, true) => live[at].start = start,
            (true, true) => {
                live[at - 1].end = live[at].end;
                self.reserved.remove(self.head + at);
            }
        }
        end
    }

    /// Inserts a stretch at index `at` of the live ones, and shifts the shorter side.
    #[inline]
    fn insert(&mut self, at: usize, stretch: Stretch) {
        let live = self.reserved.len() - self.head;
        if self.head > 0 && at <= live / 2 {
            // The first live stretch moves to the slot of one that is over.
            let begin = self.head;
            self.head -= 1;
            self.reserved.copy_within(begin..begin + at, self.head);
            self.reserved[self.head + at] = stretch;
        } else {
            self.reserved.insert(self.head + at, stretch);
        }
    }

    /// Returns the first unreserved time from `at` on.
    pub fn free_from(&self, at: u64) -> u64 {
        if self.ends() <= at {
            at
        } else {
            self.free_stretch(at).0
        }
    }

    /// Returns the end of work that starts at `start` and takes `duration` ns beside the reservations. Reserves nothing.
    #[inline]
    pub fn beside(&self, start: u64, duration: u64) -> u64 {
        let mut end = start + duration;
        if self.ends() <= start {
            return end;
        }
        let live = &self.reserved[self.head..];
        for taken in &live[first_ending_from(live, start)..] {
            if taken.start >= end {
                break;
            }
            end += taken.end.saturating_sub(taken.start.max(start));
        }
        end
    }

    /// Returns the end of the last reserved stretch.
    pub fn ends(&self) -> u64 {
        self.reserved.last().map_or(0, |last| last.end)
    }

    /// Time reserved since the beginning, in ns.
    pub fn busy_ns(&self) -> u64 {
        self.busy_ns
    }
}

/// Returns the index of the first stretch that ends at `ready` or later. A list is long when reads wait far ahead;
/// transfers of programs then go between its first stretches, so these are searched first.
#[inline]
fn first_ending_from(live: &[Stretch], ready: u64) -> usize {
    let near = if live.len() > LONG { NEAR } else { 0 };
    let (first, rest) = live.split_at(near);
    match first.iter().position(|taken| taken.end >= ready) {
        Some(at) => at,
        None => near + rest.partition_point(|taken| taken.end < ready),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The slow reference model: marks every nanosecond.
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

    #[test]
    fn what_is_shared_goes_on_behind_what_is_reserved() {
        let mut link = Timeline::default();
        assert_eq!(link.reserve(0, 10, 5), 15);
        assert_eq!(link.reserve(0, 20, 5), 25);
        // 5 ns before the first stretch, 5 ns between the two, 2 ns behind both.
        assert_eq!(link.share(0, 5, 12), 27);
        assert_eq!(link.reserve(0, 0, 6), 33);
        assert_eq!(link.share(0, 0, 3), 3);
    }

    #[test]
    fn what_is_fitted_in_is_told_its_own_end_or_goes_on_behind() {
        let reserved = || {
            let mut channel = Timeline::default();
            assert_eq!(channel.reserve(0, 20, 10), 30);
            channel
        };
        // All of it fits, more than half fits, less than half fits, nothing is behind it.
        let ends = [(5, 10), (14, 10), (16, 10), (25, 10)]
            .map(|(ready, duration)| reserved().fit(0, ready, duration).told);
        assert_eq!(ends, [15, 24, 36, 40]);
        // Later requests find the channel occupied for the same time, whichever end was reported.
        for ready in [14, 16] {
            let mut channel = reserved();
            channel.fit(0, ready, 10);
            assert_eq!(channel.reserve(0, ready, 1), ready + 10 + 10 + 1);
        }
    }

    #[test]
    fn what_is_left_of_a_read_is_what_did_not_cross() {
        let mut channel = Timeline::default();
        channel.reserve(0, 20, 10);
        let read = channel.fit(0, 16, 10);
        assert_eq!(
            [10, 16, 18, 30, 33, 40].map(|at| read.left_ns(at)),
            [10, 10, 8, 6, 3, 0]
        );
    }

    proptest! {
        #[test]
        fn equals_the_marked_model(requests in proptest::collection::vec((0_u64..30, prop_oneof![0_u64..120, 0_u64..4000], 1_u64..12), 1..300)) {
            let (mut fast, mut slow, mut now) = (Timeline::default(), Marked::default(), 0);
            for (step, ahead, duration) in requests {
                now += step;
                prop_assert_eq!(fast.reserve(now, now + ahead, duration), slow.reserve(now + ahead, duration));
            }
        }
    }
}
