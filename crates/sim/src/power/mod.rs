//! Energy, heat and power limits in virtual time.
//!
//! [`Power`] adds the energy of every operation to windows of time. A limit delays work until a window has room for it. A hot
//! drive limits itself ([`Thermal`]), and a resting drive may enter low-power states ([`Saving`]). This module does not know
//! what the work is for.

mod bucket;
mod energy;
mod highest;
mod ledger;
#[cfg(test)]
mod limit_tests;
mod pacing;
mod rest;
mod thermal;
mod trace;

pub use energy::{DieWork, Energy, Power};
pub use rest::Saving;
pub use thermal::Thermal;
