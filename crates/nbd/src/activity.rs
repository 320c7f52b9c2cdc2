//! When a client last made progress, and whether it has to make room for another client.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Stored instead of a time when the connection is to end.
const LEAVE: u64 = u64::MAX;

/// State shared by a connection, which reports its progress, and the server, which may ask an idle connection to leave.
///
/// One word holds both, so that a client that makes progress at the last moment stays.
#[derive(Debug)]
pub struct Activity {
    since_ns: AtomicU64,
}

impl Activity {
    /// Returns the state of a client that was active at `now_ns` on the server's clock.
    pub fn starting_at(now_ns: u64) -> Self {
        Self {
            since_ns: AtomicU64::new(now_ns),
        }
    }

    /// Records progress: a whole request has arrived, or a reply waits for the drive and not for the client.
    pub(crate) fn moved(&self, now_ns: u64) {
        self.since_ns.store(now_ns, Relaxed);
    }

    /// Returns when the client last made progress; `None` if it has been asked to leave.
    pub(crate) fn last_moved_ns(&self) -> Option<u64> {
        Some(self.since_ns.load(Relaxed)).filter(|since| *since != LEAVE)
    }

    /// Asks the client to leave, unless it has made progress since `since_ns`.
    pub(crate) fn ask_to_leave(&self, since_ns: u64) {
        let _ = self
            .since_ns
            .compare_exchange(since_ns, LEAVE, Relaxed, Relaxed);
    }

    /// Returns whether the connection is to end.
    pub(crate) fn is_to_leave(&self) -> bool {
        self.last_moved_ns().is_none()
    }
}
