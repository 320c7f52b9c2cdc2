//! Reads a recording in order with bounded memory.

use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crate::io::Io;
use crate::recording::record::{RECORD_BYTES, Record};
use crate::recording::{CHUNK, Recording, place};

/// Reads a recording in order, with one chunk at a time in memory.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    recording: Arc<Recording>,
    /// Number of the next record.
    next: u64,
    chunk: Vec<u8>,
    /// Offset of the next record in the chunk.
    at: usize,
}

impl Reader {
    pub(crate) fn new(recording: Arc<Recording>) -> Self {
        Self {
            recording,
            next: 0,
            chunk: Vec::new(),
            at: 0,
        }
    }

    /// Returns the next I/O. After the last one it starts again, but a source's quota ends before
    /// that.
    #[inline]
    pub(crate) fn next_io(&mut self) -> Io {
        if self.next == self.recording.ios() {
            self.next = 0;
            self.at = self.chunk.len();
        }
        self.next_record().io
    }

    /// Returns the time at which the next I/O is due; `u64::MAX` after the last one.
    #[inline]
    pub(crate) fn next_due(&mut self) -> u64 {
        if self.next == self.recording.ios() {
            return u64::MAX;
        }
        self.next_record().due_ns
    }

    #[inline]
    fn next_record(&mut self) -> Record {
        if self.at == self.chunk.len() {
            self.refill();
        }
        let bytes = self.chunk[self.at..]
            .first_chunk()
            .expect("the chunk holds whole records");
        self.at += RECORD_BYTES;
        self.next += 1;
        Record::parse(bytes).expect("each record was looked at before the run")
    }

    /// # Panics
    /// If the file can no longer be read, although it was read before the run and is held open: the
    /// run then has no next I/O.
    #[cold]
    fn refill(&mut self) {
        let count = (self.recording.ios() - self.next).min(CHUNK as u64) as usize;
        self.chunk.resize(count * RECORD_BYTES, 0);
        self.at = 0;
        if let Err(error) = self
            .recording
            .file
            .read_exact_at(&mut self.chunk, place(self.next))
        {
            panic!(
                "{} cannot be read any more: {error}",
                self.recording.path.display()
            );
        }
    }
}
