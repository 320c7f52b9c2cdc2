//! Who may stay awake: a thread that looks for the next request without sleeping spares its client the time that waking it
//! takes, and takes a processor from everybody else.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::available_parallelism;

/// Places for threads that stay awake: one processor at least is left to the clients.
#[derive(Debug)]
pub struct Places {
    free: AtomicUsize,
}

impl Places {
    /// As this host has.
    pub fn of_this_host() -> Self {
        let processors = available_parallelism().map_or(1, usize::from);
        Self::new(processors - 1)
    }

    /// So many.
    pub fn new(count: usize) -> Self {
        Self {
            free: AtomicUsize::new(count),
        }
    }

    /// One of them, if one is free.
    pub fn take(&self) -> Option<Place<'_>> {
        let taken = |free: usize| free.checked_sub(1);
        self.free.fetch_update(Relaxed, Relaxed, taken).ok()?;
        Some(Place { of: self })
    }
}

/// A place, until it is dropped.
#[derive(Debug)]
pub struct Place<'a> {
    of: &'a Places,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.of.free.fetch_add(1, Relaxed);
    }
}
