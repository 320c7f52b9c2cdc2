//! An I/O: the unit that generators make and recordings hold.

use crate::mix::Op;

/// One operation on one range of the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Io {
    /// The operation.
    pub op: Op,
    /// Offset from the start of the drive, in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub length: u32,
}
