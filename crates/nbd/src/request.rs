//! Requests after the negotiation: parsing, and checking against the export. No I/O.

use crate::export::{Export, MAX_PAYLOAD_BYTES};
use crate::negotiation::Violation;
use crate::protocol::{Fault, REQUEST_BYTES, REQUEST_MAGIC, Reader, command};

/// A request as it was sent, unchecked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// The client's cookie, which the reply carries.
    pub cookie: u64,
    kind: u16,
    flags: u16,
    offset: u64,
    length: u32,
}

/// What the drive is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Read a range.
    Read,
    /// Write a range; the data is the request's payload.
    Write,
    /// Discard a range.
    Trim,
    /// Make a range read as zeroes by discarding it, as drives do that support this.
    ZeroByTrim,
    /// Write zeroes to a range.
    ZeroByWrite,
    /// Make everything written durable.
    Flush,
}

/// A checked request that can be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    /// What to do.
    pub action: Action,
    /// Offset of the first byte.
    pub offset: u64,
    /// Length in bytes.
    pub length: u32,
    /// Whether the reply waits until the data is durable (FUA).
    pub durable: bool,
}

impl Command {
    /// Returns the number of bytes that the drive reads or writes for the command.
    pub fn moved_bytes(&self) -> u64 {
        match self.action {
            Action::Read | Action::Write | Action::ZeroByWrite => u64::from(self.length),
            Action::Trim | Action::ZeroByTrim | Action::Flush => 0,
        }
    }
}

impl Request {
    /// Takes a request from the front of `input`; `None` if it is incomplete.
    ///
    /// # Errors
    /// The magic number is wrong, so the start of the next request is unknown.
    pub fn take(input: &[u8]) -> Result<Option<Self>, Violation> {
        let mut reader = Reader(input);
        if reader.u32().is_some_and(|magic| magic != REQUEST_MAGIC) {
            return Err(Violation::Magic);
        }
        if input.len() < REQUEST_BYTES {
            return Ok(None);
        }
        let fields = || {
            Some(Self {
                flags: reader.u16()?,
                kind: reader.u16()?,
                cookie: reader.u64()?,
                offset: reader.u64()?,
                length: reader.u32()?,
            })
        };
        Ok({ fields }())
    }

    /// Returns the length of the payload in bytes, whether the request is valid or not.
    pub fn payload_bytes(&self) -> u32 {
        if self.kind == command::WRITE {
            self.length
        } else {
            0
        }
    }

    /// Returns whether the payload, if there is one, is within the size limit.
    pub fn payload_fits(&self) -> bool {
        self.payload_bytes() <= MAX_PAYLOAD_BYTES
    }

    /// Returns whether the client announces that it disconnects.
    pub fn says_goodbye(&self) -> bool {
        self.kind == command::DISC
    }

    /// Returns whether the request is a read: only reads are answered in chunks, if that was agreed.
    pub fn is_read(&self) -> bool {
        self.kind == command::READ
    }

    /// Checks the request and returns what the drive is to do.
    ///
    /// # Errors
    /// The error with which to answer the request.
    pub fn check(&self, export: &Export) -> Result<Command, Fault> {
        let (action, allowed) = match self.kind {
            command::READ => (Action::Read, command::FLAG_DF),
            command::WRITE => (Action::Write, 0),
            command::FLUSH => (Action::Flush, 0),
            command::TRIM => (Action::Trim, 0),
            command::WRITE_ZEROES if self.flags & command::FLAG_NO_HOLE == 0 => {
                (Action::ZeroByTrim, 0)
            }
            command::WRITE_ZEROES => (Action::ZeroByWrite, command::FLAG_NO_HOLE),
            _ => return Err(Fault::Invalid),
        };
        // FUA is allowed with every request, but has no meaning for requests that change nothing.
        if self.flags & !(allowed | command::FLAG_FUA) != 0 {
            return Err(Fault::Invalid);
        }
        if action == Action::Flush {
            if self.offset != 0 || self.length != 0 {
                return Err(Fault::Invalid);
            }
        } else {
            self.check_range(action, export)?;
        }
        Ok(Command {
            action,
            offset: self.offset,
            length: self.length,
            durable: self.flags & command::FLAG_FUA != 0 && action != Action::Read,
        })
    }

    fn check_range(&self, action: Action, export: &Export) -> Result<(), Fault> {
        let block = u64::from(export.block_bytes);
        let aligned = (self.offset | u64::from(self.length)).is_multiple_of(block);
        let moves_data = matches!(action, Action::Read | Action::Write);
        if self.length == 0 || !aligned || (moves_data && self.length > MAX_PAYLOAD_BYTES) {
            return Err(Fault::Invalid);
        }
        let end = self.offset.checked_add(u64::from(self.length));
        match action {
            _ if end.is_some_and(|end| end <= export.size_bytes) => Ok(()),
            Action::Write | Action::ZeroByTrim | Action::ZeroByWrite => Err(Fault::NoSpace),
            _ => Err(Fault::Invalid),
        }
    }
}
