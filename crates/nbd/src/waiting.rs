//! Clients that are connected and wait until there is room for them.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use crate::socket::is_gone;

/// In the order in which they came. Nothing has been said to them yet.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    clients: VecDeque<(OwnedFd, Instant)>,
}

impl Waiting {
    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.clients.len()
    }

    /// One more.
    pub(crate) fn add(&mut self, socket: OwnedFd) {
        self.clients.push_back((socket, Instant::now()));
    }

    /// Who has waited for longest.
    pub(crate) fn next(&mut self) -> Option<OwnedFd> {
        self.clients.pop_front().map(|(socket, _)| socket)
    }

    /// Closes the connections of those who have gone away, or have waited for longer than `patience`. Returns how many
    /// waited in vain.
    pub(crate) fn give_up(&mut self, patience: Duration) -> usize {
        self.clients.retain(|(socket, _)| !is_gone(socket));
        let before = self.clients.len();
        self.clients
            .retain(|(_, since)| since.elapsed() <= patience);
        before - self.clients.len()
    }
}
