//! What is recorded: histograms, interval rows on one clock, totals and the append log.
//!
//! The crate reads no clock and starts no thread. The caller that runs the I/O passes stamps in ns
//! since the start of the run, so the same code counts real and simulated drives. Each worker counts
//! privately in a [`Recorder`]. The [`Collector`] closes an interval when every worker has passed its
//! end, and the [`Measurement`] is exactly the sum of the closed intervals.
//!
//! ```
//! use metrics::{Collector, CollectorSpec, Pacing, Recorder, StreamSpec, WorkerFacts};
//! use workload::Op;
//!
//! let stream = StreamSpec { name: "readers".into(), pacing: Pacing::BackToBack, log_ios: false };
//! let collector = Collector::new(CollectorSpec::new(1_000_000_000, vec![stream], 1))?;
//! let mut recorder = Recorder::new(&collector, 0, 0);
//! for start_ns in [0, 400_000_000, 2_100_000_000] {
//!     recorder.submitted(1, start_ns);
//!     recorder.completed(Op::Read, 4096, start_ns, start_ns, start_ns + 90_000);
//! }
//! recorder.finish(2_500_000_000, &WorkerFacts::default());
//!
//! let rows = collector.close_rows()?;
//! assert_eq!(rows.iter().map(|row| row.streams[0].op(Op::Read).done).collect::<Vec<_>>(), [2, 0, 1]);
//! let measurement = collector.into_measurement();
//! assert_eq!(measurement.op(Op::Read).summary().service_ns.max, Some(90_000));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod collector;
mod edges;
mod error;
mod facts;
mod histogram;
mod io_columns;
pub mod log;
mod measurement;
mod operation;
mod pending;
mod recorder;
mod results;
mod row;
mod slot;
mod spec;
mod summary;
mod tally;

pub use collector::{Collector, Snapshot};
pub use error::CollectorError;
pub use facts::{BatchSpans, Drained, Failure, Overshoot, StartStamp, WorkerFacts, WorkerTotals};
pub use histogram::{
    BUCKETS, Histogram, OVERFLOW_NS, Quantile, SUB_BUCKETS, bucket_bounds_ns, bucket_of,
};
pub use io_columns::{IoColumns, IoRecord};
pub use log::{LogContents, LogError, LogReader, LogWriter, read_log};
pub use measurement::{IntervalHistogram, Measurement, StreamTotals};
pub use operation::{Command, FLUSH, OPS};
pub use pending::LiveCounts;
pub use recorder::{LATE_NS, Recorder, Together};
pub use row::{
    FLAG_PARTIAL, FLAG_RAMP, LatencyRow, LatencyRows, OpRow, OpRows, Row, Rows, StreamRow,
    StreamRows,
};
pub use spec::CollectorSpec;
pub use summary::{LatencySummary, SAMPLES_BEYOND, Summary};
pub use tally::{Kind, OpTally, Pacing, StreamSpec, StreamTally};
