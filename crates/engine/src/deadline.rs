//! A moment until which I/O may be issued, moved on by whoever may still do so.
//!
//! A lease that is not renewed in time has to fence its holder, even one whose whole process stood still meanwhile: then
//! no thread of ours runs that could stop the run, so the workers themselves hold the time against it.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;

use crate::sys::monotonic_ns;

/// Until when I/O may be issued, on the monotonic clock.
#[derive(Debug)]
pub struct Deadline(AtomicU64);

impl Deadline {
    /// A deadline that is so far away.
    #[must_use]
    pub fn after(time: Duration) -> Self {
        Self(AtomicU64::new(from_now(time)))
    }

    /// Moves it to so far from now, unless it has passed: what has passed stays so.
    pub fn push(&self, time: Duration) {
        let later = from_now(time);
        let _ = self.0.fetch_update(Release, Relaxed, |at_ns| {
            (at_ns > monotonic_ns()).then_some(later)
        });
    }

    /// Lets it pass at once, and for good.
    pub fn end(&self) {
        self.0.store(0, Release);
    }

    /// Whether it has passed.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        monotonic_ns() >= self.at_ns()
    }

    pub(crate) fn at_ns(&self) -> u64 {
        self.0.load(Acquire)
    }
}

fn from_now(time: Duration) -> u64 {
    let time_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    monotonic_ns().saturating_add(time_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_passed_is_not_pushed_on() {
        let deadline = Deadline::after(Duration::from_secs(60));
        assert!(!deadline.has_passed());
        deadline.push(Duration::ZERO);
        assert!(deadline.has_passed());
        deadline.push(Duration::from_secs(60));
        assert!(deadline.has_passed());
    }

    #[test]
    fn an_end_is_for_good() {
        let deadline = Deadline::after(Duration::from_secs(60));
        deadline.end();
        deadline.push(Duration::from_secs(60));
        assert!(deadline.has_passed());
    }
}
