//! The words of the NBD protocol, fixed newstyle: numbers, and how messages are laid out. No I/O.
//!
//! Source: the protocol's own document, `doc/proto.md` of the network block device project. All integers are big-endian.

/// First word of the server: `NBDMAGIC`.
pub const SERVER_MAGIC: u64 = 0x4e42_444d_4147_4943;
/// Second word of the server, and first of each option: `IHAVEOPT`.
pub const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
/// First word of each answer to an option.
pub const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
/// First word of each request.
pub const REQUEST_MAGIC: u32 = 0x2560_9513;
/// First word of a simple reply.
pub const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
/// First word of a chunk of a structured reply.
pub const CHUNK_MAGIC: u32 = 0x668e_33ef;

/// Bytes of a request without its payload.
pub const REQUEST_BYTES: usize = 28;
/// Bytes of an option without its data.
pub const OPTION_BYTES: usize = 16;

/// Flags of both sides in the greeting.
pub mod handshake {
    /// The fixed newstyle is spoken.
    pub const FIXED_NEWSTYLE: u16 = 1 << 0;
    /// No padding after `EXPORT_NAME`.
    pub const NO_ZEROES: u16 = 1 << 1;
}

/// Options that a client may haggle with.
pub mod option {
    /// Choose an export and begin, in the old way: without an answer that could be an error.
    pub const EXPORT_NAME: u32 = 1;
    /// End the connection.
    pub const ABORT: u32 = 2;
    /// Name the exports.
    pub const LIST: u32 = 3;
    /// Tell of an export.
    pub const INFO: u32 = 6;
    /// Tell of an export and begin.
    pub const GO: u32 = 7;
    /// Reads are answered in chunks.
    pub const STRUCTURED_REPLY: u32 = 8;
}

/// Kinds of answer to an option.
pub mod answer {
    /// Done.
    pub const ACK: u32 = 1;
    /// Here is an export's name.
    pub const SERVER: u32 = 2;
    /// Here is something about an export.
    pub const INFO: u32 = 3;
    /// The option is not known here.
    pub const ERR_UNSUP: u32 = (1 << 31) + 1;
    /// The option's data makes no sense.
    pub const ERR_INVALID: u32 = (1 << 31) + 3;
    /// There is no such export.
    pub const ERR_UNKNOWN: u32 = (1 << 31) + 6;
}

/// What is told of an export.
pub mod info {
    /// Size and flags.
    pub const EXPORT: u16 = 0;
    /// Its name.
    pub const NAME: u16 = 1;
    /// A line about it.
    pub const DESCRIPTION: u16 = 2;
    /// Smallest, best and largest block.
    pub const BLOCK_SIZE: u16 = 3;
}

/// What an export can do.
pub mod transmission {
    /// There are flags.
    pub const HAS_FLAGS: u16 = 1 << 0;
    /// FLUSH is understood.
    pub const SEND_FLUSH: u16 = 1 << 2;
    /// FUA is understood.
    pub const SEND_FUA: u16 = 1 << 3;
    /// TRIM is understood.
    pub const SEND_TRIM: u16 = 1 << 5;
    /// `WRITE_ZEROES` is understood.
    pub const SEND_WRITE_ZEROES: u16 = 1 << 6;
    /// A read may be asked for in one piece.
    pub const SEND_DF: u16 = 1 << 7;
    /// Several connections see one drive.
    pub const CAN_MULTI_CONN: u16 = 1 << 8;
}

/// Kinds of request.
pub mod command {
    /// Read.
    pub const READ: u16 = 0;
    /// Write; the payload follows.
    pub const WRITE: u16 = 1;
    /// The client goes away; there is no reply.
    pub const DISC: u16 = 2;
    /// Make everything written durable.
    pub const FLUSH: u16 = 3;
    /// Discard a range.
    pub const TRIM: u16 = 4;
    /// A range is to read as zeroes.
    pub const WRITE_ZEROES: u16 = 6;

    /// The reply waits until it is durable.
    pub const FLAG_FUA: u16 = 1 << 0;
    /// Zeroes are to be written rather than the range discarded.
    pub const FLAG_NO_HOLE: u16 = 1 << 1;
    /// The answer to a read comes in one piece; ours always does.
    pub const FLAG_DF: u16 = 1 << 2;
}

/// Flag of the last chunk of a reply.
pub const CHUNK_DONE: u16 = 1 << 0;
/// Chunk of data, with its offset before it.
pub const CHUNK_DATA: u16 = 1;
/// Chunk that says what went wrong.
pub const CHUNK_ERROR: u16 = (1 << 15) + 1;

/// Why a request was not carried out; the value is the one that the protocol gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Fault {
    /// The store of contents could not be read or written.
    Io = 5,
    /// The request makes no sense here: unknown, misaligned, oversized, or a read beyond the end.
    Invalid = 22,
    /// A write beyond the end, or the store of contents is full.
    NoSpace = 28,
}

impl Fault {
    /// A few words for a client that shows them.
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

/// Appends the head of the one chunk that answers a read; `length` bytes of data follow it.
pub fn put_data_chunk(out: &mut Vec<u8>, cookie: u64, offset: u64, length: u32) {
    put_chunk(out, CHUNK_DATA, cookie, length + 8);
    out.extend(offset.to_be_bytes());
}

/// Appends the one chunk that answers a read which failed.
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

/// Takes big-endian numbers from the front of a message; `None` where it is too short.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    /// The next `length` bytes.
    pub fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    /// The next number of 16 bits.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// The next number of 32 bits.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// The next number of 64 bits.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }
}
