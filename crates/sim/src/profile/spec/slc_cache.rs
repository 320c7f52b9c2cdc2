//! A cache of superblocks with one bit a cell.

use serde::{Deserialize, Serialize};

/// How large the cache is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SlcSize {
    /// So many bytes of data, always; their cells are taken from the spare area.
    Static {
        /// Bytes of data that it holds.
        bytes: u64,
    },
    /// What the empty part of the drive allows.
    Dynamic {
        /// Most bytes of data that it holds, on an empty drive.
        bytes_at_most: u64,
        /// Cells that it may use, in per cent of the space that holds no user data.
        pct_of_empty: u32,
    },
}

/// What becomes of writes when the cache is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhenFull {
    /// They go past the cache.
    Direct,
    /// They wait until some of the cache has been folded: every write passes through it.
    Fold,
}

/// A cache of superblocks with one bit a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlcSpec {
    /// How large it is.
    pub size: SlcSize,
    /// What becomes of writes when it is full.
    pub when_full: WhenFull,
    /// Array read with one bit a cell, in ns.
    pub read_ns: u64,
    /// Program of a page of all planes with one bit a cell, in ns.
    pub program_ns: u64,
}
