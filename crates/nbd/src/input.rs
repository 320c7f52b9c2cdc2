//! What a client sent and nobody has looked at yet.

use std::io;
use std::os::fd::OwnedFd;

use crate::socket::{Moved, try_receive};

/// Room made for what comes next; what has come of a request is not counted as taking memory until it is more than this.
pub(crate) const STEP_BYTES: usize = 256 << 10;
/// A buffer that a large request has blown up is given back after it.
const KEPT_BYTES: usize = 2 << 20;

/// Bytes in the order in which they came. Room is made as they come, never because a client says that they will.
#[derive(Debug, Default)]
pub(crate) struct Input {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Input {
    /// What is there.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Done with the first `count` bytes.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start += count;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.buffer.len() > KEPT_BYTES && self.bytes().len() <= STEP_BYTES {
            self.buffer = self.bytes().to_vec();
            (self.start, self.end) = (0, self.buffer.len());
        }
    }

    /// Takes from the socket what is there, when a message of `awaited` bytes is waited for.
    pub(crate) fn receive(&mut self, socket: &OwnedFd, awaited: usize) -> io::Result<Moved> {
        if self.buffer.len() - self.end < STEP_BYTES {
            self.make_room(awaited);
        }
        let moved = try_receive(socket, &mut self.buffer[self.end..])?;
        if let Moved::Bytes(count) = moved {
            self.end += count;
        }
        Ok(moved)
    }

    fn make_room(&mut self, awaited: usize) {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if self.buffer.len() - self.end < STEP_BYTES {
            let larger = (self.buffer.len() * 2)
                .min(awaited)
                .max(self.end + STEP_BYTES);
            self.buffer.reserve_exact(larger - self.buffer.len());
            self.buffer.resize(larger, 0);
        }
    }
}
