//! What clients have asked of the drive, and what of it the drive has been given and has not completed: so much of each
//! client, and so much more of all together.
//!
//! A drive serves in the order in which it is given work. What a client asks for beyond this waits with the client: another
//! one comes in between, and what is asked for by a client that leaves need not be done any more.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::thread;
use std::time::Duration;

use crate::outbox::{Held, Outbox};
use crate::request::{Action, Command};
use crate::room::Room;
use crate::shared::{LOOK_EVERY, Shared};

/// Most that the drive is given at once ...
const PIECE_BYTES: u32 = 1 << 20;
/// ... and of what moves no data.
const TRIM_PIECE_BYTES: u32 = 16 << 20;
/// A client's own part: whatever others ask for, so much of it may be in the drive.
const OWN_BYTES: u64 = PIECE_BYTES as u64;
/// What all together may have in the drive beyond their own parts: more than keeps any drive busy.
pub const SHARED_BYTES: u64 = 32 << 20;

/// The piece of a command that comes after `done_bytes` of it, and the bytes that it moves.
fn piece(command: &Command, done_bytes: u32) -> (u32, u64) {
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
enum Part {
    Own,
    Shared,
}

/// A command of which the drive has not been given all.
#[derive(Debug)]
struct Work {
    command: Command,
    held: Held,
    /// When the rest can be given at the earliest, ns on the drive's clock.
    ready_ns: u64,
    done_bytes: u32,
}

/// What one client has asked, and has in the drive.
#[derive(Debug)]
pub(crate) struct Flight<'a> {
    /// In the order in which it came.
    work: VecDeque<Work>,
    shared: &'a Room,
    own: Room,
    /// When each piece is complete, with its bytes.
    ends: BinaryHeap<Reverse<(u64, u64, Part)>>,
}

impl<'a> Flight<'a> {
    pub(crate) fn new(shared: &'a Room) -> Self {
        Self {
            work: VecDeque::new(),
            shared,
            own: Room::new(OWN_BYTES),
            ends: BinaryHeap::new(),
        }
    }

    /// Commands of which the drive has not been given all.
    pub(crate) fn waiting(&self) -> usize {
        self.work.len()
    }

    /// One more command, which came at the time that its reply is due, and the reply.
    pub(crate) fn ask(&mut self, command: Command, held: Held) {
        self.work.push_back(Work {
            command,
            held,
            ready_ns: held.done_ns,
            done_bytes: 0,
        });
    }

    /// Gives the drive as much as it may have now; `outbox` holds the replies to what it has whole.
    pub(crate) fn give(&mut self, shared: &Shared, outbox: &mut Outbox) {
        if self.work.is_empty() && self.ends.is_empty() {
            return;
        }
        let now_ns = shared.clock.now_ns();
        // Of a client that has stopped too: others may want the room.
        self.settle(now_ns);
        if !outbox.has_room() {
            return;
        }
        while let Some(mut work) = self.work.pop_front() {
            let (piece, bytes) = piece(&work.command, work.done_bytes);
            let Some(part) = self.take(bytes) else {
                work.ready_ns = now_ns;
                self.work.push_front(work);
                return;
            };
            let held = &mut work.held;
            held.done_ns = shared.backing.perform(
                &work.command,
                work.done_bytes,
                piece,
                work.ready_ns,
                held.done_ns,
            );
            self.ends.push(Reverse((held.done_ns, bytes, part)));
            work.done_bytes += piece;
            if work.done_bytes < work.command.length {
                self.work.push_front(work);
                continue;
            }
            shared.tally.performed(&work.command);
            let moved = match work.command.action {
                Action::Read | Action::Write => held.bytes,
                _ => 0,
            };
            held.send_ns = held.done_ns.saturating_sub(shared.cost.of(moved));
            outbox.hold(*held);
            if !outbox.has_room() {
                return;
            }
        }
    }

    /// Room for a piece, if the drive may be given it now.
    fn take(&self, bytes: u64) -> Option<Part> {
        if self.own.take(bytes) {
            Some(Part::Own)
        } else {
            self.shared.take(bytes).then_some(Part::Shared)
        }
    }

    /// When the drive may be given more; `None` when there is no more, or the client has to take replies first.
    pub(crate) fn goes_on_ns(&self, outbox: &Outbox) -> Option<u64> {
        let waits = !self.work.is_empty() && outbox.has_room();
        waits.then(|| self.next_ns().unwrap_or(0))
    }

    /// When the next piece is complete; `None` when nothing is in the drive.
    fn next_ns(&self) -> Option<u64> {
        self.ends.peek().map(|Reverse((done_ns, _, _))| *done_ns)
    }

    /// Waits for what the drive has been given: only then the place is another's, as who comes and goes could give the
    /// drive more than who stays.
    pub(crate) fn land(mut self, shared: &Shared) {
        while let Some(done_ns) = self.next_ns().filter(|_| !shared.is_stopping()) {
            let left_ns = done_ns.saturating_sub(shared.clock.now_ns());
            thread::sleep(Duration::from_nanos(left_ns).min(LOOK_EVERY));
            self.settle(shared.clock.now_ns());
        }
    }

    /// Gives back the room of what is complete.
    fn settle(&mut self, now_ns: u64) {
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
