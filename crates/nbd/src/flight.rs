//! What the drive has been given and has not completed: so much of each client, and so much more of all together.
//!
//! A drive serves in the order in which it is given work. What a client asks for beyond this waits with the client: another
//! one comes in between, and what is asked for by a client that leaves need not be done any more.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::request::Command;
use crate::room::Room;

/// Most that the drive is given at once ...
const PIECE_BYTES: u32 = 1 << 20;
/// ... and of what moves no data.
const TRIM_PIECE_BYTES: u32 = 16 << 20;
/// A client's own part: whatever others ask for, so much of it may be in the drive.
const OWN_BYTES: u64 = PIECE_BYTES as u64;
/// What all together may have in the drive beyond their own parts: more than keeps any drive busy.
pub const SHARED_BYTES: u64 = 32 << 20;

/// The piece of a command that comes after `done_bytes` of it, and the bytes that it moves.
pub(crate) fn piece(command: &Command, done_bytes: u32) -> (u32, u64) {
    let left = command.length - done_bytes;
    if command.moved_bytes() > 0 {
        let bytes = left.min(PIECE_BYTES);
        (bytes, u64::from(bytes))
    } else {
        (left.min(TRIM_PIECE_BYTES), 0)
    }
}

/// Where the room for a piece comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Own,
    Shared,
}

/// What one client has in the drive.
#[derive(Debug)]
pub(crate) struct Flight<'a> {
    shared: &'a Room,
    own: Room,
    /// When each piece is complete, with its bytes.
    ends: BinaryHeap<Reverse<(u64, u64, Part)>>,
}

impl<'a> Flight<'a> {
    pub(crate) fn new(shared: &'a Room) -> Self {
        Self {
            shared,
            own: Room::new(OWN_BYTES),
            ends: BinaryHeap::new(),
        }
    }

    /// Room for a piece, if the drive may be given it now.
    pub(crate) fn take(&self, bytes: u64) -> Option<Part> {
        if self.own.take(bytes) {
            Some(Part::Own)
        } else {
            self.shared.take(bytes).then_some(Part::Shared)
        }
    }

    /// The piece for which room was taken is complete at `done_ns`.
    pub(crate) fn given(&mut self, bytes: u64, part: Part, done_ns: u64) {
        self.ends.push(Reverse((done_ns, bytes, part)));
    }

    /// When the next piece is complete; `None` when nothing is in the drive.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.ends.peek().map(|Reverse((done_ns, _, _))| *done_ns)
    }

    /// Gives back the room of what is complete.
    pub(crate) fn settle(&mut self, now_ns: u64) {
        while let Some(&Reverse((done_ns, bytes, part))) = self.ends.peek() {
            if done_ns > now_ns {
                return;
            }
            self.ends.pop();
            match part {
                Part::Own => self.own.give(bytes),
                Part::Shared => self.shared.give(bytes),
            }
        }
    }
}
