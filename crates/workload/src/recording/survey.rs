//! The first pass over a recording: digest, totals, and checks of every record.

use std::path::Path;

use crate::recording::record::{RECORD_BYTES, Record};
use crate::recording::{RecordingError, RecordingFacts};
use crate::spec::SECTOR_BYTES;
use crate::validate::MAX_BLOCK_BYTES;

pub(super) struct Survey<'a> {
    path: &'a Path,
    pub(super) hasher: blake3::Hasher,
    index: u64,
    counts: [u64; 3],
    bytes: [u64; 3],
    last_ns: u64,
    end: u64,
    longest: u32,
    /// All offsets and lengths, or-ed; the lowest bit set is the unit.
    bits: u64,
}

impl<'a> Survey<'a> {
    pub(super) fn new(path: &'a Path) -> Self {
        Self {
            path,
            hasher: blake3::Hasher::new(),
            index: 0,
            counts: [0; 3],
            bytes: [0; 3],
            last_ns: 0,
            end: 0,
            longest: 0,
            bits: 1 << 20,
        }
    }

    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), RecordingError> {
        self.hasher.update(bytes);
        let (records, _) = bytes.as_chunks::<RECORD_BYTES>();
        for record in records {
            if let Err(why) = self.add(Record::parse(record)) {
                let (path, index) = (self.path.to_owned(), self.index);
                return Err(RecordingError::Record { path, index, why });
            }
            self.index += 1;
        }
        Ok(())
    }

    fn add(&mut self, record: Option<Record>) -> Result<(), &'static str> {
        let Record { due_ns, io } = record.ok_or("has an operation that is none")?;
        if due_ns < self.last_ns {
            return Err("is due before the one in front of it");
        }
        let end = io
            .offset
            .checked_add(u64::from(io.length))
            .ok_or("ends beyond all bytes")?;
        if io.length == 0 || io.length > MAX_BLOCK_BYTES {
            return Err("has a length that no I/O has");
        }
        let bits = io.offset | u64::from(io.length);
        if bits & u64::from(SECTOR_BYTES - 1) != 0 {
            return Err("does not consist of whole sectors of 512 bytes");
        }
        self.last_ns = due_ns;
        self.end = self.end.max(end);
        self.longest = self.longest.max(io.length);
        self.bits |= bits;
        self.counts[io.op as usize] += 1;
        self.bytes[io.op as usize] += u64::from(io.length);
        Ok(())
    }

    pub(super) fn conclude(self) -> Result<RecordingFacts, RecordingError> {
        if self.index == 0 {
            return Err(RecordingError::Empty {
                path: self.path.to_owned(),
            });
        }
        let ([reads, writes, trims], [read_bytes, write_bytes, trim_bytes]) =
            (self.counts, self.bytes);
        Ok(RecordingFacts {
            digest: self.hasher.finalize().to_hex().to_string(),
            reads,
            writes,
            trims,
            read_bytes,
            write_bytes,
            trim_bytes,
            duration_ns: self.last_ns,
            end: self.end,
            longest_bytes: self.longest,
            unit_bytes: 1 << self.bits.trailing_zeros(),
        })
    }
}
