//! The observer of a run: it sees rows as they close, judges them, and may end the run.

use metrics::{LiveCounts, Row};

/// How far a run has come, on the drive's clock.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Whether I/Os issued now do not count yet.
    pub ramp: bool,
    /// Whether no new I/Os are issued any more.
    pub draining: bool,
    /// Time since the start of the run, in ns.
    pub elapsed_ns: u64,
    /// Counts of all streams.
    pub counts: LiveCounts,
    /// The row that closed last.
    pub last_row: Option<Row>,
}

/// Observes a run. The run calls it on its own thread and waits, so virtual time stands still meanwhile.
pub trait Owner {
    /// Returns whether the run should end now. Called every few milliseconds of real time.
    fn wants_end(&mut self) -> bool;

    /// Takes rows that have closed, in order. Returns the number of the row that ends the result, if one of them
    /// does; the run then stops at once.
    fn closed(&mut self, progress: &Progress, rows: Vec<Row>) -> Option<u64>;
}

/// An owner that lets the run go on to the end of its workload.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unattended;

impl Owner for Unattended {
    fn wants_end(&mut self) -> bool {
        false
    }

    fn closed(&mut self, _progress: &Progress, _rows: Vec<Row>) -> Option<u64> {
        None
    }
}
