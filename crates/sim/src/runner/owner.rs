//! The observer of a run: is shown rows as they close, judges them, and may end the run.

use metrics::{LiveCounts, Row};

/// How far a run is, on the drive's clock.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Whether what is issued now does not count yet.
    pub ramp: bool,
    /// Whether nothing new is issued any more.
    pub draining: bool,
    /// Time since the start of the run.
    pub elapsed_ns: u64,
    /// Counts of all streams.
    pub counts: LiveCounts,
    /// The row closed last.
    pub last_row: Option<Row>,
}

/// Observes a run. Called on the thread that runs it, which waits: virtual time stands still meanwhile.
pub trait Owner {
    /// Whether the run is to end now. Asked every few milliseconds of real time.
    fn wants_end(&mut self) -> bool;

    /// Rows have closed, in order. Names the row that ends the result, if one of these does; the run then stops at once.
    fn closed(&mut self, progress: &Progress, rows: Vec<Row>) -> Option<u64>;
}

/// Lets the run go on to the end that its workload names.
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
