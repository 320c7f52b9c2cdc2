//! Appends frames to a log.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::LogError;
use super::frame::{FrameType, MAX_PAYLOAD_BYTES, header};

/// The writing end of a log. Frames are written through at once; they are safe from a crash of the machine after
/// [`Self::sync`].
#[derive(Debug)]
pub struct LogWriter {
    file: File,
    path: PathBuf,
    buffer: Vec<u8>,
}

impl LogWriter {
    /// A new log.
    ///
    /// # Errors
    /// If it exists already or cannot be made.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, LogError> {
        let path = path.into();
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let file = file.map_err(|error| LogError::io("create", &path, &error))?;
        Ok(Self {
            file,
            path,
            buffer: Vec::new(),
        })
    }

    /// Where the log is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one frame.
    ///
    /// # Errors
    /// If the payload is too long or cannot be written.
    pub fn append(&mut self, frame_type: FrameType, payload: &[u8]) -> Result<(), LogError> {
        if payload.len() > MAX_PAYLOAD_BYTES as usize {
            return Err(LogError::FrameTooLong {
                bytes: payload.len(),
                most: MAX_PAYLOAD_BYTES,
            });
        }
        self.buffer.clear();
        self.buffer.extend_from_slice(&header(frame_type, payload));
        self.buffer.extend_from_slice(payload);
        self.file
            .write_all(&self.buffer)
            .map_err(|error| LogError::io("append to", &self.path, &error))
    }

    /// Flushes the log to stable storage (`fdatasync`).
    ///
    /// # Errors
    /// If the system cannot.
    pub fn sync(&mut self) -> Result<(), LogError> {
        self.file
            .sync_data()
            .map_err(|error| LogError::io("flush", &self.path, &error))
    }
}
