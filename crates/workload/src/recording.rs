//! A recorded workload: I/Os and their times from a file of records, streamed with bounded memory.
//!
//! The file is [`MAGIC`], then one record of [`RECORD_BYTES`] for each I/O, all numbers
//! little-endian: `due_ns: u64, offset: u64, length: u32, op: u32` (0 read, 1 write, 2 trim). Due
//! times never decrease. The writer of the file has already mapped the I/Os to the drive: the file
//! holds exactly what is to be issued, and when.
//!
//! Before a run the file is read completely once. Its digest is compared with the one in the
//! workload, and each record with the bounds of its stream. The sequence is then a function of the
//! digest alone.

mod reader;
mod record;
mod survey;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::spec::{Ops, Pattern, Stream};

pub(crate) use reader::Reader;
pub use record::{RECORD_BYTES, Record};
use survey::Survey;

/// The first bytes of a file of records.
pub const MAGIC: [u8; 16] = *b"ssdlab records 1";
/// Records read at a time: 48 KiB.
const CHUNK: usize = 2048;

/// Why a file cannot be replayed as a recording.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is not a file of records, or ends within a record.
    #[error("{path} is not a file of records, or is truncated")]
    NotOne {
        /// The file.
        path: PathBuf,
    },
    /// The file holds no record.
    #[error("{path} holds no I/O")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A record is invalid.
    #[error("record {index} of {path} {why}")]
    Record {
        /// The file.
        path: PathBuf,
        /// Number of the record, from 0.
        index: u64,
        /// What is wrong with it, as the end of a sentence.
        why: &'static str,
    },
}

/// The totals of a whole recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingFacts {
    /// BLAKE3 of the file, in hex.
    pub digest: String,
    /// Number of reads.
    pub reads: u64,
    /// Number of writes.
    pub writes: u64,
    /// Number of trims.
    pub trims: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Bytes trimmed.
    pub trim_bytes: u64,
    /// Time at which the last I/O is due, ns.
    pub duration_ns: u64,
    /// The largest end of an I/O: the first byte after all of them.
    pub end: u64,
    /// Length of the longest I/O, in bytes.
    pub longest_bytes: u32,
    /// Largest power of two, up to 1 MiB, that divides every offset and length: the unit in which a
    /// drive must be able to address.
    pub unit_bytes: u32,
}

/// A file of records that was read once, found valid, and is held open.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    file: File,
    facts: RecordingFacts,
}

impl Recording {
    /// Reads the file completely and holds it open.
    ///
    /// # Errors
    /// If the file cannot be read, is not a file of records, is empty, or a record is invalid.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let failed = |source| RecordingError::Read {
            path: path.to_owned(),
            source,
        };
        let file = File::open(path).map_err(failed)?;
        let mut survey = Survey::new(path);
        let mut head = [0; MAGIC.len()];
        let length = file.metadata().map_err(failed)?.len();
        let body = length.checked_sub(head.len() as u64);
        let records = body.filter(|bytes| bytes.is_multiple_of(RECORD_BYTES as u64));
        let Some(records) = records.map(|bytes| bytes / RECORD_BYTES as u64) else {
            return Err(RecordingError::NotOne {
                path: path.to_owned(),
            });
        };
        file.read_exact_at(&mut head, 0).map_err(failed)?;
        if head != MAGIC {
            return Err(RecordingError::NotOne {
                path: path.to_owned(),
            });
        }
        survey.hasher.update(&head);
        let mut chunk = vec![0; CHUNK * RECORD_BYTES];
        for first in (0..records).step_by(CHUNK) {
            let bytes = &mut chunk[..(records - first).min(CHUNK as u64) as usize * RECORD_BYTES];
            file.read_exact_at(bytes, place(first)).map_err(failed)?;
            survey.take(bytes)?;
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            facts: survey.conclude()?,
        })
    }

    /// Returns the totals of the whole file.
    pub fn facts(&self) -> &RecordingFacts {
        &self.facts
    }

    /// Returns the number of I/Os.
    pub fn ios(&self) -> u64 {
        self.facts.reads + self.facts.writes + self.facts.trims
    }

    /// Opens the recording that a stream replays, if any, and compares it with what the stream says
    /// of it.
    ///
    /// # Errors
    /// Returns the wrong field, its value and the bound.
    pub(crate) fn of(stream: &Stream) -> Result<Option<Arc<Self>>, (&'static str, String, String)> {
        let Pattern::Recorded { path, digest } = &stream.pattern else {
            return Ok(None);
        };
        let opened = Self::open(Path::new(path)).map_err(|error| {
            (
                "pattern.recorded.path",
                path.clone(),
                format!("must be a file of records ({error})"),
            )
        })?;
        let facts = &opened.facts;
        let ops = Ops::Recorded {
            reads: facts.reads,
            writes: facts.writes,
            trims: facts.trims,
        };
        let unit = stream.smallest_block_bytes();
        let checks = [
            (
                "pattern.recorded.digest",
                *digest == facts.digest,
                digest.clone(),
                facts.digest.clone(),
            ),
            (
                "ops.recorded",
                stream.ops == ops,
                format!("{:?}", stream.ops),
                format!("{ops:?}"),
            ),
            (
                "block",
                facts.unit_bytes.is_multiple_of(unit)
                    && facts.longest_bytes <= stream.largest_block_bytes(),
                format!("{unit} to {}", stream.largest_block_bytes()),
                format!(
                    "a unit that divides {} and at least {}",
                    facts.unit_bytes, facts.longest_bytes
                ),
            ),
            (
                "span.length",
                stream.span.start == 0 && facts.end <= stream.span.length,
                stream.span.length.to_string(),
                format!("at least {}, from the drive's start", facts.end),
            ),
        ];
        for (field, holds, value, is) in checks {
            if !holds {
                return Err((field, value, format!("must be that of the recording, {is}")));
            }
        }
        Ok(Some(Arc::new(opened)))
    }
}

/// Returns the offset of a record in the file.
fn place(index: u64) -> u64 {
    MAGIC.len() as u64 + index * RECORD_BYTES as u64
}
