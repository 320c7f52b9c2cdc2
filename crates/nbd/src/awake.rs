//! Who may stay awake: a thread that looks for the next request without sleeping spares its client the time that waking it
//! takes, and takes a processor from everybody else.

use std::thread::available_parallelism;

use crate::room::{Room, Taken};

/// Places for threads that stay awake: one processor at least is left to the clients.
#[derive(Debug)]
pub struct Places {
    free: Room,
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
            free: Room::new(count as u64),
        }
    }

    /// One of them, if one is free.
    pub fn take(&self) -> Option<Taken<'_>> {
        self.free.hold(1)
    }
}
