//! Appends frames to a log.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::LogError;
use super::frame::{FrameType, MAX_PAYLOAD_BYTES, header};
use super::reader::{LogEnd, LogReader};

/// Appends frames to a log. The kernel receives every frame whole: if the process is killed, no
/// appended frame is lost. If the machine crashes, no frame is lost that was appended before the
/// last [`Self::sync`].
#[derive(Debug)]
pub struct LogWriter {
    file: File,
    path: PathBuf,
    /// Offset at which the last good frame ends.
    good_bytes: u64,
    buffer: Vec<u8>,
}

impl LogWriter {
    /// Creates a new log.
    ///
    /// # Errors
    /// If the file exists already or cannot be created.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, LogError> {
        let path = path.into();
        let file = OpenOptions::new().append(true).create_new(true).open(&path);
        let file = file.map_err(|error| LogError::io("create", &path, &error))?;
        Ok(Self {
            file,
            path,
            good_bytes: 0,
            buffer: Vec::new(),
        })
    }

    /// Starts a new log in an open, empty file; `path` names it in errors.
    pub fn from_file(file: File, path: impl Into<PathBuf>) -> Self {
        Self {
            file,
            path: path.into(),
            good_bytes: 0,
            buffer: Vec::new(),
        }
    }

    /// Opens a log to continue it after its last good frame, and cuts off what follows. Also
    /// returns how the log ended.
    ///
    /// # Errors
    /// If the file cannot be opened, read or truncated.
    pub fn reopen(path: impl Into<PathBuf>) -> Result<(Self, LogEnd), LogError> {
        let path = path.into();
        let mut reader = LogReader::open(&path)?;
        while reader.next_frame()?.is_some() {}
        let good_bytes = reader.good_bytes();
        let file = OpenOptions::new().append(true).open(&path);
        let file = file.map_err(|error| LogError::io("open", &path, &error))?;
        file.set_len(good_bytes)
            .map_err(|error| LogError::io("cut the torn end off", &path, &error))?;
        let writer = Self {
            file,
            path,
            good_bytes,
            buffer: Vec::new(),
        };
        Ok((writer, reader.end().unwrap_or(LogEnd::Clean)))
    }

    /// Returns the path of the log.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one frame.
    ///
    /// # Errors
    /// If the payload is too long or cannot be written. A partly written frame is cut off, so the
    /// log stays good and the caller may try again.
    pub fn append(&mut self, frame_type: FrameType, payload: &[u8]) -> Result<(), LogError> {
        if payload.len() > MAX_PAYLOAD_BYTES as usize {
            return Err(LogError::FrameTooLong {
                bytes: payload.len(),
                limit: MAX_PAYLOAD_BYTES,
            });
        }
        self.buffer.clear();
        self.buffer.extend_from_slice(&header(frame_type, payload));
        self.buffer.extend_from_slice(payload);
        if let Err(error) = self.file.write_all(&self.buffer) {
            // If this fails too, a reader still stops at the partial frame.
            let _ = self.file.set_len(self.good_bytes);
            return Err(LogError::io("append to", &self.path, &error));
        }
        self.good_bytes += self.buffer.len() as u64;
        Ok(())
    }

    /// Flushes the log to stable storage (`fdatasync`).
    ///
    /// # Errors
    /// If the system cannot flush. A full file system may show only now.
    pub fn sync(&mut self) -> Result<(), LogError> {
        self.file
            .sync_data()
            .map_err(|error| LogError::io("flush", &self.path, &error))
    }
}
