//! A client that does only what a client must, for the calibration and for tests.
//!
//! Common clients (fio, `nbdcopy`) use a library that waits with `poll` and takes a structured reply field by field.
//! This client can do the same, so that it costs as much as they do.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::protocol::{
    CHUNK_DATA, CHUNK_DONE, CHUNK_MAGIC, OPTION_MAGIC, OPTION_REPLY_MAGIC, REQUEST_MAGIC, Reader,
    SERVER_MAGIC, SIMPLE_REPLY_MAGIC, answer, command, handshake, option,
};

/// A request to be sent.
#[derive(Debug, Clone, Copy)]
pub struct Ask {
    /// Kind of request, as the protocol numbers it.
    pub kind: u16,
    /// Flags of the request.
    pub flags: u16,
    /// Cookie that the reply carries.
    pub cookie: u64,
    /// Offset of the first byte.
    pub offset: u64,
    /// Length in bytes.
    pub length: u32,
}

impl Ask {
    /// Returns a read request.
    pub fn read(cookie: u64, offset: u64, length: u32) -> Self {
        Self {
            kind: command::READ,
            flags: 0,
            cookie,
            offset,
            length,
        }
    }

    /// Returns the request in the form in which it is sent.
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

/// A connection that has completed its negotiation.
#[derive(Debug)]
pub struct Client {
    socket: OwnedFd,
    size_bytes: u64,
    buffer: Vec<u8>,
}

impl Client {
    /// Negotiates and chooses the server's only export; replies are simple replies.
    ///
    /// # Errors
    /// The peer is not an NBD server, or it closes the connection.
    pub fn connect(socket: OwnedFd) -> io::Result<Self> {
        let mut client = Self::greet(socket)?;
        client.choose()?;
        Ok(client)
    }

    /// Works like [`Self::connect`], but reads are answered in chunks, for [`Self::take_chunk`].
    ///
    /// # Errors
    /// The peer is not an NBD server, closes the connection, or does not support structured replies.
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
        // The empty name, and no request for information beyond what the server must send.
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

    /// Returns the size of the drive in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Sends bytes unchanged.
    ///
    /// # Errors
    /// The server has closed the connection.
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

    /// Receives a simple reply: its cookie and its error. The data of a read must then be taken with [`Self::receive`].
    ///
    /// # Errors
    /// The server has closed the connection, or the message is not a simple reply.
    pub fn reply(&mut self) -> io::Result<(u64, u32)> {
        let mut reader = Reader(self.receive(16)?);
        let fields = (reader.u32(), reader.u32(), reader.u64());
        match fields {
            (Some(SIMPLE_REPLY_MAGIC), Some(error), Some(cookie)) => Ok((cookie, error)),
            _ => Err(unexpected()),
        }
    }

    /// Waits for a read's structured reply, which is one chunk, and returns its data.
    ///
    /// # Errors
    /// The server has closed the connection, or the message is not such a reply.
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

    /// Receives exactly `length` bytes.
    ///
    /// # Errors
    /// The server has closed the connection.
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

    /// Receives one answer to an option and returns the kind of answer.
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
