//! The flash side of a drive: dies, channels and the write buffer in virtual time.
//!
//! A translation layer calls the [`Flash`] trait. [`Machine`] implements it and charges time: each die is a [`Die`]
//! with two clocks, each channel a [`Channel`]. [`Addressing`] maps a physical unit to its die and page, and
//! [`Spread`] makes blocks and dies faster or slower.

mod addressing;
mod behind;
mod channel;
mod charging;
mod data_path;
mod die;
mod divisor;
mod in_order;
mod machine;
mod map_stream;
mod medium;
mod memory;
mod moving;
pub(crate) mod packed;
mod resting;
mod rests;
mod spread;
mod timeline;
mod write_buffer;

pub use addressing::{Addressing, NONE, ONE_BIT, Place};
pub use behind::Behind;
pub use channel::Channel;
pub use die::Die;
pub use divisor::Divisor;
pub use machine::{FlashCounts, Machine};
pub use medium::Flash;
pub use memory::{NO_MEMORY, has_room};
pub(crate) use memory::{Table, prefer_huge_pages, prefetch};
pub use rests::Rest;
pub use spread::Spread;
pub use timeline::Timeline;
pub(crate) use write_buffer::SECTORS;
pub use write_buffer::{Piece, Program, WriteBuffer};
