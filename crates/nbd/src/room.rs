//! Room that several share: bytes, or places, that may still be taken.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// So many bytes, less what is taken.
#[derive(Debug)]
pub struct Room {
    left: AtomicU64,
}

impl Room {
    /// So many.
    pub fn new(bytes: u64) -> Self {
        Self {
            left: AtomicU64::new(bytes),
        }
    }

    /// Takes so many, or none if there are fewer. Whether they were taken.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        let taken = |left: u64| left.checked_sub(bytes);
        self.left.fetch_update(Relaxed, Relaxed, taken).is_ok()
    }

    /// Gives back what was taken.
    pub(crate) fn give(&self, bytes: u64) {
        self.left.fetch_add(bytes, Relaxed);
    }

    /// Takes so many until what is returned is dropped; `None` if there are fewer.
    pub(crate) fn hold(&self, bytes: u64) -> Option<Taken<'_>> {
        self.take(bytes).then(|| Taken { of: self, bytes })
    }
}

/// Bytes of a room, until it is dropped.
#[derive(Debug)]
pub struct Taken<'a> {
    of: &'a Room,
    bytes: u64,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.of.give(self.bytes);
    }
}
