//! An amount that several users share: bytes, or places.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes or places that are still free.
#[derive(Debug)]
pub struct Room {
    left: AtomicU64,
}

impl Room {
    /// Returns a room in which `bytes` are free.
    pub fn new(bytes: u64) -> Self {
        Self {
            left: AtomicU64::new(bytes),
        }
    }

    /// Takes `bytes`, or nothing if fewer are free. Returns whether they were taken.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        let taken = |left: u64| left.checked_sub(bytes);
        self.left.fetch_update(Relaxed, Relaxed, taken).is_ok()
    }

    /// Gives back what was taken.
    pub(crate) fn give(&self, bytes: u64) {
        self.left.fetch_add(bytes, Relaxed);
    }

    /// Takes `bytes` until the returned value is dropped; `None` if fewer are free.
    pub(crate) fn hold(&self, bytes: u64) -> Option<Taken<'_>> {
        self.take(bytes).then(|| Taken { of: self, bytes })
    }
}

/// Bytes taken from a room; dropping this gives them back.
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
