//! Options of a run besides its target and workload.

use metrics::LogWriter;

/// How to make a run and where to log its measurements.
#[derive(Debug)]
pub struct Options {
    /// Log that receives rows and histograms as they close; it is made durable every ten seconds and at the end.
    pub log: Option<LogWriter>,
    /// Description of the run for the header of the log.
    pub header: serde_json::Value,
    /// Whether to keep the histogram of each interval in the measurement.
    pub keep_interval_histograms: bool,
    /// Upper limit on the memory for I/O buffers, in bytes.
    pub buffer_bytes_max: u64,
    /// Whether to take the buffers from the kernel's pool of huge pages.
    pub huge_pages: bool,
    /// How long before an intended start a worker stops sleeping and spins, in ns. Spinning costs a CPU.
    pub spin_ns: u64,
    /// Whether to continue after any number of consecutive I/O failures. Errors that no retry can cure, such as a
    /// missing device, still end the run.
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
