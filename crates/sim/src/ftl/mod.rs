//! The translation layer: where each unit of the host lies in flash, and how space is won back.
//!
//! [`Translation`] is what a drive asks of it. [`Ftl`] keeps superblocks over all dies: a [`Map`], open blocks, and collection
//! by a [`VictimRule`]; it can have an [`SlcCache`]. [`Planes`] does the same for each plane by itself, [`InPlace`] nothing of it.
//! A [`MappingCache`] says how much of the map is in memory.

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
