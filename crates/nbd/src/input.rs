//! Bytes that a client has sent and that the server has not yet looked at.

use std::io;
use std::os::fd::OwnedFd;

use crate::socket::{Moved, try_receive};

/// Space made for the bytes that come next. A payload up to this size needs no reserved memory.
pub(crate) const STEP_BYTES: usize = 256 << 10;
/// A buffer that a large request has enlarged beyond this size is reduced afterwards.
const KEPT_BYTES: usize = 2 << 20;

/// Bytes in order of arrival. The buffer grows as bytes arrive, never because a client announces them.
#[derive(Debug, Default)]
pub(crate) struct Input {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Input {
    /// Returns the bytes that have not been consumed.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Removes the first `count` bytes.
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

    /// Receives what the socket holds, while a message of `awaited` bytes is expected.
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
