//! What I/O is asked for: operations, offsets, sizes and arrival times. No I/O is done here.

mod blocks;
mod elementary;
mod error;
pub mod generator;
mod mix;
mod pattern;
pub mod plan;
pub mod random;
pub mod schedule;
pub mod spec;
pub mod validate;
mod weighted;

pub use error::SpecError;
pub use generator::{Generator, Io};
pub use mix::Op;
pub use plan::{Plan, Quota, StreamPlan};
pub use schedule::Schedule;
pub use spec::Workload;
