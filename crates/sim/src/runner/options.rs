//! What a run is given.

use metrics::LogWriter;

/// What a run is given beside drive and workload.
#[derive(Debug, Default)]
pub struct Options {
    /// Where rows and histograms go as they close.
    pub log: Option<LogWriter>,
    /// What the log's header is to say of the run.
    pub header: serde_json::Value,
    /// Keep the histogram of every interval in the measurement.
    pub keep_interval_histograms: bool,
}
