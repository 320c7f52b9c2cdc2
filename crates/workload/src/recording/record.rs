//! One record of a recording.

use crate::io::Io;
use crate::mix::Op;

/// Length of a record, in bytes.
pub const RECORD_BYTES: usize = 24;

/// An I/O and when it is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Intended start, ns since the start of the run.
    pub due_ns: u64,
    /// The I/O.
    pub io: Io,
}

impl Record {
    /// Reads a record; `None` if its operation code is unknown.
    pub fn parse(bytes: &[u8; RECORD_BYTES]) -> Option<Self> {
        let word = |at: usize| bytes[at..].first_chunk().map(|b| u64::from_le_bytes(*b));
        let half = |at: usize| bytes[at..].first_chunk().map(|b| u32::from_le_bytes(*b));
        let op = match half(20)? {
            0 => Op::Read,
            1 => Op::Write,
            2 => Op::Trim,
            _ => return None,
        };
        let io = Io {
            op,
            offset: word(8)?,
            length: half(16)?,
        };
        Some(Self {
            due_ns: word(0)?,
            io,
        })
    }

    /// Returns the record in the format of the file.
    pub fn to_bytes(self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..8].copy_from_slice(&self.due_ns.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.io.offset.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.io.length.to_le_bytes());
        bytes[20..].copy_from_slice(&(self.io.op as u32).to_le_bytes());
        bytes
    }
}
