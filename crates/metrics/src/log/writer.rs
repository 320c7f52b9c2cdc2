//! Appends frames to a log.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::LogError;
use super::frame::{FrameType, MAX_PAYLOAD_BYTES, header};
use super::reader::{LogEnd, LogReader};

/// The writing end of a log. A frame is handed to the kernel whole, so a killed process loses none
/// that was appended; a crash of the machine loses none that was appended before the last
/// [`Self::sync`].
#[derive(Debug)]
pub struct LogWriter {
    file: File,
    path: PathBuf,
    /// Where the last good frame ends.
    good_bytes: u64,
    buffer: Vec<u8>,
}

impl LogWriter {
    /// A new log.
    ///
    /// # Errors
    /// If it exists already or cannot be made.
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

    /// A new log in an open, empty file; `path` names it in errors.
    pub fn from_file(file: File, path: impl Into<PathBuf>) -> Self {
        Self {
            file,
            path: path.into(),
            good_bytes: 0,
            buffer: Vec::new(),
        }
    }

    /// Continues a log behind its last good frame; what stands there of a bad one is cut off.
    /// Also tells how the log ended.
    ///
    /// # Errors
    /// If it cannot be opened, read or cut.
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

    /// Where the log is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one frame.
    ///
    /// # Errors
    /// If the payload is too long or cannot be written. What was written of it is cut off, so the
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
            // Should this fail too, the reader stops there all the same.
            let _ = self.file.set_len(self.good_bytes);
            return Err(LogError::io("append to", &self.path, &error));
        }
        self.good_bytes += self.buffer.len() as u64;
        Ok(())
    }

    /// Flushes the log to stable storage (`fdatasync`).
    ///
    /// # Errors
    /// If the system cannot; the file system may be full only now.
    pub fn sync(&mut self) -> Result<(), LogError> {
        self.file
            .sync_data()
            .map_err(|error| LogError::io("flush", &self.path, &error))
    }
}
