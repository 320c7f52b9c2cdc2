//! A whole drive: the host's queue and link, a translation layer and the flash under it.
//!
//! A caller submits a command to a [`Drive`] with its time and gets the completion time back. [`Device`] is the interface for
//! runners and servers, which only submit commands. [`AnyDrive`] is a drive made from a profile, whatever its layout, map and
//! collection rule. [`snapshot`] saves its state to a file.

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
