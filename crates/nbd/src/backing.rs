//! What answers behind the server: a simulated drive under one lock, or one that takes a fixed time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use workload::Op;

use crate::request::{Action, Command};
use sim::AnyDrive;

/// What answers.
#[derive(Debug, Clone)]
pub enum Backing {
    /// A simulated drive.
    Simulated(Arc<Mutex<AnyDrive>>),
    /// A drive that takes the same time for everything, in ns. One that takes none shows the cost of serving.
    Fixed(u64),
}

impl Backing {
    /// The drive's own clock, ns; where there is none, it stands at zero.
    pub fn now_ns(&self) -> u64 {
        match self {
            Self::Simulated(drive) => held(drive).now_ns(),
            Self::Fixed(_) => 0,
        }
    }

    /// Whether there is a time that a reply can miss, and that is worth to be counted.
    pub fn keeps_time(&self) -> bool {
        matches!(self, Self::Simulated(_))
    }

    /// Gives the drive `piece` bytes of a command, after `done_bytes` of it that complete by `before_ns`. They come at
    /// `arrived_ns` on its clock, or after what it was given by others meanwhile. Returns when all that has completed, ns on
    /// the same clock, and at the end of a durable command is durable.
    pub(crate) fn perform(
        &self,
        command: &Command,
        done_bytes: u32,
        piece: u32,
        arrived_ns: u64,
        before_ns: u64,
    ) -> u64 {
        let drive = match self {
            Self::Simulated(drive) => drive,
            Self::Fixed(ns) => return arrived_ns + ns,
        };
        let op = match command.action {
            Action::Flush => return held(drive).submit_flush(arrived_ns),
            Action::Read => Op::Read,
            Action::Write | Action::ZeroByWrite => Op::Write,
            Action::Trim | Action::ZeroByTrim => Op::Trim,
        };
        let mut drive = held(drive);
        let at = command.offset + u64::from(done_bytes);
        let done_ns = before_ns.max(drive.submit(arrived_ns, op, at, piece));
        if command.durable && done_bytes + piece == command.length {
            return done_ns.max(drive.durable_at(done_ns));
        }
        done_ns
    }
}

/// A connection that panicked left the drive between two commands.
fn held(drive: &Mutex<AnyDrive>) -> MutexGuard<'_, AnyDrive> {
    drive.lock().unwrap_or_else(PoisonError::into_inner)
}
