//! What I/O is asked for: operations, offsets, sizes and arrival times. This crate does no I/O on a
//! drive.
//!
//! # From a workload to I/Os
//!
//! A [`Workload`] is data. It arrives as JSON with every value resolved to bytes and nanoseconds, is
//! checked by [`Workload::validate`], and is stored with the result. A [`Plan`] is a workload made
//! ready to run: its tables are built once and shared by all workers. From the plan each worker takes
//! the [`Generator`] and the [`Schedule`] of its source, and asks both for the next I/O. The two never
//! end; the engine decides when to stop.
//!
//! ```
//! use workload::{Op, Plan, Workload};
//!
//! let workload: Workload = serde_json::from_str(r#"{
//!     "seed": 1, "interval_ns": 1000000000, "ramp_ns": 0,
//!     "streams": [{
//!         "name": "mixed", "ops": {"mix": {"read_pct": 70}},
//!         "block": [{"bytes": 4096, "weight": 1}], "pattern": "uniform",
//!         "span": {"start": 0, "length": 1073741824},
//!         "workers": 2, "depth": 32, "engine": "uring", "batch": null, "polled": false,
//!         "arrival": {"open": {"process": "even", "rate": {"num": 3000, "den": 1},
//!                              "backlog_ns": 10000000000}},
//!         "compressible_pct": 0, "direct": true, "dsync": false, "flush_every": null, "cpus": [],
//!         "stop": {"time_ns": 5000000000, "bytes": null, "ios": null, "span_once": false},
//!         "log_ios": false
//!     }]
//! }"#)?;
//! let plan = Plan::new(&workload)?;
//! let stream = plan.stream(0);
//!
//! // Even arrivals are one source, which both workers share.
//! assert_eq!(stream.sources(), 1);
//! assert_eq!(stream.source_of_worker(1), 0);
//!
//! let mut generator = stream.generator(0);
//! let mut schedule = stream.schedule(0).expect("an open loop");
//! let due_ns: Vec<u64> = (0..4).map(|_| schedule.next()).collect();
//! assert_eq!(due_ns, [0, 333_333, 666_666, 1_000_000]);
//!
//! let io = generator.next();
//! assert!(matches!(io.op, Op::Read | Op::Write));
//! assert_eq!((io.offset % 4096, io.length), (0, 4096));
//!
//! // The sequence belongs to the source: a second generator repeats it.
//! assert_eq!(stream.generator(0).next(), io);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Errors name the field
//!
//! An unknown field is refused when the JSON is read. A value that is out of bounds or contradicts
//! another gives a [`SpecError`] that names the field, its value and the bound:
//!
//! ```
//! # let workload: workload::Workload = serde_json::from_str(r#"{
//! #     "seed": 1, "interval_ns": 1000000000, "ramp_ns": 0, "streams": []}"#)?;
//! let error = workload.validate().unwrap_err();
//! assert_eq!(error.to_string(), "streams (count) is 0: must be 1 to 256");
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # Promises
//!
//! * **Reproducible.** The n-th I/O of a source, like its n-th arrival, is a function of seed, stream,
//!   source and n ([`random`]); a sequential source adds an explicit cursor. Threads, batches and
//!   prefetching have no influence, and two runners agree. The arithmetic uses integers and tables, and
//!   tables are built with IEEE additions, multiplications and divisions only. So every machine
//!   computes the same bits, which golden digests in `tests/golden` check.
//! * **Inside.** An I/O ends inside the span and begins at a multiple of its own size. In a sequential
//!   pattern the unit is the smallest size instead, in a stepped pattern the step.
//! * **Exact rates.** Rates are fractions, and fractions of a nanosecond are carried over: arrival n of
//!   an even stream is due at `floor(n * den * 10^9 / num)` ns for every n.
//! * **Lean.** An I/O takes no lock and no allocation. It takes a division only in the segments and
//!   one-pass patterns, and in a skewed pattern with several sizes. A skewed pattern takes one table
//!   lookup, whatever the size of the drive. `examples/cost.rs` counts the instructions.
//! * **Recorded.** A stream can replay a file of records instead ([`recording`]). Its sequence is a
//!   function of the file's digest, and the file is streamed, whatever its length.
//!
//! # Limits
//!
//! [`validate`] lists the bounds. Uniform offsets keep no map of visited blocks: after as many I/Os as
//! there are blocks, about 37 % of the blocks are untouched. A trim is an operation like the others; the
//! engine finds out whether the drive supports it.

mod blocks;
mod elementary;
mod error;
pub mod generator;
mod io;
mod mix;
mod pattern;
pub mod plan;
pub mod random;
pub mod recording;
pub mod schedule;
pub mod spec;
pub mod units;
pub mod validate;
mod weighted;

pub use error::SpecError;
pub use generator::Generator;
pub use io::Io;
pub use mix::Op;
pub use plan::{Plan, Quota, StreamPlan};
pub use schedule::Schedule;
pub use spec::Workload;
