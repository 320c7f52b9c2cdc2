//! Draws the operation of an I/O.

use crate::spec::Ops;

/// The operation of an I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Op {
    /// Reads data.
    Read = 0,
    /// Writes data.
    Write = 1,
    /// Tells the drive that the blocks are no longer needed (discard).
    Trim = 2,
}

/// Draws the operation of an I/O without a branch: the branch of a mix would be mispredicted, and a
/// constant operation costs no more this way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mix {
    /// A draw below this is a read.
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
            // A recorded I/O takes its operation from its record.
            Ops::Mix { .. } | Ops::Recorded { .. } => (0, Op::Read),
        };
        Self {
            reads_below,
            otherwise,
        }
    }

    /// Returns the operation that a uniform 64-bit number selects.
    #[inline]
    pub(crate) fn pick(self, uniform: u64) -> Op {
        if uniform < self.reads_below {
            Op::Read
        } else {
            self.otherwise
        }
    }
}
