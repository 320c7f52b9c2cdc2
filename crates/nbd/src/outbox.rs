//! Replies on their way: held until they are due, then sent as fast as the client takes them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;

use crate::contents::Contents;
use crate::protocol::{Fault, put_data_chunk, put_error_chunk, put_simple_reply};
use crate::socket::{Moved, try_send};

/// Data of a read is fetched by so many bytes at a time, when the client has taken what came before.
const PIECE_BYTES: u64 = 1 << 20;

/// So many bytes read or written may wait for the client to take the replies; the last one may go beyond.
const MAX_HELD_BYTES: u64 = 64 << 20;

/// What a reply says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Say {
    /// Done.
    Done,
    /// Here is the data.
    Data { offset: u64, length: u32 },
    /// It was not done.
    Failed { fault: Fault, read: bool },
}

/// A reply that is held.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    /// When to send it to a client that is awake, on the drive's clock, ns: its completion, less what serving costs.
    pub send_ns: u64,
    /// When the drive has completed it, ns.
    pub done_ns: u64,
    /// The client's mark.
    pub cookie: u64,
    /// What it says.
    pub say: Say,
    /// Bytes that were asked to be read or written.
    pub bytes: u64,
}

/// Replies held and being sent.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    held: Vec<Option<Held>>,
    free: Vec<u32>,
    /// By time, then by the order in which they came.
    order: BinaryHeap<Reverse<(u64, u64, u32)>>,
    came: u64,
    held_bytes: u64,
    bytes: Vec<u8>,
    gone: usize,
    /// Rest of a read's data, which follows `bytes`.
    rest: Range<u64>,
}

impl Outbox {
    /// Replies that are held.
    pub(crate) fn waiting(&self) -> usize {
        self.order.len()
    }

    /// Whether so much is on its way to the client that nothing more is to be answered.
    pub(crate) fn is_full(&self) -> bool {
        (self.bytes.len() - self.gone) as u64 > PIECE_BYTES
    }

    /// Whether more may be done of what the client asks: not before it takes what was done.
    pub(crate) fn has_room(&self) -> bool {
        self.held_bytes < MAX_HELD_BYTES
    }

    /// Nothing is on its way to the client.
    pub(crate) fn is_sent(&self) -> bool {
        self.gone == self.bytes.len() && self.rest.is_empty()
    }

    /// The next reply to be sent.
    pub(crate) fn next(&self) -> Option<&Held> {
        let Reverse((_, _, place)) = self.order.peek()?;
        self.held[*place as usize].as_ref()
    }

    /// Bytes for the client that are due now: words of the negotiation.
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

    /// Puts the next reply on its way if it is due at `now_ns` and the one before it is all sent or small.
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

    /// Sends as much as the client takes. Whether it may take more at once.
    ///
    /// # Errors
    /// The client is gone, or the rest of a read cannot be had: its reply is half sent, so nothing can be said any more.
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
