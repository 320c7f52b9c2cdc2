//! Connected clients that wait until there is room for them.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use crate::socket::is_gone;

/// Waiting clients in order of arrival. The server has sent them nothing yet.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    clients: VecDeque<(OwnedFd, Instant)>,
}

impl Waiting {
    pub(crate) fn len(&self) -> usize {
        self.clients.len()
    }

    pub(crate) fn add(&mut self, socket: OwnedFd) {
        self.clients.push_back((socket, Instant::now()));
    }

    /// Removes and returns the client that has waited longest.
    pub(crate) fn next(&mut self) -> Option<OwnedFd> {
        self.clients.pop_front().map(|(socket, _)| socket)
    }

    /// Closes the connections of clients that have gone away or have waited longer than `patience`. Returns the number
    /// of clients that waited too long.
    pub(crate) fn give_up(&mut self, patience: Duration) -> usize {
        self.clients.retain(|(socket, _)| !is_gone(socket));
        let before = self.clients.len();
        self.clients
            .retain(|(_, since)| since.elapsed() <= patience);
        before - self.clients.len()
    }
}
