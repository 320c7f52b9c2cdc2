//! Options of a run.

use metrics::LogWriter;

/// Options of a run, besides drive and workload.
#[derive(Debug, Default)]
pub struct Options {
    /// Log that receives rows and histograms as they close.
    pub log: Option<LogWriter>,
    /// Description of the run for the log's header.
    pub header: serde_json::Value,
    /// Whether the measurement keeps the histogram of every interval.
    pub keep_interval_histograms: bool,
}
