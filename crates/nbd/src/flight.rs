//! Limits the work that the drive has been given and has not completed: a share for each client, and a further amount
//! for all clients together.
//!
//! A drive serves work in the order in which it is given. Requests beyond the limits wait with their client. So
//! requests of other clients can come in between, and requests of a client that leaves need not be carried out.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::thread;
use std::time::Duration;

use crate::outbox::{Held, Outbox};
use crate::request::{Action, Command};
use crate::room::Room;
use crate::shared::{LOOK_EVERY, Shared};

/// Largest piece of a command that is given to the drive at once, in bytes.
const PIECE_BYTES: u32 = 1 << 20;
/// The same limit for commands that move no data.
const TRIM_PIECE_BYTES: u32 = 16 << 20;
/// Share of one client in bytes: it may have this much in the drive, whatever other clients ask for.
const OWN_BYTES: u64 = PIECE_BYTES as u64;
/// Bytes that all clients together may have in the drive beyond their own shares: more than enough to keep any drive busy.
pub const SHARED_BYTES: u64 = 32 << 20;

/// Returns the length of the piece that follows `done_bytes` of a command, and the bytes that the piece moves.
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

/// A command that the drive has not been given completely.
#[derive(Debug)]
struct Work {
    command: Command,
    held: Held,
    /// Earliest time at which the next piece can be given, in ns on the drive's clock.
    ready_ns: u64,
    done_bytes: u32,
}

/// Requests of one client that wait, and its pieces in the drive.
#[derive(Debug)]
pub(crate) struct Flight<'a> {
    /// Commands in order of arrival.
    work: VecDeque<Work>,
    shared: &'a Room,
    own: Room,
    /// For each piece in the drive: completion time, bytes, and where its room came from.
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

    /// Returns the number of commands that the drive has not been given completely.
    pub(crate) fn waiting(&self) -> usize {
        self.work.len()
    }

    /// Adds a command and its reply. `held.done_ns` is the time at which the command arrived.
    pub(crate) fn ask(&mut self, command: Command, held: Held) {
        self.work.push_back(Work {
            command,
            held,
            ready_ns: held.done_ns,
            done_bytes: 0,
        });
    }

    /// Gives the drive as much as the limits allow now. Passes the replies of completely given commands to `outbox`.
    pub(crate) fn give(&mut self, shared: &Shared, outbox: &mut Outbox) {
        if self.work.is_empty() && self.ends.is_empty() {
            return;
        }
        let now_ns = shared.clock.now_ns();
        // Also for a client that takes no replies, because other clients may want the room.
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

    /// Takes room for a piece, if the drive may be given the piece now.
    fn take(&self, bytes: u64) -> Option<Part> {
        if self.own.take(bytes) {
            Some(Part::Own)
        } else {
            self.shared.take(bytes).then_some(Part::Shared)
        }
    }

    /// Returns when the drive may be given more, in ns. `None` if there is nothing more, or if the client has to take
    /// replies first.
    pub(crate) fn goes_on_ns(&self, outbox: &Outbox) -> Option<u64> {
        let waits = !self.work.is_empty() && outbox.has_room();
        waits.then(|| self.next_ns().unwrap_or(0))
    }

    /// Returns when the next piece completes, in ns; `None` if nothing is in the drive.
    fn next_ns(&self) -> Option<u64> {
        self.ends.peek().map(|Reverse((done_ns, _, _))| *done_ns)
    }

    /// Waits until the drive has completed the client's pieces; only then may another client take the place. Otherwise
    /// clients that come and go could give the drive more work than clients that stay.
    pub(crate) fn land(mut self, shared: &Shared) {
        while let Some(done_ns) = self.next_ns().filter(|_| !shared.is_stopping()) {
            let left_ns = done_ns.saturating_sub(shared.clock.now_ns());
            thread::sleep(Duration::from_nanos(left_ns).min(LOOK_EVERY));
            self.settle(shared.clock.now_ns());
        }
    }

    /// Frees the room of completed pieces.
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
