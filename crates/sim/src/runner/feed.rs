//! A source of I/Os at run time. It draws them ahead, so that the map entries they need can be prefetched in time.

use workload::spec::{Pattern, Stream};
use workload::{Generator, Io, Quota, Schedule, StreamPlan};

/// Number of I/Os that all sources together draw ahead. Simulating them takes longer than a look-up in memory.
const AHEAD: usize = 32;

/// An I/O of an open loop with its intended start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    pub(crate) due_ns: u64,
    pub(crate) io: Io,
}

/// The I/Os that a source still has to give.
#[derive(Debug)]
pub(crate) struct Feed {
    generator: Generator,
    schedule: Option<Schedule>,
    left: Quota,
    /// The next I/Os, in a ring buffer whose length is a power of two; the next one is at `head`.
    ahead: Box<[Io]>,
    head: usize,
    /// Offset at which a sequential source continues.
    cursor: Option<u64>,
}

impl Feed {
    /// Creates the feed of one source; all streams together have `sources` of them.
    pub(crate) fn new(plan: &StreamPlan, source: u32, stream: &Stream, sources: u32) -> Self {
        let mut generator = plan.generator(source);
        let cursor = generator.cursor();
        // Sequential I/Os find their map entries side by side, so they need no prefetch.
        let ahead = match (&stream.pattern, &stream.write_pattern) {
            (Pattern::Sequential { .. }, None | Some(Pattern::Sequential { .. })) => 1,
            _ => (AHEAD / sources.max(1) as usize).max(1).next_power_of_two(),
        };
        Self {
            ahead: (0..ahead).map(|_| generator.next()).collect(),
            head: 0,
            schedule: plan.schedule(source),
            left: plan.quota(source),
            cursor,
            generator,
        }
    }

    /// Returns the I/O that was drawn last, for which map entries can be prefetched.
    #[inline]
    pub(crate) fn furthest(&self) -> Io {
        self.ahead[self.head.wrapping_sub(1) & (self.ahead.len() - 1)]
    }

    /// Returns whether the source has used up its quota.
    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        self.left.ios == 0 || self.left.bytes == 0
    }

    /// Returns the next I/O; `None` if the quota is used up.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Io> {
        if self.is_spent() {
            return None;
        }
        let io = std::mem::replace(&mut self.ahead[self.head], self.generator.next());
        self.head = (self.head + 1) & (self.ahead.len() - 1);
        self.left.ios -= 1;
        self.left.bytes = self.left.bytes.saturating_sub(u64::from(io.length));
        if let Some(cursor) = &mut self.cursor {
            *cursor = io.offset + u64::from(io.length);
        }
        Some(io)
    }

    /// Returns the next arrival before `stop_ns`; `None` if the source has no more.
    pub(crate) fn next_due(&mut self, stop_ns: u64) -> Option<Arrival> {
        let due_ns = self.schedule.as_mut()?.next();
        if due_ns >= stop_ns {
            self.left.ios = 0;
        }
        let io = self.next()?;
        Some(Arrival { due_ns, io })
    }

    pub(crate) fn cursor(&self) -> Option<u64> {
        self.cursor
    }
}
