//! Options of a drive: each one against what it must change, and by how much.

// Tests print the figures that they check.
#![allow(clippy::print_stdout)]

mod collecting;
mod durability;
mod map_in_flash;
mod mapping_units;
mod pages;
mod parts;
mod placement;
mod streams;
mod upkeep;
