//! The NBD protocol, fixed newstyle: its numbers and the layout of its messages. No I/O.
//!
//! Source: the protocol's own document, `doc/proto.md` of the network block device project. All integers are big-endian.

/// First word that the server sends: `NBDMAGIC`.
pub const SERVER_MAGIC: u64 = 0x4e42_444d_4147_4943;
/// Second word that the server sends, and first word of each option: `IHAVEOPT`.
pub const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
/// First word of each answer to an option.
pub const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
/// First word of each request.
pub const REQUEST_MAGIC: u32 = 0x2560_9513;
/// First word of a simple reply.
pub const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
/// First word of a chunk of a structured reply.
pub const CHUNK_MAGIC: u32 = 0x668e_33ef;

/// Length of a request without its payload, in bytes.
pub const REQUEST_BYTES: usize = 28;
/// Length of an option without its data, in bytes.
pub const OPTION_BYTES: usize = 16;

/// Flags of both sides in the greeting.
pub mod handshake {
    /// The side speaks the fixed newstyle.
    pub const FIXED_NEWSTYLE: u16 = 1 << 0;
    /// No padding follows the answer to `EXPORT_NAME`.
    pub const NO_ZEROES: u16 = 1 << 1;
}

/// Options by which a client negotiates.
pub mod option {
    /// Choose an export and start, in the old way, in which the answer cannot be an error.
    pub const EXPORT_NAME: u32 = 1;
    /// End the connection.
    pub const ABORT: u32 = 2;
    /// List the exports.
    pub const LIST: u32 = 3;
    /// Ask for information about an export.
    pub const INFO: u32 = 6;
    /// Ask for information about an export, and start.
    pub const GO: u32 = 7;
    /// Have reads answered in chunks.
    pub const STRUCTURED_REPLY: u32 = 8;
}

/// Kinds of answer to an option.
pub mod answer {
    /// Done.
    pub const ACK: u32 = 1;
    /// The answer carries the name of an export.
    pub const SERVER: u32 = 2;
    /// The answer carries information about an export.
    pub const INFO: u32 = 3;
    /// The server does not support the option.
    pub const ERR_UNSUP: u32 = (1 << 31) + 1;
    /// The option's data is invalid.
    pub const ERR_INVALID: u32 = (1 << 31) + 3;
    /// There is no such export.
    pub const ERR_UNKNOWN: u32 = (1 << 31) + 6;
}

/// Kinds of information about an export.
pub mod info {
    /// Size and flags.
    pub const EXPORT: u16 = 0;
    /// Name of the export.
    pub const NAME: u16 = 1;
    /// One-line description.
    pub const DESCRIPTION: u16 = 2;
    /// Smallest, preferred and largest block.
    pub const BLOCK_SIZE: u16 = 3;
}

/// Flags for what an export supports.
pub mod transmission {
    /// The flags are valid.
    pub const HAS_FLAGS: u16 = 1 << 0;
    /// The export supports FLUSH.
    pub const SEND_FLUSH: u16 = 1 << 2;
    /// The export supports FUA.
    pub const SEND_FUA: u16 = 1 << 3;
    /// The export supports TRIM.
    pub const SEND_TRIM: u16 = 1 << 5;
    /// The export supports `WRITE_ZEROES`.
    pub const SEND_WRITE_ZEROES: u16 = 1 << 6;
    /// A client may ask for the data of a read in one chunk.
    pub const SEND_DF: u16 = 1 << 7;
    /// Several connections see the same drive.
    pub const CAN_MULTI_CONN: u16 = 1 << 8;
}

/// Kinds of request.
pub mod command {
    /// Read.
    pub const READ: u16 = 0;
    /// Write; the payload follows.
    pub const WRITE: u16 = 1;
    /// Disconnect; there is no reply.
    pub const DISC: u16 = 2;
    /// Make everything written durable.
    pub const FLUSH: u16 = 3;
    /// Discard a range.
    pub const TRIM: u16 = 4;
    /// Make a range read as zeroes.
    pub const WRITE_ZEROES: u16 = 6;

    /// Reply only when the data is durable.
    pub const FLAG_FUA: u16 = 1 << 0;
    /// Write zeroes instead of discarding the range.
    pub const FLAG_NO_HOLE: u16 = 1 << 1;
    /// Answer a read in one chunk; this server always does.
    pub const FLAG_DF: u16 = 1 << 2;
}

/// Flag of the last chunk of a reply.
pub const CHUNK_DONE: u16 = 1 << 0;
/// Chunk of data, preceded by its offset.
pub const CHUNK_DATA: u16 = 1;
/// Chunk that reports an error.
pub const CHUNK_ERROR: u16 = (1 << 15) + 1;

/// Why a request was not carried out. The values are the protocol's error numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Fault {
    /// The contents could not be read or written.
    Io = 5,
    /// The request is unknown, misaligned or oversized, or it reads or trims beyond the end.
    Invalid = 22,
    /// The request writes beyond the end, or there is no room for the contents.
    NoSpace = 28,
}

impl Fault {
    /// Returns a short message for clients that show it.
    pub fn message(self) -> &'static str {
        match self {
            Self::Io => "the contents could not be read or written",
            Self::Invalid => "not a request for this drive",
            Self::NoSpace => "beyond the end, or the contents take too much room",
        }
    }
}

/// Appends an answer to an option.
pub fn put_answer(out: &mut Vec<u8>, option: u32, kind: u32, data: &[u8]) {
    out.extend(OPTION_REPLY_MAGIC.to_be_bytes());
    out.extend(option.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(data);
}

/// Appends a simple reply; the data of a read follows it.
pub fn put_simple_reply(out: &mut Vec<u8>, cookie: u64, fault: Option<Fault>) {
    out.extend(SIMPLE_REPLY_MAGIC.to_be_bytes());
    out.extend(fault.map_or(0, |fault| fault as u32).to_be_bytes());
    out.extend(cookie.to_be_bytes());
}

/// Appends the head of the only chunk that answers a read; `length` bytes of data follow it.
pub fn put_data_chunk(out: &mut Vec<u8>, cookie: u64, offset: u64, length: u32) {
    put_chunk(out, CHUNK_DATA, cookie, length + 8);
    out.extend(offset.to_be_bytes());
}

/// Appends the only chunk that answers a failed read.
pub fn put_error_chunk(out: &mut Vec<u8>, cookie: u64, fault: Fault) {
    let message = fault.message().as_bytes();
    put_chunk(out, CHUNK_ERROR, cookie, 6 + message.len() as u32);
    out.extend((fault as u32).to_be_bytes());
    out.extend((message.len() as u16).to_be_bytes());
    out.extend(message);
}

fn put_chunk(out: &mut Vec<u8>, kind: u16, cookie: u64, length: u32) {
    out.extend(CHUNK_MAGIC.to_be_bytes());
    out.extend(CHUNK_DONE.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend(cookie.to_be_bytes());
    out.extend(length.to_be_bytes());
}

/// Takes big-endian integers from the front of a message. Each method returns `None` if the message is too short.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// Returns the next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    /// Returns the next `length` bytes.
    pub fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    /// Returns the next 16-bit integer.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// Returns the next 32-bit integer.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// Returns the next 64-bit integer.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }
}
