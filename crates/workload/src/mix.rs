//! Which operation an I/O is.

use crate::spec::Ops;

/// What is done to the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Op {
    /// Data is read.
    Read = 0,
    /// Data is written.
    Write = 1,
    /// Blocks are given back (discard).
    Trim = 2,
}

/// Draws the operation of an I/O, without a branch: a mix would be mispredicted, and a constant
/// operation costs no more this way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mix {
    /// Numbers below are reads.
    reads_below: u64,
    otherwise: Op,
}

impl Mix {
    pub(crate) fn new(ops: Ops) -> Self {
        let (reads_below, otherwise) = match ops {
            Ops::Trim => (0, Op::Trim),
            Ops::Mix { read_pct } if read_pct < 100 => {
                (((u128::from(read_pct) << 64) / 100) as u64, Op::Write)
            }
            Ops::Ratio { reads, writes } => {
                let (reads, writes) = (u128::from(reads), u128::from(writes));
                (((reads << 64) / (reads + writes)) as u64, Op::Write)
            }
            // The operation of a recorded I/O is in its record.
            Ops::Mix { .. } | Ops::Recorded { .. } => (0, Op::Read),
        };
        Self {
            reads_below,
            otherwise,
        }
    }

    /// The operation that a uniform 64-bit number means.
    #[inline]
    pub(crate) fn pick(self, uniform: u64) -> Op {
        if uniform < self.reads_below {
            Op::Read
        } else {
            self.otherwise
        }
    }
}
