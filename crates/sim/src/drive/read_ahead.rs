//! Read-ahead: detects streams that the host reads in order, and fetches what they will need next.
//!
//! A drive follows a fixed number of streams. A read that starts where one of them ended continues that stream. Any other
//! read begins a new stream in place of the least recently used one. Two consecutive reads may be chance, so the drive never
//! fetches further ahead than the stream has been read in order: data fetched in vain never exceeds data read. If there are
//! more streams than the drive follows, they keep evicting each other and cost as much as random reads.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::profile::spec::{ReadAheadSpec, UNIT};

/// Units that were fetched together.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Piece {
    /// The unit after the last one fetched.
    pub(crate) end: u64,
    /// When the units are in the controller, in ns.
    pub(crate) there: u64,
}

/// A stream that the host reads in order.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Stream {
    /// Byte at which the stream continues.
    next: u64,
    /// Bytes read in order after the stream's first read.
    in_order: u64,
    /// The unit up to which data has been fetched.
    fetched: u64,
    /// Fetched pieces that the host has not read completely.
    pieces: VecDeque<Piece>,
    /// Number of the read that last used the stream; 0: none has.
    used: u64,
}

impl Stream {
    /// Returns the fetched piece that contains `unit`, cut off at `end`. Drops the pieces before it.
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

    /// Records that the host has read the stream up to the byte `end`.
    pub(crate) fn goes_on(&mut self, end: u64) {
        self.in_order += end - self.next;
        self.next = end;
    }

    /// Adds a piece that was fetched after all others.
    pub(crate) fn put(&mut self, piece: Piece) {
        self.fetched = piece.end;
        self.pieces.push_back(piece);
    }
}

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

    /// Returns the stream that continues at byte `start`.
    pub(crate) fn find(&self, start: u64) -> Option<usize> {
        let goes_on = |stream: &Stream| stream.used > 0 && stream.next == start;
        self.streams.iter().position(goes_on)
    }

    /// Begins a new stream at byte `end`, where a read outside all streams ended.
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

    pub(crate) fn take(&mut self, stream: usize) -> Stream {
        std::mem::take(&mut self.streams[stream])
    }

    /// Puts a stream back into its place and marks it as the most recently used.
    pub(crate) fn put_back(&mut self, place: usize, mut stream: Stream) {
        self.reads += 1;
        stream.used = self.reads;
        self.streams[place] = stream;
    }

    /// Returns the units to fetch for a stream, on a drive of `all` units. Returns none while at least half of the read-ahead
    /// is fetched: larger fetches let neighbouring units share an array read.
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
