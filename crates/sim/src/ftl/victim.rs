//! The superblock that is being collected or folded, and the progress made.

use serde::{Deserialize, Serialize};

/// A superblock that is being collected or folded.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Victim {
    pub(crate) block: u32,
    pub(crate) cursor: u32,
    /// Valid units when it was chosen.
    pub(crate) valid_at_start: u32,
    /// Units of space that collecting it wins.
    pub(crate) gain: u32,
    /// Moves owed to host writes, in units of `1 / gain` of a move. Negative after a page held more valid units than were
    /// owed.
    pub(crate) owed: i64,
    /// Whether it is used with one bit per cell; its units are then folded.
    pub(crate) one_bit: bool,
}
