//! Runs workloads on real drives: one thread per synchronous I/O, or `io_uring` at any queue depth.
//!
//! [`run`] takes an open [`Target`], a [`Workload`](workload::Workload) and a [`Control`], and returns what it
//! measured. The calling thread creates the workers, starts them all at the same moment and closes interval rows while
//! they work. It waits for the last I/O in flight and never touches the drive itself.
//!
//! ```
//! use engine::{Access, Control, Options, Target, run};
//!
//! let path = std::env::temp_dir().join(format!("engine-doc-{}", std::process::id()));
//! std::fs::write(&path, vec![0x5a; 1 << 20])?;
//! let target = Target::open(&path, Access::default())?;
//! let workload = serde_json::from_str(r#"{
//!     "seed": 1, "interval_ns": 1000000000, "ramp_ns": 0,
//!     "streams": [{
//!         "name": "readers", "ops": {"mix": {"read_pct": 100}}, "block": [{"bytes": 4096, "weight": 1}],
//!         "pattern": "uniform", "span": {"start": 0, "length": 1048576}, "workers": 2, "depth": 1,
//!         "engine": "sync", "batch": null, "polled": false, "arrival": {"closed": {"think_ns": 0}},
//!         "compressible_pct": 0, "direct": false, "dsync": false, "flush_every": null, "cpus": [],
//!         "stop": {"time_ns": null, "bytes": null, "ios": 1000, "span_once": false}, "log_ios": false
//!     }]
//! }"#)?;
//! let outcome = run(&target, &workload, &Control::new(), Options::default())?;
//! assert_eq!(outcome.measurement.op(workload::Op::Read).done, 1000);
//! # std::fs::remove_file(path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod buffers;
mod control;
mod deadline;
mod driver;
mod error;
mod features;
mod heartbeat;
pub mod host;
mod options;
mod outcome;
pub mod placement;
mod portions;
mod ring_loop;
mod run;
mod slots;
mod source;
mod start;
mod sync;
pub mod sys;
mod target;
mod uring;
#[cfg(test)]
mod uring_tests;
mod worker;

pub use control::{Control, Phase, Progress, Ruling};
pub use deadline::Deadline;
pub use error::{EngineError, IoFailure};
pub use heartbeat::{Gap, Heartbeat};
pub use options::Options;
pub use outcome::Outcome;
pub use run::run;
pub use target::{Access, Kind, Target};
