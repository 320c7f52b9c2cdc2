//! Operations as array indices and as names; tallies are kept per operation (the *direction* of an
//! I/O), and beside them for flushes, which are no I/Os: they move no data and are in no rate.

use serde::{Deserialize, Serialize};
use workload::Op;

/// All operations, in the order of every per-operation array of this crate.
pub const OPS: [Op; 3] = [Op::Read, Op::Write, Op::Trim];

/// Position of an operation in [`OPS`].
#[inline]
pub(crate) const fn index(op: Op) -> usize {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Trim => 2,
    }
}

/// Place of flushes behind the operations, where both are numbered.
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

    /// That of a place: one in [`OPS`], or [`FLUSH`].
    pub(crate) fn at(place: usize) -> Option<Self> {
        Self::ALL.get(place).copied()
    }

    /// Its place: that of the operation in [`OPS`], or [`FLUSH`].
    pub fn place(self) -> usize {
        self as usize
    }
}

impl From<Op> for Command {
    fn from(op: Op) -> Self {
        Self::ALL[index(op)]
    }
}
