//! The superblock that is being emptied, and how far that is.

use serde::{Deserialize, Serialize};

/// The superblock being collected or folded.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Victim {
    pub(crate) block: u32,
    pub(crate) cursor: u32,
    /// Valid units when it was chosen, and the space that collecting it wins.
    pub(crate) valid_at_start: u32,
    pub(crate) gain: u32,
    /// Moves owed to the host's writes, in `1 / gain` of a move; below zero where a page held more than was owed.
    pub(crate) owed: i64,
    /// Whether it is used with one bit a cell: then its units are folded.
    pub(crate) one_bit: bool,
}
