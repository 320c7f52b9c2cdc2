//! Operations as array indices and as names. Tallies are kept per operation (the *direction* of an
//! I/O) and separately for flushes. A flush is not an I/O: it moves no data and is in no rate.

use serde::{Deserialize, Serialize};
use workload::Op;

/// All operations, in the order of every per-operation array of this crate.
pub const OPS: [Op; 3] = [Op::Read, Op::Write, Op::Trim];

/// Returns the position of an operation in [`OPS`].
#[inline]
pub(crate) const fn index(op: Op) -> usize {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Trim => 2,
    }
}

/// Index of flushes, after the operations, where a number can mean either.
pub const FLUSH: usize = OPS.len();

/// What a tally counts: the I/Os of an operation, or flushes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Command {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Trims.
    Trim,
    /// Flushes (`fsync`, `fdatasync`).
    Flush,
}

impl Command {
    const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Trim, Self::Flush];

    /// Returns the command at a position in [`OPS`], or at [`FLUSH`].
    pub(crate) fn at(place: usize) -> Option<Self> {
        Self::ALL.get(place).copied()
    }

    /// Returns the position of the operation in [`OPS`], or [`FLUSH`].
    pub fn place(self) -> usize {
        self as usize
    }
}

impl From<Op> for Command {
    fn from(op: Op) -> Self {
        Self::ALL[index(op)]
    }
}
