//! Energy, heat and limits on power, on virtual time.
//!
//! Every operation of the drive puts its energy into windows of time ([`Power`]). A limit delays work until a window has room
//! for it, and a hot drive limits itself ([`Thermal`]). Knows nothing of what the work is for.

mod energy;
mod thermal;
mod trace;

pub use energy::{DieWork, Energy, Power};
pub use thermal::Thermal;
