//! Reading ahead: streams that are read in order are found, and what they will want next is fetched before it is asked for.
//!
//! A drive follows so many streams at once. A read that goes on where one of them ended is of that stream; any other begins a new
//! one, in place of the one that was used longest ago. Two reads in a row may be chance, so no more is fetched ahead of a stream
//! than has gone on in it: what is fetched in vain never exceeds what was read. More streams than the drive follows find no place
//! that lasts, and cost what random reads cost.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::profile::spec::{ReadAheadSpec, UNIT};

/// Units that were fetched together.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Piece {
    /// The unit behind the last of them.
    pub(crate) end: u64,
    /// When they are in the controller.
    pub(crate) there: u64,
}

/// A stream that is read in order.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Stream {
    /// Where it goes on, in bytes.
    next: u64,
    /// Bytes that were read in order behind its first read.
    in_order: u64,
    /// The unit until which it has been fetched, and the pieces not handed to the host yet.
    fetched: u64,
    pieces: VecDeque<Piece>,
    /// The number of the read that used it last.
    used: u64,
}

impl Stream {
    /// What of the units from `unit` on was fetched together, no further than `end`.
    pub(crate) fn fetched(&mut self, unit: u64, end: u64) -> Option<Piece> {
        while self.pieces.front().is_some_and(|piece| piece.end <= unit) {
            self.pieces.pop_front();
        }
        let piece = self.pieces.front()?;
        Some(Piece {
            end: piece.end.min(end),
            ..*piece
        })
    }

    /// It has been read until `end`, in bytes.
    pub(crate) fn goes_on(&mut self, end: u64) {
        self.in_order += end - self.next;
        self.next = end;
    }

    /// A piece was fetched, behind all others.
    pub(crate) fn put(&mut self, piece: Piece) {
        self.fetched = piece.end;
        self.pieces.push_back(piece);
    }
}

/// The streams that are followed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ReadAhead {
    spec: ReadAheadSpec,
    streams: Vec<Stream>,
    reads: u64,
}

impl ReadAhead {
    pub(crate) fn new(spec: ReadAheadSpec) -> Self {
        Self {
            spec,
            streams: vec![Stream::default(); spec.streams as usize],
            reads: 0,
        }
    }

    /// The stream that goes on at this byte.
    pub(crate) fn find(&self, start: u64) -> Option<usize> {
        let goes_on = |stream: &Stream| stream.used > 0 && stream.next == start;
        self.streams.iter().position(goes_on)
    }

    /// A read that is of no stream ends here: another stream may have begun.
    pub(crate) fn begin(&mut self, end: u64) {
        self.reads += 1;
        if let Some(oldest) = self.streams.iter_mut().min_by_key(|stream| stream.used) {
            oldest.next = end;
            oldest.in_order = 0;
            oldest.fetched = 0;
            oldest.pieces.clear();
            oldest.used = self.reads;
        }
    }

    /// Takes a stream out, to be read from.
    pub(crate) fn take(&mut self, stream: usize) -> Stream {
        std::mem::take(&mut self.streams[stream])
    }

    /// Puts it back when it has been read from.
    pub(crate) fn put_back(&mut self, place: usize, mut stream: Stream) {
        self.reads += 1;
        stream.used = self.reads;
        self.streams[place] = stream;
    }

    /// The units to be fetched for a stream, of `all` that there are: none while half of what it reads ahead is there, since
    /// neighbouring units are read together.
    pub(crate) fn wanted(&self, stream: &Stream, all: u64) -> std::ops::Range<u64> {
        let end = stream.next.div_ceil(UNIT);
        let units = u64::from(self.spec.units).min(stream.in_order / UNIT);
        let from = stream.fetched.max(end);
        let until = if from < end + units.div_ceil(2) {
            (end + units).min(all)
        } else {
            from
        };
        from..until
    }
}
