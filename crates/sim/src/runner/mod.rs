//! Runs a workload on a simulated drive, with the recorders that real drives use.
//!
//! [`run`] submits the workload's I/Os in order of virtual time. An [`Owner`] sees rows as they close and may end the run.

mod agenda;
mod any_drive;
mod error;
mod feed;
mod fit;
mod lane;
mod options;
mod outcome;
mod owner;
mod run;
mod sampling;

pub use agenda::{Agenda, NEVER};
pub use error::SimError;
pub use options::Options;
pub use outcome::Outcome;
pub use owner::{Owner, Progress, Unattended};
pub use run::run;
pub use sampling::{HostBytes, Sample};
