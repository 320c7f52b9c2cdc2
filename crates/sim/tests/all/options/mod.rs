//! What not every drive has or does: each switch against what it must change, and by how much.

// The figures of a test that fails.
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
