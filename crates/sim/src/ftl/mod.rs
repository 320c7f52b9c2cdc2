//! The translation layer: where each of the host's units lies in flash, and how space is reclaimed.
//!
//! [`Translation`] is the interface to the drive. [`Ftl`] manages superblocks across all dies: a [`Map`], open superblocks,
//! and garbage collection by a [`VictimRule`]; it can have an [`SlcCache`]. [`Planes`] keeps a separate [`Ftl`] for each
//! plane. [`InPlace`] overwrites data in place and needs neither a map nor collection. A [`MappingCache`] determines how much
//! of the map is in memory.

mod collection;
mod folding;
mod housekeeping;
mod layer;
mod map_changes;
mod map_pages;
mod mapping;
mod mapping_cache;
mod merged;
mod open_block;
mod placing;
mod planes;
mod slc_cache;
mod steady_shares;
mod translation;
mod victim;
mod victim_rule;
mod xpoint;

pub use layer::{Ftl, FtlCounts};
pub use mapping::{Blocks, Map};
pub use mapping_cache::{MapCounts, MappingCache, PartOfMap, WholeMap};
pub use planes::Planes;
pub use slc_cache::SlcCache;
pub use translation::Translation;
pub use victim_rule::{CostBenefit, DChoices, Fifo, Greedy, VictimRule};
pub use xpoint::InPlace;
