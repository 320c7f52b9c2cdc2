//! Which operation an I/O is.

use crate::random::FOR_OP;
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

/// Draws the operation of an I/O.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Mix {
    /// Always the same.
    One(Op),
    /// A read if the draw's 32 bits are below the bound, else a write.
    Reads { below: u32 },
}

impl Mix {
    pub(crate) fn new(ops: Ops) -> Self {
        match ops {
            Ops::Trim => Self::One(Op::Trim),
            Ops::Mix { read_pct: 0 } => Self::One(Op::Write),
            Ops::Mix { read_pct } if read_pct < 100 => Self::Reads {
                below: ((u64::from(read_pct) << 32) / 100) as u32,
            },
            Ops::Mix { .. } => Self::One(Op::Read),
        }
    }

    #[inline]
    pub(crate) fn pick(self, draw: u64) -> Op {
        match self {
            Self::One(op) => op,
            Self::Reads { below } => {
                if ((draw.wrapping_mul(FOR_OP) >> 32) as u32) < below {
                    Op::Read
                } else {
                    Op::Write
                }
            }
        }
    }
}
