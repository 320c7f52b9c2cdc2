//! What a run is given beside target and workload.

use metrics::LogWriter;

/// How a run is made and where what it measures goes.
#[derive(Debug)]
pub struct Options {
    /// Where rows and histograms go as they close; made durable every ten seconds and at the end.
    pub log: Option<LogWriter>,
    /// What the log's header is to say of the run.
    pub header: serde_json::Value,
    /// Keep the histogram of every interval in the measurement.
    pub keep_interval_histograms: bool,
    /// Bound of the memory for I/O buffers, in bytes.
    pub buffer_bytes_max: u64,
    /// Take the buffers from the kernel's pool of huge pages.
    pub huge_pages: bool,
    /// Before an intended start, spin for so long instead of sleeping; costs a CPU.
    pub spin_ns: u64,
    /// Go on however many I/Os fail in a row, as long as the target is there.
    pub past_failures: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            log: None,
            header: serde_json::Value::Null,
            keep_interval_histograms: false,
            buffer_bytes_max: 4 << 30,
            huge_pages: false,
            spin_ns: 0,
            past_failures: false,
        }
    }
}
