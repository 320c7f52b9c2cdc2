//! When a client last got on with something, and whether it has to make room for another.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Instead of a time: the connection is to end.
const LEAVE: u64 = u64::MAX;

/// Shared by a connection, which says that it moves, and the server, which may ask it to leave because it does not.
///
/// One word holds both, so that a client that moves at the last moment stays.
#[derive(Debug)]
pub struct Activity {
    since_ns: AtomicU64,
}

impl Activity {
    /// Active at `now_ns` on the server's clock.
    pub fn starting_at(now_ns: u64) -> Self {
        Self {
            since_ns: AtomicU64::new(now_ns),
        }
    }

    /// A request has come whole, or a reply waits for the drive: the client is not what is waited for.
    pub(crate) fn moved(&self, now_ns: u64) {
        self.since_ns.store(now_ns, Relaxed);
    }

    /// When it last moved; `None` if it has been asked to leave.
    pub(crate) fn last_moved_ns(&self) -> Option<u64> {
        Some(self.since_ns.load(Relaxed)).filter(|since| *since != LEAVE)
    }

    /// Asks it to leave, unless it has moved since `since_ns`.
    pub(crate) fn ask_to_leave(&self, since_ns: u64) {
        let _ = self
            .since_ns
            .compare_exchange(since_ns, LEAVE, Relaxed, Relaxed);
    }

    /// Whether the connection is to end.
    pub(crate) fn is_to_leave(&self) -> bool {
        self.last_moved_ns().is_none()
    }
}
