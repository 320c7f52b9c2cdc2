//! A whole drive: the host's queue and link, a translation layer and the flash under it.
//!
//! A command goes into a [`Drive`] at a time, and the time of its completion comes out. [`Device`] is that much of it, for
//! whoever only submits. [`AnyDrive`] is a drive made from a profile, whatever its parts, and [`snapshot`] keeps its state
//! in a file.

mod any_drive;
mod device;
mod host;
mod housekeeping;
mod issuing;
mod kind;
mod model;
mod parts;
mod read_ahead;
mod reading;
pub mod snapshot;
mod unasked;
mod waiting;
mod writing;

pub use any_drive::{AnyDrive, Counters};
pub use device::Device;
pub use host::Host;
pub(crate) use kind::{Kind, each};
pub use model::Drive;
