//! What was served, and how punctually.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use metrics::Histogram;

use crate::request::{Action, Command};

/// Counted by all connections together, while they go on.
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
    /// The client had said goodbye, or nothing was under way.
    Clean,
    /// The client broke the protocol, or took too long to begin.
    Violated,
    /// The client went away in the middle of something.
    Broken,
    /// The client was idle while others waited.
    Idle,
}

/// The tally at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Reads.
    pub reads: u64,
    /// Writes, zeroes that were written among them.
    pub writes: u64,
    /// Ranges discarded.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Requests answered with an error.
    pub refused: u64,
    /// Replies sent after the drive's completion had passed on the wall clock.
    pub late: u64,
    /// Commands whose reply was never sent: the client was gone, or the server ended.
    pub dropped: u64,
    /// Connections that there were.
    pub connections: u64,
    /// Connections closed, unserved, because there were too many.
    pub turned_away: u64,
    /// Connections closed because their clients were idle while others waited.
    pub idle: u64,
    /// Connections closed because the client broke the protocol.
    pub violations: u64,
    /// Connections that ended in the middle of something.
    pub broken: u64,
}

impl Totals {
    /// Commands that the drive carried out.
    pub fn ios(&self) -> u64 {
        self.reads + self.writes + self.trims + self.flushes
    }
}

impl Tally {
    /// A command was given to the drive.
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

    /// A request was answered with an error.
    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Relaxed);
    }

    /// A reply was sent after its completion.
    pub(crate) fn late(&self) {
        self.late.fetch_add(1, Relaxed);
    }

    /// So many connections were closed because there are too many.
    pub(crate) fn turned_away(&self, count: usize) {
        self.turned_away.fetch_add(count as u64, Relaxed);
    }

    /// A connection began.
    pub(crate) fn began(&self) {
        self.connections.fetch_add(1, Relaxed);
    }

    /// A connection ended, with so many replies never sent, and its replies so long after they were to be sent.
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

    /// Commands that the drive carried out so far.
    pub fn ios(&self) -> u64 {
        [&self.reads, &self.writes, &self.trims, &self.flushes]
            .iter()
            .map(|count| count.load(Relaxed))
            .sum()
    }

    /// How long after the moment they were to be sent replies were handed to the socket; of connections that have ended.
    pub fn lateness(&self) -> Histogram {
        let all = self.lateness.lock().unwrap_or_else(PoisonError::into_inner);
        all.clone()
    }

    /// All counts.
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
