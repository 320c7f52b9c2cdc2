//! Counts of what was served, and the lateness of replies.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use metrics::Histogram;

use crate::request::{Action, Command};

/// Counters that all connections update while they run.
#[derive(Debug, Default)]
pub struct Tally {
    reads: AtomicU64,
    writes: AtomicU64,
    trims: AtomicU64,
    flushes: AtomicU64,
    read_bytes: AtomicU64,
    written_bytes: AtomicU64,
    refused: AtomicU64,
    late: AtomicU64,
    dropped: AtomicU64,
    lateness: Mutex<Histogram>,
    connections: AtomicU64,
    turned_away: AtomicU64,
    idle: AtomicU64,
    violations: AtomicU64,
    broken: AtomicU64,
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The client disconnected in order, or nothing was under way.
    Clean,
    /// The client broke the protocol or took too long to negotiate.
    Violated,
    /// The client went away in the middle of a message or of the negotiation.
    Broken,
    /// The client was idle while others waited, and was asked to leave.
    Idle,
}

/// The counts at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Reads.
    pub reads: u64,
    /// Writes, including zeroes that were written.
    pub writes: u64,
    /// Trims, including zeroing by discard.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Requests answered with an error.
    pub refused: u64,
    /// Replies sent after the drive's completion time on the wall clock.
    pub late: u64,
    /// Commands whose reply was never sent, because the client was gone or the server ended.
    pub dropped: u64,
    /// Connections that began.
    pub connections: u64,
    /// Connections that were closed unserved because there were too many.
    pub turned_away: u64,
    /// Connections that were closed because their clients were idle while others waited.
    pub idle: u64,
    /// Connections that were closed because the client broke the protocol or took too long to negotiate.
    pub violations: u64,
    /// Connections that ended in the middle of a message or of the negotiation.
    pub broken: u64,
}

impl Totals {
    /// Returns the number of commands that the drive carried out.
    pub fn ios(&self) -> u64 {
        self.reads + self.writes + self.trims + self.flushes
    }
}

impl Tally {
    /// Counts a command that was given to the drive.
    pub(crate) fn performed(&self, command: &Command) {
        let bytes = u64::from(command.length);
        let count = match command.action {
            Action::Read => {
                self.read_bytes.fetch_add(bytes, Relaxed);
                &self.reads
            }
            Action::Write | Action::ZeroByWrite => {
                self.written_bytes.fetch_add(bytes, Relaxed);
                &self.writes
            }
            Action::Trim | Action::ZeroByTrim => &self.trims,
            Action::Flush => &self.flushes,
        };
        count.fetch_add(1, Relaxed);
    }

    /// Counts a request that was answered with an error.
    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Relaxed);
    }

    /// Counts a reply that was sent after its completion time.
    pub(crate) fn late(&self) {
        self.late.fetch_add(1, Relaxed);
    }

    /// Counts connections that were closed because there were too many.
    pub(crate) fn turned_away(&self, count: usize) {
        self.turned_away.fetch_add(count as u64, Relaxed);
    }

    pub(crate) fn began(&self) {
        self.connections.fetch_add(1, Relaxed);
    }

    /// Counts the end of a connection, the replies that were never sent, and the lateness of the others.
    pub(crate) fn ended(&self, ending: Ending, dropped: usize, lateness: &Histogram) {
        self.dropped.fetch_add(dropped as u64, Relaxed);
        match ending {
            Ending::Clean => {}
            Ending::Violated => drop(self.violations.fetch_add(1, Relaxed)),
            Ending::Broken => drop(self.broken.fetch_add(1, Relaxed)),
            Ending::Idle => drop(self.idle.fetch_add(1, Relaxed)),
        }
        let mut all = self.lateness.lock().unwrap_or_else(PoisonError::into_inner);
        all.merge(lateness);
    }

    /// Returns the number of commands that the drive has carried out so far.
    pub fn ios(&self) -> u64 {
        [&self.reads, &self.writes, &self.trims, &self.flushes]
            .iter()
            .map(|count| count.load(Relaxed))
            .sum()
    }

    /// Returns the time from a reply's send time until it was handed to the socket, in ns, for connections that have ended.
    pub fn lateness(&self) -> Histogram {
        let all = self.lateness.lock().unwrap_or_else(PoisonError::into_inner);
        all.clone()
    }

    /// Returns all counts.
    pub fn totals(&self) -> Totals {
        Totals {
            reads: self.reads.load(Relaxed),
            writes: self.writes.load(Relaxed),
            trims: self.trims.load(Relaxed),
            flushes: self.flushes.load(Relaxed),
            read_bytes: self.read_bytes.load(Relaxed),
            written_bytes: self.written_bytes.load(Relaxed),
            refused: self.refused.load(Relaxed),
            late: self.late.load(Relaxed),
            dropped: self.dropped.load(Relaxed),
            connections: self.connections.load(Relaxed),
            turned_away: self.turned_away.load(Relaxed),
            idle: self.idle.load(Relaxed),
            violations: self.violations.load(Relaxed),
            broken: self.broken.load(Relaxed),
        }
    }
}
