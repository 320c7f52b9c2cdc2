//! A simulated SSD in virtual time: NAND flash, mapping, garbage collection and the host interface.
//!
//! A caller submits a command with its submission time and gets its completion time back; no real time passes in between. All
//! state is integer: the same profile, seed and workload give the same bits on any machine.
//!
//! # A drive and a run
//!
//! A [`Profile`] describes a drive in physical parameters. An [`AnyDrive`] is one such drive, created erased and at time
//! zero. It runs the workloads that real drives run, and returns the same kind of measurement:
//!
//! ```
//! use sim::{AnyDrive, Options, Profile, Size, Unattended};
//! use workload::Op;
//!
//! # let text = include_str!("../../../python/ssdlab/profiles/tiny-test.toml");
//! let profile = Profile::parse(text)?;
//! // A quarter of the drive: as many dies, as fast, and smaller blocks.
//! let mut drive = AnyDrive::new(&profile, Size { scale: 4, ..Size::default() }, 1)?;
//! let workload = serde_json::from_str(r#"{
//!     "seed": 1, "interval_ns": 1000000000, "ramp_ns": 0,
//!     "streams": [{
//!         "name": "writers", "ops": {"mix": {"read_pct": 0}}, "block": [{"bytes": 4096, "weight": 1}],
//!         "pattern": "uniform", "span": {"start": 0, "length": 1073741824}, "workers": 1, "depth": 4,
//!         "engine": "uring", "batch": null, "polled": false, "arrival": {"closed": {"think_ns": 0}},
//!         "compressible_pct": 0, "direct": true, "dsync": false, "flush_every": null, "cpus": [],
//!         "stop": {"time_ns": null, "bytes": null, "ios": 1000, "span_once": false}, "log_ios": false
//!     }]
//! }"#)?;
//! let outcome = drive.run(&workload, &mut Unattended, Options::default())?;
//! assert_eq!(outcome.measurement.op(Op::Write).done, 1000);
//! assert_eq!(drive.counters().host_written_bytes, 1000 * 4096);
//! assert!(drive.now_ns() > 0, "the drive's own clock, not the host's");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The parts
//!
//! Each module depends only on those before it in this list:
//!
//! * [`profile`]: what a drive is made of, as a file and as numbers ([`profile::spec`]).
//! * [`power`]: energy, heat and power limits.
//! * [`flash`]: dies and channels with their clocks, and the write buffer.
//! * [`ftl`]: the map, write streams and garbage collection. It gives work to a medium ([`flash::Flash`]), which keeps the
//!   clocks.
//! * [`drive`]: the host's queue and link, and all parts combined; snapshots of a drive's state in files.
//! * [`runner`]: runs workloads in order of virtual time.
//!
//! The tests in `tests/` compare the simulator with theory, closed forms, an event-exact model and larger drives of its own.

pub mod drive;
pub mod flash;
pub mod ftl;
pub mod power;
pub mod profile;
pub mod runner;

pub use drive::{AnyDrive, snapshot};
pub use profile::{Profile, ProfileError, Size};
pub use runner::{Options, Outcome, Owner, SimError, Unattended, run};
