//! A simulated SSD in virtual time: NAND, mapping, garbage collection, host side.
//!
//! The files mirror the machine. State is integer throughout: same profile, seed and workload, same result on any machine.

pub mod addressing;
pub mod agenda;
pub mod any_drive;
mod charging;
mod collection;
pub mod device;
pub mod die;
pub mod divisor;
pub mod draw;
pub mod drive;
pub mod error;
mod feed;
mod fit;
pub mod flash;
pub mod ftl;
pub mod gc;
pub mod host;
mod housekeeping;
mod kind;
mod lane;
pub mod machine;
pub mod mapping;
pub mod mapping_cache;
pub mod memory;
pub mod nand;
pub mod options;
pub mod owner;
mod packed;
pub mod planes;
pub mod power;
mod power_trace;
pub mod profile;
pub mod runner;
pub mod slc_cache;
pub mod snapshot;
pub mod spread;
pub mod thermal;
pub mod timeline;
pub mod translation;
pub mod write_buffer;
pub mod xpoint;
