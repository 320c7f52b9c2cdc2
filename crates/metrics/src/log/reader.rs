//! Reads a log up to its end or its first bad frame.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use super::LogError;
use super::frame::{Frame, FrameType, HEADER_BYTES, checksum, fields};
use super::payload;
use crate::io_columns::IoColumns;

/// How a log ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogEnd {
    /// After a whole frame.
    Clean,
    /// Within a frame: a write was cut short.
    CutShort,
    /// With bytes that are not a frame, or with a frame that does not match its checksum.
    Damaged,
}

/// Reads the frames of a log in order, up to the first bad one.
#[derive(Debug)]
pub struct LogReader<R = BufReader<File>> {
    source: R,
    path: PathBuf,
    good_bytes: u64,
    end: Option<LogEnd>,
}

impl LogReader {
    /// Opens a log.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, LogError> {
        let path = path.into();
        let file = File::open(&path).map_err(|error| LogError::io("open", &path, &error))?;
        Ok(Self::new(BufReader::with_capacity(1 << 16, file), path))
    }
}

impl<R: Read> LogReader<R> {
    /// Reads a log from `source`; `path` names it in errors.
    pub fn new(source: R, path: impl Into<PathBuf>) -> Self {
        Self {
            source,
            path: path.into(),
            good_bytes: 0,
            end: None,
        }
    }

    /// Returns the next good frame; `None` at the end, and then [`Self::end`] tells how the log
    /// ends.
    ///
    /// # Errors
    /// If the system cannot read. A bad frame is not an error; it ends the log.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, LogError> {
        if self.end.is_some() {
            return Ok(None);
        }
        let mut header = [0; HEADER_BYTES];
        match self.fill(&mut header)? {
            0 => return Ok(self.stop(LogEnd::Clean)),
            HEADER_BYTES => {}
            _ => return Ok(self.stop(LogEnd::CutShort)),
        }
        let Some(fields) = fields(&header) else {
            return Ok(self.stop(LogEnd::Damaged));
        };
        let mut payload = vec![0; fields.length];
        if self.fill(&mut payload)? < fields.length {
            return Ok(self.stop(LogEnd::CutShort));
        }
        if checksum(&header, &payload) != fields.checksum {
            return Ok(self.stop(LogEnd::Damaged));
        }
        self.good_bytes += (HEADER_BYTES + fields.length) as u64;
        Ok(Some(Frame {
            code: fields.code,
            payload,
        }))
    }

    /// Returns the next chunk of per-I/O columns, skipping other frames.
    ///
    /// # Errors
    /// If the system cannot read, or if the payload of a frame with a good checksum is malformed.
    pub fn next_ios(&mut self) -> Result<Option<IoColumns>, LogError> {
        while let Some(frame) = self.next_frame()? {
            if frame.frame_type() == Some(FrameType::IoColumns) {
                let columns = payload::io_columns(&frame.payload);
                return columns
                    .map(Some)
                    .ok_or_else(|| self.malformed(FrameType::IoColumns));
            }
        }
        Ok(None)
    }

    /// Returns how the log ends, once the last frame has been read.
    pub fn end(&self) -> Option<LogEnd> {
        self.end
    }

    /// Returns the total length of the good frames read so far, in bytes.
    pub fn good_bytes(&self) -> u64 {
        self.good_bytes
    }

    /// Returns the path, as used in errors.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn malformed(&self, frame_type: FrameType) -> LogError {
        LogError::Malformed {
            path: self.path.clone(),
            frame_type,
        }
    }

    fn stop(&mut self, end: LogEnd) -> Option<Frame> {
        self.end = Some(end);
        None
    }

    /// Reads until `target` is full or the source ends; returns the number of bytes read.
    fn fill(&mut self, target: &mut [u8]) -> Result<usize, LogError> {
        let mut filled = 0;
        while filled < target.len() {
            match self.source.read(&mut target[filled..]) {
                Ok(0) => break,
                Ok(bytes) => filled += bytes,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(LogError::io("read", &self.path, &error)),
            }
        }
        Ok(filled)
    }
}
