//! Energy, heat and limits on power, on virtual time.
//!
//! Every operation of the drive puts its energy into windows of time ([`Power`]). A limit delays work until a window has room
//! for it, a hot drive limits itself ([`Thermal`]), and a resting one may save power ([`Saving`]). Knows nothing of what the work is for.

mod energy;
mod highest;
#[cfg(test)]
mod limit_tests;
mod pacing;
mod rest;
mod thermal;
mod trace;

pub use energy::{DieWork, Energy, Power};
pub use rest::Saving;
pub use thermal::Thermal;
