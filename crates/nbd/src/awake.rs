//! Limits the threads that stay awake. A thread that looks for the next request without sleeping saves its client the
//! time of waking it, but takes a processor from everybody else.

use std::thread::available_parallelism;

use crate::room::{Room, Taken};

/// Places for threads that stay awake: at least one processor is left to the clients.
#[derive(Debug)]
pub struct Places {
    free: Room,
}

impl Places {
    /// Returns one place less than this host has processors.
    pub fn of_this_host() -> Self {
        let processors = available_parallelism().map_or(1, usize::from);
        Self::new(processors - 1)
    }

    /// Returns `count` places.
    pub fn new(count: usize) -> Self {
        Self {
            free: Room::new(count as u64),
        }
    }

    /// Takes a place if one is free. Dropping the returned value frees the place.
    pub fn take(&self) -> Option<Taken<'_>> {
        self.free.hold(1)
    }
}
