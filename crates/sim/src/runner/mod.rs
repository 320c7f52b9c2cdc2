//! Runs a workload on a simulated drive, with the recorders that real drives have.
//!
//! [`run`] submits what the workload asks for in order of virtual time. An [`Owner`] is shown the rows as they close and may
//! end the run.

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
