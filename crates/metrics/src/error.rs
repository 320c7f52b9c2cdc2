//! Errors of the collector. Those of the log are in [`crate::log`].

use crate::log::LogError;

/// A collector that was used wrongly, or a log that could not be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CollectorError {
    /// The interval is 0 ns long.
    #[error("an interval of 0 ns cannot be recorded: give at least 1 ns")]
    NoInterval,
    /// A stream asks for per-I/O columns, but there is no log to write them to.
    #[error("stream {stream} records every I/O, but has no log file: give one")]
    NoLogForIos {
        /// The stream's name.
        stream: String,
    },
    /// The log's header could not be written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The run cannot end with this row, because the totals already contain a later one.
    #[error(
        "row {row} cannot end the result, the totals reach to row {settled}: decide on rows as they close"
    )]
    RowSettled {
        /// The row that should have ended the result.
        row: u64,
        /// The last row in the totals.
        settled: u64,
    },
}
