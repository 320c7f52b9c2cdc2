//! The SLC cache: superblocks with one bit per cell.

use serde::{Deserialize, Serialize};

/// Size of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SlcSize {
    /// A fixed size; its cells are taken from the spare area.
    Static {
        /// Bytes of data in the cache.
        bytes: u64,
    },
    /// A size that depends on how empty the drive is.
    Dynamic {
        /// Most bytes of data in the cache, on an empty drive.
        bytes_at_most: u64,
        /// Cells that it may use, in percent of the space without user data.
        pct_of_empty: u32,
    },
}

/// What writes do when the cache is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhenFull {
    /// They bypass the cache.
    Direct,
    /// They wait until part of the cache has been folded: every write passes through it.
    Fold,
}

/// A cache of superblocks with one bit per cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlcSpec {
    /// Size of the cache.
    pub size: SlcSize,
    /// What writes do when the cache is full.
    pub when_full: WhenFull,
    /// Array read time with one bit per cell, in ns.
    pub read_ns: u64,
    /// Time to program a page of all planes with one bit per cell, in ns.
    pub program_ns: u64,
}
