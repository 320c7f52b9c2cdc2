//! The drive behind the server: a simulated drive under one lock, or a drive that takes a fixed time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use workload::Op;

use crate::request::{Action, Command};
use sim::AnyDrive;

/// The drive that carries out commands.
#[derive(Debug, Clone)]
pub enum Backing {
    /// A simulated drive.
    Simulated(Arc<Mutex<AnyDrive>>),
    /// A drive that takes the same time for every command, in ns. With 0 ns it shows the cost of serving alone.
    Fixed(u64),
}

impl Backing {
    /// Returns the time on the drive's own clock in ns; 0 for a fixed drive, which has no clock.
    pub fn now_ns(&self) -> u64 {
        match self {
            Self::Simulated(drive) => held(drive).now_ns(),
            Self::Fixed(_) => 0,
        }
    }

    /// Returns whether late replies are to be counted: a fixed drive has no time that a reply could miss.
    pub fn keeps_time(&self) -> bool {
        matches!(self, Self::Simulated(_))
    }

    /// Gives the drive `piece` bytes of a command, after `done_bytes` of it that complete by `before_ns`. The piece
    /// arrives at `arrived_ns` on the drive's clock, or after the work that other clients have given the drive
    /// meanwhile. Returns when all pieces so far have completed, in ns on the same clock. After the last piece of a
    /// durable command, returns when its data is durable.
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

/// Locks the drive. A connection that panicked has left the drive between two commands.
fn held(drive: &Mutex<AnyDrive>) -> MutexGuard<'_, AnyDrive> {
    drive.lock().unwrap_or_else(PoisonError::into_inner)
}
