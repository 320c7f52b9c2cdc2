//! The parts of a drive in the simulator's own units: whole numbers of ns, bytes and mW.
//!
//! A [`Profile`](super::Profile) states them as data sheets do and is converted to these types; tests write them directly.

mod drive;
mod flash;
mod host;
mod power;
mod slc_cache;
mod spread;

pub use drive::{
    DriveOptions, DriveSpec, Layout, MapMemory, Marks, ReadAheadSpec, TrimRule, WearRule,
};
pub(crate) use flash::UNIT;
pub use flash::{Geometry, Pauses, Timing, UNIT_BYTES};
pub use host::HostSpec;
pub use power::{GradedLimit, PowerSpec, RestSpec, ThermalSpec, ThrottlePoint};
pub use slc_cache::{SlcSize, SlcSpec, WhenFull};
pub use spread::{HousekeepingSpec, SpreadSpec};
