//! What answers behind the server: a simulated drive under one lock, or one that takes a fixed time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use workload::Op;

use crate::request::{Action, Command};
use sim::AnyDrive;

/// Most bytes that the drive is given at once, so that others come in between.
const PIECE_BYTES: u32 = 16 << 20;

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

    /// Gives the drive a command that came at `arrived_ns` on its clock, or after what it was given by others meanwhile.
    /// Returns when it has completed, ns on the same clock.
    pub fn perform(&self, command: &Command, arrived_ns: u64) -> u64 {
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
        let end = command.offset + u64::from(command.length);
        let mut at = command.offset;
        let mut done_ns = arrived_ns;
        while at < end {
            let piece = (end - at).min(u64::from(PIECE_BYTES)) as u32;
            let mut drive = held(drive);
            done_ns = done_ns.max(drive.submit(arrived_ns, op, at, piece));
            at += u64::from(piece);
            if command.durable && at == end {
                done_ns = done_ns.max(drive.durable_at(done_ns));
            }
        }
        done_ns
    }
}

/// A connection that panicked left the drive between two commands.
fn held(drive: &Mutex<AnyDrive>) -> MutexGuard<'_, AnyDrive> {
    drive.lock().unwrap_or_else(PoisonError::into_inner)
}
