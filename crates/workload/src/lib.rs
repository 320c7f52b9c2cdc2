//! What I/O is asked for: operations, offsets, sizes and arrival times. No I/O is done here.
//!
//! # From a workload to I/Os
//!
//! A [`Workload`] is data: it comes as JSON with every value resolved to bytes and nanoseconds, is
//! checked by [`Workload::validate`], and is stored with the result. A [`Plan`] is the same made ready
//! to run: its tables are built once and shared by all workers. From it each worker takes the
//! [`Generator`] and the [`Schedule`] of its source, and asks both for the next one, for ever; when
//! to stop is for the engine to say.
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
//! // Even arrivals are one source, on which both workers draw.
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
//! // The sequence is the source's own: another generator of it gives the same.
//! assert_eq!(stream.generator(0).next(), io);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is wrong is said
//!
//! A field that nobody knows is refused when the JSON is read. A value out of bounds, or one that
//! contradicts another, is a [`SpecError`] that names the field, its value and the bound:
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
//! * **Reproducible.** The n-th I/O of a source is a function of seed, stream, source and n
//!   ([`random`]); a sequential source adds an explicit cursor. So is the n-th arrival. Threads, batches
//!   and prefetching have no say, and two runners agree. Integers and tables only; where tables are
//!   built, IEEE additions, multiplications and divisions: the same bits on every machine, held by
//!   golden digests in `tests/golden`.
//! * **Inside.** An I/O begins at a multiple of its own size (sequential: of the smallest size) and
//!   ends inside the span.
//! * **Exact rates.** Rates are fractions, and what is left over of a nanosecond is carried:
//!   arrival n of an even stream is due at `floor(n * den * 10^9 / num)` ns for every n.
//! * **Lean.** No lock and no allocation per I/O, and no division but in a skewed pattern of several
//!   sizes; the tables of skewed patterns are one lookup, whatever the size of the drive.
//!   `examples/cost.rs` counts the instructions.
//! * **Recorded.** A stream can replay a file of records instead ([`recording`]): its sequence is a function of the
//!   file's digest, and the file is streamed, whatever its length.
//!
//! # Limits
//!
//! [`validate`] lists the bounds. Uniform offsets keep no map of what was visited: in one pass of as many
//! I/Os as there are blocks, about 37 % of the blocks are not touched. A trim is an operation like
//! the others; whether the drive can do it is for the engine to find out.

mod blocks;
mod elementary;
mod error;
pub mod generator;
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
pub use generator::{Generator, Io};
pub use mix::Op;
pub use plan::{Plan, Quota, StreamPlan};
pub use schedule::Schedule;
pub use spec::Workload;
