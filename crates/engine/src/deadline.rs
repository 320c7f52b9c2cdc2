//! A deadline after which no I/O may be issued; the holder of a lease moves it forward.
//!
//! A lease that is not renewed in time must fence its holder, even if the holder's whole process was stopped meanwhile.
//! In that case no other thread of the process could stop the run in time, so each worker checks the deadline itself.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;

use crate::sys::monotonic_ns;

/// Time until which I/O may be issued, on `CLOCK_MONOTONIC`.
#[derive(Debug)]
pub struct Deadline(AtomicU64);

impl Deadline {
    /// Returns a deadline that lies `time` from now.
    #[must_use]
    pub fn after(time: Duration) -> Self {
        Self(AtomicU64::new(from_now(time)))
    }

    /// Moves the deadline to `time` from now. A deadline that has passed stays passed.
    pub fn push(&self, time: Duration) {
        let later = from_now(time);
        let _ = self.0.fetch_update(Release, Relaxed, |at_ns| {
            (at_ns > monotonic_ns()).then_some(later)
        });
    }

    /// Makes the deadline pass at once and for good.
    pub fn end(&self) {
        self.0.store(0, Release);
    }

    /// Returns whether the deadline has passed.
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
