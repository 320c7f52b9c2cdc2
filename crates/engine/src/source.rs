//! The sequence of I/Os of one source at run time: the next I/O, its due time, and the end of the sequence.

use std::sync::{Mutex, MutexGuard, PoisonError};

use workload::{Generator, Io, Quota, Schedule, StreamPlan};

/// One source of a stream. In a closed loop its only worker keeps it locked for the whole run, which costs nothing. In
/// an open loop the workers lock it for each arrival.
#[derive(Debug)]
pub(crate) struct Source(Mutex<Feed>);

/// An I/O of an open loop and its intended start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) due_ns: u64,
    pub(crate) io: Io,
}

/// The I/Os that a source has yet to give.
#[derive(Debug)]
pub(crate) struct Feed {
    generator: Generator,
    schedule: Option<Schedule>,
    left: Quota,
    /// Whether arrivals ended because the next one is due after the stop, and not because the quota is used up.
    past_stop: bool,
}

impl Source {
    pub(crate) fn new(plan: &StreamPlan, source: u32) -> Self {
        Self(Mutex::new(Feed {
            generator: plan.generator(source),
            schedule: plan.schedule(source),
            left: quota(plan, source),
            past_stop: false,
        }))
    }

    /// Locks the feed. A panic in another worker leaves it intact, between two I/Os.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Feed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a source's quota. A quota of no bytes becomes a quota of no I/Os, so that [`Feed::next`] checks only one
/// count.
fn quota(plan: &StreamPlan, source: u32) -> Quota {
    let quota = plan.quota(source);
    if quota.bytes == 0 {
        return Quota { ios: 0, ..quota };
    }
    quota
}

impl Feed {
    /// Returns the next I/O; `None` if the source's quota is used up.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Io> {
        if self.left.ios == 0 {
            return None;
        }
        self.left.ios -= 1;
        let io = self.generator.next();
        if self.left.bytes != u64::MAX {
            self.take_bytes(io.length);
        }
        Some(io)
    }

    /// Counts an I/O against a quota in bytes. When the bytes are used up, no I/Os are left either.
    #[inline(never)]
    fn take_bytes(&mut self, length: u32) {
        self.left.bytes = self.left.bytes.saturating_sub(u64::from(length));
        if self.left.bytes == 0 {
            self.left.ios = 0;
        }
    }

    /// Returns whether the quota is in bytes. Then each I/O's size must be known before the next I/O can be granted.
    pub(crate) fn counts_bytes(&self) -> bool {
        self.left.bytes != u64::MAX
    }

    /// Grants up to `wanted` I/Os, which the caller must then draw. Returns the number granted. Not for a quota in
    /// bytes.
    #[inline]
    pub(crate) fn grant(&mut self, wanted: usize) -> usize {
        let granted = self.left.ios.min(wanted as u64);
        self.left.ios -= granted;
        granted as usize
    }

    /// Returns an I/O that was granted.
    #[inline]
    pub(crate) fn draw(&mut self) -> Io {
        self.generator.next()
    }

    /// Returns the next arrival before `stop_ns`; `None` if there are no more, now or later.
    pub(crate) fn next_due(&mut self, stop_ns: u64) -> Option<Arrival> {
        let due_ns = self.schedule.as_mut()?.next();
        if due_ns >= stop_ns && self.left.ios > 0 {
            self.past_stop = true;
            self.left.ios = 0;
        }
        let io = self.next()?;
        Some(Arrival { due_ns, io })
    }

    /// Returns whether no arrival is left before the stop, although the time until then still belongs to the run.
    pub(crate) fn is_past_stop(&self) -> bool {
        self.past_stop
    }

    /// Returns the next byte offset of a sequential source.
    pub(crate) fn cursor(&self) -> Option<u64> {
        self.generator.cursor()
    }
}
