use serde_json::Value;
use workload::Workload;
use workload::spec::Arrival;

use crate::edges::Edges;
use crate::log::LogWriter;
use crate::tally::{Pacing, StreamSpec};

/// What a collector records, and where.
#[derive(Debug)]
pub struct CollectorSpec {
    /// Length of an interval, ns; at least 1.
    pub interval_ns: u64,
    /// Intervals wholly before this time, in ns, are flagged as ramp and are not in the totals; 0
    /// for no ramp.
    pub ramp_ns: u64,
    /// Time at which the last stream stops issuing I/O, ns; `None` unless every stream stops by
    /// time. I/O that completes later is in the counts, but not in the rates.
    pub stop_ns: Option<u64>,
    /// The streams, in the order of the workload.
    pub streams: Vec<StreamSpec>,
    /// Workers of all streams together: exactly this many recorders must be created and finished.
    pub participants: u32,
    /// Whether the measurement keeps the histogram of every interval in memory, not only in the
    /// log. Costs about 1 KB per interval, stream, operation and kind of latency.
    pub keep_interval_histograms: bool,
    /// Log for the rows and histograms as they become final; `None` for no log.
    pub log: Option<LogWriter>,
    /// Log for the per-I/O columns; `None` writes them to `log`.
    pub io_log: Option<LogWriter>,
    /// JSON of the owner for the log's header.
    pub header: Value,
}

impl CollectorSpec {
    /// Creates a spec without ramp, log or kept histograms.
    pub fn new(interval_ns: u64, streams: Vec<StreamSpec>, participants: u32) -> Self {
        Self {
            interval_ns,
            ramp_ns: 0,
            stop_ns: None,
            streams,
            participants,
            keep_interval_histograms: false,
            log: None,
            io_log: None,
            header: Value::Null,
        }
    }

    pub(crate) fn edges(&self) -> Edges {
        Edges::new(self.interval_ns, self.stop_ns)
    }

    /// Creates the spec for a workload, with one participant per worker in the order of the
    /// streams.
    pub fn of_workload(workload: &Workload) -> Self {
        let streams = workload.streams.iter().map(|stream| StreamSpec {
            name: stream.name.clone(),
            pacing: match stream.arrival {
                Arrival::Closed { think_ns: 0 } | Arrival::Pulses { .. } => Pacing::BackToBack,
                Arrival::Closed { .. } => Pacing::ThinkTime,
                Arrival::Open { .. } | Arrival::Bursts { .. } | Arrival::Recorded { .. } => {
                    Pacing::Scheduled
                }
            },
            log_ios: stream.log_ios,
        });
        let participants = workload.streams.iter().map(|stream| stream.workers).sum();
        let spec = Self::new(workload.interval_ns, streams.collect(), participants);
        Self {
            ramp_ns: workload.ramp_ns,
            stop_ns: stop_ns(workload),
            ..spec
        }
    }
}

/// Returns the stop of the last stream, if all streams stop by time.
fn stop_ns(workload: &Workload) -> Option<u64> {
    let stops = workload.streams.iter().map(|stream| stream.stop.time_ns);
    stops.collect::<Option<Vec<u64>>>()?.into_iter().max()
}
