//! Replies to one client: held until they are due, then sent as fast as the client takes them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;

use crate::contents::Contents;
use crate::protocol::{Fault, put_data_chunk, put_error_chunk, put_simple_reply};
use crate::socket::{Moved, try_send};

/// The data of a read is fetched in pieces of this size; each is fetched once the client has taken the piece before.
const PIECE_BYTES: u64 = 1 << 20;

/// Limit on the bytes read or written by commands whose replies are held; the last command may exceed it.
const MAX_HELD_BYTES: u64 = 64 << 20;

/// Content of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Say {
    /// The command was done.
    Done,
    /// The data of a read.
    Data { offset: u64, length: u32 },
    /// The command was not done.
    Failed { fault: Fault, read: bool },
}

/// A reply that is held until it is due.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    /// When to send the reply to a client that is awake, in ns on the drive's clock: completion less the cost of serving.
    pub send_ns: u64,
    /// When the drive completes the command, in ns.
    pub done_ns: u64,
    pub cookie: u64,
    pub say: Say,
    /// Bytes that the command reads or writes.
    pub bytes: u64,
}

/// Replies that are held, and bytes that are being sent.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    held: Vec<Option<Held>>,
    free: Vec<u32>,
    /// Held replies by send time, then by order of arrival.
    order: BinaryHeap<Reverse<(u64, u64, u32)>>,
    came: u64,
    held_bytes: u64,
    bytes: Vec<u8>,
    gone: usize,
    /// Range of a read's data that is still to follow `bytes`.
    rest: Range<u64>,
}

impl Outbox {
    /// Returns the number of replies that are held.
    pub(crate) fn waiting(&self) -> usize {
        self.order.len()
    }

    /// Returns whether so many bytes are unsent that the client has to take some before it gets more answers.
    pub(crate) fn is_full(&self) -> bool {
        (self.bytes.len() - self.gone) as u64 > PIECE_BYTES
    }

    /// Returns whether more commands may be carried out. If not, the client has to take earlier replies first.
    pub(crate) fn has_room(&self) -> bool {
        self.held_bytes < MAX_HELD_BYTES
    }

    /// Returns whether everything released has been sent.
    pub(crate) fn is_sent(&self) -> bool {
        self.gone == self.bytes.len() && self.rest.is_empty()
    }

    /// Returns the next reply to be sent.
    pub(crate) fn next(&self) -> Option<&Held> {
        let Reverse((_, _, place)) = self.order.peek()?;
        self.held[*place as usize].as_ref()
    }

    /// Returns the buffer for bytes that are due now, such as answers of the negotiation.
    pub(crate) fn now(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Holds a reply until it is due.
    pub(crate) fn hold(&mut self, held: Held) {
        self.held_bytes += held.bytes;
        let place = self.free.pop().unwrap_or(self.held.len() as u32);
        if place as usize == self.held.len() {
            self.held.push(None);
        }
        self.held[place as usize] = Some(held);
        self.order.push(Reverse((held.send_ns, self.came, place)));
        self.came += 1;
    }

    /// Releases the next reply to be sent, if it is due at `now_ns` and the replies before it are sent or small.
    pub(crate) fn release(
        &mut self,
        now_ns: u64,
        structured: bool,
        contents: &Contents,
    ) -> Option<Held> {
        let &Reverse((send_ns, _, place)) = self.order.peek()?;
        let full = self.bytes.len() as u64 >= PIECE_BYTES || !self.rest.is_empty();
        if send_ns > now_ns || full {
            return None;
        }
        self.order.pop();
        self.free.push(place);
        let held = self.held[place as usize].take()?;
        self.held_bytes -= held.bytes;
        self.put(&held, structured, contents);
        Some(held)
    }

    fn put(&mut self, held: &Held, structured: bool, contents: &Contents) {
        let out = &mut self.bytes;
        match held.say {
            Say::Data { offset, length } => {
                let before = out.len();
                if structured {
                    put_data_chunk(out, held.cookie, offset, length);
                } else {
                    put_simple_reply(out, held.cookie, None);
                }
                self.rest = offset..offset + u64::from(length);
                if let Err(fault) = self.fetch(contents) {
                    self.rest = 0..0;
                    self.bytes.truncate(before);
                    put_fault(&mut self.bytes, held.cookie, fault, structured);
                }
            }
            Say::Done => put_simple_reply(out, held.cookie, None),
            Say::Failed { fault, read } => put_fault(out, held.cookie, fault, read && structured),
        }
    }

    /// Appends the next piece of a read's data.
    fn fetch(&mut self, contents: &Contents) -> Result<(), Fault> {
        let length = (self.rest.end - self.rest.start).min(PIECE_BYTES);
        let from = self.bytes.len();
        self.bytes.resize(from + length as usize, 0);
        contents.read(self.rest.start, &mut self.bytes[from..])?;
        self.rest.start += length;
        Ok(())
    }

    /// Sends as much as the client takes without waiting.
    ///
    /// # Errors
    /// The client is gone, or the remaining data of a read cannot be fetched: its reply is half sent, so no error can
    /// be reported any more.
    pub(crate) fn send(&mut self, socket: &OwnedFd, contents: &Contents) -> io::Result<()> {
        loop {
            if self.gone == self.bytes.len() {
                self.bytes.clear();
                self.gone = 0;
                if self.rest.is_empty() {
                    return Ok(());
                }
                self.fetch(contents)
                    .map_err(|fault| io::Error::other(fault.message()))?;
            }
            match try_send(socket, &self.bytes[self.gone..])? {
                Moved::Bytes(count) => self.gone += count,
                Moved::NotNow => return Ok(()),
            }
        }
    }
}

fn put_fault(out: &mut Vec<u8>, cookie: u64, fault: Fault, structured: bool) {
    if structured {
        put_error_chunk(out, cookie, fault);
    } else {
        put_simple_reply(out, cookie, Some(fault));
    }
}
