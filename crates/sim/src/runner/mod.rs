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
mod owner;
mod run;
mod sampling;

pub use agenda::{Agenda, NEVER};
pub use error::SimError;
pub use owner::{Owner, Progress, Unattended};
pub use run::{HostBytes, Options, Outcome, run};
pub use sampling::Sample;
