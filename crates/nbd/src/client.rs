//! A client that does no more than clients must: for the measurement of what serving costs, and for tests.
//!
//! Clients that people use (fio, `nbdcopy`) rest on a library that waits with `poll` and takes a structured reply field by
//! field; this one can do likewise, so that it costs what they cost.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::protocol::{
    CHUNK_DATA, CHUNK_DONE, CHUNK_MAGIC, OPTION_MAGIC, OPTION_REPLY_MAGIC, REQUEST_MAGIC, Reader,
    SERVER_MAGIC, SIMPLE_REPLY_MAGIC, answer, command, handshake, option,
};

/// A request in the making.
#[derive(Debug, Clone, Copy)]
pub struct Ask {
    /// Kind, as the protocol numbers it.
    pub kind: u16,
    /// Flags.
    pub flags: u16,
    /// Mark that the reply carries.
    pub cookie: u64,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u32,
}

impl Ask {
    /// A read.
    pub fn read(cookie: u64, offset: u64, length: u32) -> Self {
        Self {
            kind: command::READ,
            flags: 0,
            cookie,
            offset,
            length,
        }
    }

    /// As it is sent.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = REQUEST_MAGIC.to_be_bytes().to_vec();
        bytes.extend(self.flags.to_be_bytes());
        bytes.extend(self.kind.to_be_bytes());
        bytes.extend(self.cookie.to_be_bytes());
        bytes.extend(self.offset.to_be_bytes());
        bytes.extend(self.length.to_be_bytes());
        bytes
    }
}

/// A connection, after the negotiation.
#[derive(Debug)]
pub struct Client {
    socket: OwnedFd,
    size_bytes: u64,
    buffer: Vec<u8>,
}

impl Client {
    /// Greets and chooses the one export; replies are simple ones.
    ///
    /// # Errors
    /// The server is none, or goes away.
    pub fn connect(socket: OwnedFd) -> io::Result<Self> {
        let mut client = Self::greet(socket)?;
        client.choose()?;
        Ok(client)
    }

    /// As [`Self::connect`], but reads are answered in chunks: for [`Self::take_chunk`].
    ///
    /// # Errors
    /// The server is none, goes away, or does not know structured replies.
    pub fn connect_structured(socket: OwnedFd) -> io::Result<Self> {
        let mut client = Self::greet(socket)?;
        client.ask_for(option::STRUCTURED_REPLY, &[])?;
        if client.take_answer()? != answer::ACK {
            return Err(unexpected());
        }
        client.choose()?;
        Ok(client)
    }

    fn greet(socket: OwnedFd) -> io::Result<Self> {
        let mut client = Self {
            socket,
            size_bytes: 0,
            buffer: Vec::new(),
        };
        let greeting = client.receive(18)?;
        let mut reader = Reader(greeting);
        let known = reader.u64() == Some(SERVER_MAGIC) && reader.u64() == Some(OPTION_MAGIC);
        if !known {
            return Err(unexpected());
        }
        let flags = u32::from(handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES);
        client.send(&flags.to_be_bytes())?;
        Ok(client)
    }

    fn choose(&mut self) -> io::Result<()> {
        // The empty name, and nothing wanted beyond what must be told.
        self.ask_for(option::GO, &[0; 6])?;
        while self.take_answer()? != answer::ACK {}
        Ok(())
    }

    fn ask_for(&mut self, option: u32, data: &[u8]) -> io::Result<()> {
        let mut bytes = OPTION_MAGIC.to_be_bytes().to_vec();
        bytes.extend(option.to_be_bytes());
        bytes.extend((data.len() as u32).to_be_bytes());
        bytes.extend(data);
        self.send(&bytes)
    }

    /// Bytes of the drive.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// The server is gone.
    pub fn send(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match send(&self.socket, bytes, SendFlags::NOSIGNAL) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Takes a reply: its mark and error. The data of a read has to be taken with [`Self::receive`].
    ///
    /// # Errors
    /// The server is gone, or it is no reply.
    pub fn reply(&mut self) -> io::Result<(u64, u32)> {
        let mut reader = Reader(self.receive(16)?);
        let fields = (reader.u32(), reader.u32(), reader.u64());
        match fields {
            (Some(SIMPLE_REPLY_MAGIC), Some(error), Some(cookie)) => Ok((cookie, error)),
            _ => Err(unexpected()),
        }
    }

    /// Waits for a read's structured reply, which is one chunk, and takes it with its data.
    ///
    /// # Errors
    /// The server is gone, or it is no such reply.
    pub fn take_chunk(&mut self) -> io::Result<&[u8]> {
        let mut waited = [PollFd::new(&self.socket, PollFlags::IN)];
        poll(&mut waited, None)?;
        let mut head = Reader(self.receive(16)?);
        let fields = (head.u32(), head.u16(), head.u16());
        if fields != (Some(CHUNK_MAGIC), Some(CHUNK_DONE), Some(CHUNK_DATA)) {
            return Err(unexpected());
        }
        let length = Reader(self.receive(4)?).u32().ok_or_else(unexpected)? as usize;
        let offset_bytes = self.receive(8)?.len();
        self.receive(length.saturating_sub(offset_bytes))
    }

    /// Exactly so many bytes.
    ///
    /// # Errors
    /// The server is gone.
    pub fn receive(&mut self, length: usize) -> io::Result<&[u8]> {
        if self.buffer.len() < length {
            self.buffer.resize(length, 0);
        }
        let mut filled = 0;
        while filled < length {
            match recv(
                &self.socket,
                &mut self.buffer[filled..length],
                RecvFlags::empty(),
            ) {
                Ok((0, _)) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok((count, _)) => filled += count,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(&self.buffer[..length])
    }

    /// Takes one answer to GO and returns its kind.
    fn take_answer(&mut self) -> io::Result<u32> {
        let mut reader = Reader(self.receive(20)?);
        let (magic, _, kind) = (reader.u64(), reader.u32(), reader.u32());
        let length = reader.u32().ok_or_else(unexpected)? as usize;
        let kind = kind.filter(|kind| magic == Some(OPTION_REPLY_MAGIC) && *kind <= answer::INFO);
        let mut data = Reader(self.receive(length)?);
        if data.u16() == Some(crate::protocol::info::EXPORT) {
            self.size_bytes = data.u64().ok_or_else(unexpected)?;
        }
        kind.ok_or_else(unexpected)
    }
}

fn unexpected() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the server's answer was not expected",
    )
}
