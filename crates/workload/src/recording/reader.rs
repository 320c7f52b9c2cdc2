//! Goes through a recording with bounded memory.

use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crate::generator::Io;
use crate::recording::record::{RECORD_BYTES, Record};
use crate::recording::{CHUNK, Recording, place};

/// Goes through a recording, a chunk in memory at a time.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    recording: Arc<Recording>,
    /// The next record.
    next: u64,
    chunk: Vec<u8>,
    /// Where the next record begins in the chunk.
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

    /// The next I/O. Behind the last one it begins anew: a source's quota ends before.
    #[inline]
    pub(crate) fn next_io(&mut self) -> Io {
        if self.next == self.recording.ios() {
            self.next = 0;
            self.at = self.chunk.len();
        }
        self.next_record().io
    }

    /// When the next I/O is due; never, behind the last one.
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
    /// If the file, which was read a moment ago and is held open, cannot be read any more: the run has no next I/O then.
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
