//! The start of a connection: greeting and options, until both sides agree. No I/O: bytes in, bytes out.

use crate::export::Export;
use crate::protocol::{
    OPTION_BYTES, OPTION_MAGIC, Reader, SERVER_MAGIC, answer, handshake, info, option, put_answer,
};

/// Largest data of an option in bytes: far more than any option needs.
pub const MAX_OPTION_BYTES: u32 = 64 << 10;
/// Longest export name that the protocol allows, in bytes.
const MAX_NAME_BYTES: usize = 4096;
/// Number of zeroes after the answer to `EXPORT_NAME`, unless both sides agree to leave them out.
const PADDING_BYTES: usize = 124;

/// State of a negotiation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The client has to send more.
    More,
    /// Both sides agree; requests follow.
    Agreed {
        /// Whether reads are answered in chunks.
        structured: bool,
    },
    /// The client ended the negotiation.
    Aborted,
}

/// Protocol violation after which the connection has to be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A message does not start with the protocol's magic number.
    #[error("the client does not speak NBD, or lost its place")]
    Magic,
    /// The greeting has flags that the server did not offer, or lacks `FIXED_NEWSTYLE`.
    #[error("the client's greeting has flags {flags:#x}, but must have 0x1 and may have 0x2")]
    Greeting {
        /// Flags of the client.
        flags: u32,
    },
    /// An option has more data than any option needs.
    #[error(
        "the client's option {option} has {length} bytes of data, more than {MAX_OPTION_BYTES}"
    )]
    OptionLength {
        /// Number of the option.
        option: u32,
        /// Length of its data in bytes.
        length: u32,
    },
    /// The client chose an export that does not exist, with an option that allows no error as an answer.
    #[error("the client asked for an export that does not exist")]
    NoSuchExport,
}

/// The server's side of a negotiation.
#[derive(Debug)]
pub struct Negotiation {
    greeted: bool,
    no_zeroes: bool,
    structured: bool,
}

impl Negotiation {
    /// Begins a negotiation and appends the greeting to `out`.
    pub fn begin(out: &mut Vec<u8>) -> Self {
        out.extend(SERVER_MAGIC.to_be_bytes());
        out.extend(OPTION_MAGIC.to_be_bytes());
        out.extend((handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES).to_be_bytes());
        Self {
            greeted: false,
            no_zeroes: false,
            structured: false,
        }
    }

    /// Takes one message from the front of `input`, if it is complete, and appends the answer to `out`. Returns the
    /// number of bytes taken and the new state. Takes no bytes from an incomplete message.
    ///
    /// # Errors
    /// The client broke the protocol, and the connection cannot go on.
    pub fn take(
        &mut self,
        input: &[u8],
        export: &Export,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Step), Violation> {
        let mut reader = Reader(input);
        if !self.greeted {
            let Some(flags) = reader.u32() else {
                return Ok((0, Step::More));
            };
            self.greet(flags)?;
            return Ok((4, Step::More));
        }
        // Checked as soon as the magic number is there: a client that does not speak NBD may never send more.
        if reader.u64().is_some_and(|magic| magic != OPTION_MAGIC) {
            return Err(Violation::Magic);
        }
        let (Some(option), Some(length)) = (reader.u32(), reader.u32()) else {
            return Ok((0, Step::More));
        };
        if length > MAX_OPTION_BYTES {
            return Err(Violation::OptionLength { option, length });
        }
        let Some(data) = reader.bytes(length as usize) else {
            return Ok((0, Step::More));
        };
        let step = self.answer(option, data, export, out)?;
        Ok((OPTION_BYTES + length as usize, step))
    }

    fn greet(&mut self, flags: u32) -> Result<(), Violation> {
        let offered = u32::from(handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES);
        if flags & !offered != 0 || flags & u32::from(handshake::FIXED_NEWSTYLE) == 0 {
            return Err(Violation::Greeting { flags });
        }
        self.greeted = true;
        self.no_zeroes = flags & u32::from(handshake::NO_ZEROES) != 0;
        Ok(())
    }

    fn answer(
        &mut self,
        asked: u32,
        data: &[u8],
        export: &Export,
        out: &mut Vec<u8>,
    ) -> Result<Step, Violation> {
        match asked {
            option::EXPORT_NAME if export.answers_to(data) => {
                out.extend(export.size_bytes.to_be_bytes());
                out.extend(export.flags().to_be_bytes());
                if !self.no_zeroes {
                    out.extend([0; PADDING_BYTES]);
                }
                return Ok(self.agreed());
            }
            option::EXPORT_NAME => return Err(Violation::NoSuchExport),
            option::ABORT => {
                put_answer(out, asked, answer::ACK, &[]);
                return Ok(Step::Aborted);
            }
            option::INFO | option::GO => {
                if answer_info(asked, data, export, out) && asked == option::GO {
                    return Ok(self.agreed());
                }
            }
            option::LIST if data.is_empty() => {
                put_answer(out, asked, answer::SERVER, &listed(export));
                put_answer(out, asked, answer::ACK, &[]);
            }
            option::STRUCTURED_REPLY if data.is_empty() => {
                self.structured = true;
                put_answer(out, asked, answer::ACK, &[]);
            }
            option::LIST | option::STRUCTURED_REPLY => {
                put_answer(out, asked, answer::ERR_INVALID, b"no data belongs here");
            }
            _ => put_answer(out, asked, answer::ERR_UNSUP, b"not known here"),
        }
        Ok(Step::More)
    }

    fn agreed(&self) -> Step {
        Step::Agreed {
            structured: self.structured,
        }
    }
}

fn listed(export: &Export) -> Vec<u8> {
    let mut data = (export.name.len() as u32).to_be_bytes().to_vec();
    data.extend(export.name.as_bytes());
    data.extend(export.description.as_bytes());
    data
}

/// Answers INFO or GO. Returns whether the data was valid and the export exists.
fn answer_info(asked: u32, data: &[u8], export: &Export, out: &mut Vec<u8>) -> bool {
    let Some((name, wanted)) = parse_info(data) else {
        put_answer(out, asked, answer::ERR_INVALID, b"the data cannot be read");
        return false;
    };
    if !export.answers_to(name) {
        put_answer(out, asked, answer::ERR_UNKNOWN, b"there is no such export");
        return false;
    }
    let mut tell = |kind: u16, rest: &[u8]| {
        put_answer(
            out,
            asked,
            answer::INFO,
            &[&kind.to_be_bytes(), rest].concat(),
        );
    };
    let size = export.size_bytes.to_be_bytes();
    tell(
        info::EXPORT,
        &[&size[..], &export.flags().to_be_bytes()].concat(),
    );
    tell(
        info::BLOCK_SIZE,
        &export.blocks().map(u32::to_be_bytes).concat(),
    );
    if wanted.contains(&info::NAME) {
        tell(info::NAME, export.name.as_bytes());
    }
    if wanted.contains(&info::DESCRIPTION) {
        tell(info::DESCRIPTION, export.description.as_bytes());
    }
    put_answer(out, asked, answer::ACK, &[]);
    true
}

/// Returns the name of the export and the kinds of information that the client wants.
fn parse_info(data: &[u8]) -> Option<(&[u8], Vec<u16>)> {
    let mut reader = Reader(data);
    let length = reader.u32()? as usize;
    let name = reader.bytes(length)?;
    let count = reader.u16()?;
    let wanted: Option<Vec<u16>> = (0..count).map(|_| reader.u16()).collect();
    (length <= MAX_NAME_BYTES && reader.0.is_empty()).then_some((name, wanted?))
}
