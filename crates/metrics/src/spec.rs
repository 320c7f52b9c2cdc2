//! What is to be recorded.

use serde_json::Value;
use workload::Workload;
use workload::spec::Arrival;

use crate::edges::Edges;
use crate::log::LogWriter;
use crate::tally::{Pacing, StreamSpec};

/// What is to be recorded.
#[derive(Debug)]
pub struct CollectorSpec {
    /// Length of an interval, ns; at least 1.
    pub interval_ns: u64,
    /// Intervals wholly before this time are flagged as ramp and not in the totals; 0 for none.
    pub ramp_ns: u64,
    /// When no more I/O is issued, where every stream stops by time. What completes later is counted, and is not in the
    /// rates.
    pub stop_ns: Option<u64>,
    /// The streams, in the order of the workload.
    pub streams: Vec<StreamSpec>,
    /// Workers of all streams together: as many recorders must be made and finished.
    pub participants: u32,
    /// Keep the histogram of every interval in memory and in the measurement, not only in the log.
    /// About 1 KB per interval, stream, operation and kind of latency.
    pub keep_interval_histograms: bool,
    /// Where rows and histograms go as they become final, if anywhere.
    pub log: Option<LogWriter>,
    /// Where per-I/O columns go; without it they go to `log`.
    pub io_log: Option<LogWriter>,
    /// What the owner wants to find in the log's header.
    pub header: Value,
}

impl CollectorSpec {
    /// A spec without ramp, log or kept histograms.
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

    /// The spec that a workload needs: one participant per worker, those of the first stream first.
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

/// When the last stream stops, if all of them do by time.
fn stop_ns(workload: &Workload) -> Option<u64> {
    let stops = workload.streams.iter().map(|stream| stream.stop.time_ns);
    stops.collect::<Option<Vec<u64>>>()?.into_iter().max()
}
