//! What can go wrong beside the log.

use crate::log::LogError;

/// A misuse of the collector, or a log that cannot be begun.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CollectorError {
    /// The interval is too short.
    #[error("an interval of 0 ns cannot be recorded: give at least 1 ns")]
    NoInterval,
    /// Per-I/O columns are asked for and would go nowhere.
    #[error("stream {stream} records every I/O, but has no log file: give one")]
    NoLogForIos {
        /// The stream's name.
        stream: String,
    },
    /// The log's header could not be written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A row was named as the deciding one that is before the end of the totals.
    #[error(
        "row {row} cannot end the result, the totals reach to row {settled}: decide on rows as they close"
    )]
    RowSettled {
        /// The row that was named.
        row: u64,
        /// The last row in the totals.
        settled: u64,
    },
}
