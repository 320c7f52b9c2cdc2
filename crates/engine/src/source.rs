//! A counted sequence of I/Os at run time: what comes next, when it is due, and when it is over.

use std::sync::{Mutex, MutexGuard, PoisonError};

use workload::{Generator, Io, Quota, Schedule, StreamPlan};

/// One source of a stream. In a closed loop its only worker keeps it locked for the whole run, which costs nothing; in an
/// open loop the workers lock it for each arrival.
#[derive(Debug)]
pub(crate) struct Source(Mutex<Feed>);

/// An I/O of an open loop and when it is meant to start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) due_ns: u64,
    pub(crate) io: Io,
}

/// What a source still has to give.
#[derive(Debug)]
pub(crate) struct Feed {
    generator: Generator,
    schedule: Option<Schedule>,
    left: Quota,
    /// Arrivals are over because the next one is due after the stop, and not because the quota is used up.
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

    /// The feed; a panic of another worker leaves it as it was between two I/Os.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Feed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a source may issue. Without a byte to issue there is no I/O either, so that [`Feed::next`] has one thing to look at.
fn quota(plan: &StreamPlan, source: u32) -> Quota {
    let quota = plan.quota(source);
    if quota.bytes == 0 {
        return Quota { ios: 0, ..quota };
    }
    quota
}

impl Feed {
    /// The next I/O; `None` when the source's quota is used up.
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

    /// Counts an I/O against a quota in bytes; when that is used up, no I/O is left either.
    #[inline(never)]
    fn take_bytes(&mut self, length: u32) {
        self.left.bytes = self.left.bytes.saturating_sub(u64::from(length));
        if self.left.bytes == 0 {
            self.left.ios = 0;
        }
    }

    /// Whether the quota is in bytes, so that each I/O's size must be known before the next can be granted.
    pub(crate) fn counts_bytes(&self) -> bool {
        self.left.bytes != u64::MAX
    }

    /// How many of the `wanted` I/Os may be drawn, which they must then be. Not for a quota in bytes.
    #[inline]
    pub(crate) fn grant(&mut self, wanted: usize) -> usize {
        let granted = self.left.ios.min(wanted as u64);
        self.left.ios -= granted;
        granted as usize
    }

    /// An I/O that was granted.
    #[inline]
    pub(crate) fn draw(&mut self) -> Io {
        self.generator.next()
    }

    /// The next arrival before `stop_ns`; `None` when there is no more, now and ever.
    pub(crate) fn next_due(&mut self, stop_ns: u64) -> Option<Arrival> {
        let due_ns = self.schedule.as_mut()?.next();
        if due_ns >= stop_ns && self.left.ios > 0 {
            self.past_stop = true;
            self.left.ios = 0;
        }
        let io = self.next()?;
        Some(Arrival { due_ns, io })
    }

    /// Whether the time until the stop goes by without another arrival, and still belongs to the run.
    pub(crate) fn is_past_stop(&self) -> bool {
        self.past_stop
    }

    /// Where a sequential source goes on.
    pub(crate) fn cursor(&self) -> Option<u64> {
        self.generator.cursor()
    }
}
