//! Requests after the negotiation: what a client wants, checked against what there is. No I/O.

use crate::export::{Export, MAX_PAYLOAD_BYTES};
use crate::negotiation::Violation;
use crate::protocol::{Fault, REQUEST_BYTES, REQUEST_MAGIC, Reader, command};

/// A request as it was sent, unchecked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// The client's mark, which the reply carries.
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
    /// Have a range read as zeroes, and discard it as a drive does that can.
    ZeroByTrim,
    /// Write zeroes to a range.
    ZeroByWrite,
    /// Make everything written durable.
    Flush,
}

/// A request that can be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    /// What to do.
    pub action: Action,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u32,
    /// Whether the reply waits until the data is durable (FUA).
    pub durable: bool,
}

impl Command {
    /// Bytes that the drive reads or writes for it.
    pub fn moved_bytes(&self) -> u64 {
        match self.action {
            Action::Read | Action::Write | Action::ZeroByWrite => u64::from(self.length),
            Action::Trim | Action::ZeroByTrim | Action::Flush => 0,
        }
    }
}

impl Request {
    /// Takes a request from the front of `input`; `None` when more has to come.
    ///
    /// # Errors
    /// It begins with the wrong word: nobody knows where the next one begins.
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

    /// Bytes that follow it, whether it makes sense or not.
    pub fn payload_bytes(&self) -> u32 {
        if self.kind == command::WRITE {
            self.length
        } else {
            0
        }
    }

    /// Whether the payload, if there is one, is within the size limit.
    pub fn payload_fits(&self) -> bool {
        self.payload_bytes() <= MAX_PAYLOAD_BYTES
    }

    /// Whether the client says that it goes away.
    pub fn says_goodbye(&self) -> bool {
        self.kind == command::DISC
    }

    /// Whether it is a read: the one kind that chunks answer where they were agreed on.
    pub fn is_read(&self) -> bool {
        self.kind == command::READ
    }

    /// What the drive is to do.
    ///
    /// # Errors
    /// What to answer instead.
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
        // FUA is allowed with every request, and means nothing with those that change nothing.
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
