//! The append log: framed and checksummed, so that a kill at any byte loses nothing that was
//! written before it.

pub(crate) mod contents;
mod frame;
pub(crate) mod payload;
mod reader;
pub(crate) mod sink;
pub(crate) mod varint;
mod writer;

use std::io;
use std::path::{Path, PathBuf};

pub use contents::{LogContents, read_log};
pub use frame::{Frame, FrameType, HEADER_BYTES, MAGIC, MAX_PAYLOAD_BYTES};
pub use reader::{LogEnd, LogReader};
pub use writer::LogWriter;

/// The version that this code writes, and the latest that it reads. Version 2 added the workers'
/// busy time to the footer; version 3 added flushes.
pub const FORMAT_VERSION: u32 = 3;

/// Errors of a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The file system is full, or the quota is used up.
    #[error("{path} cannot grow: its file system is full")]
    NoSpace {
        /// The log.
        path: PathBuf,
        /// The kernel's error number, if it gave one.
        errno: Option<i32>,
    },
    /// The operating system refused an operation.
    #[error("cannot {action} {path}: {message}")]
    Io {
        /// The operation.
        action: &'static str,
        /// The log.
        path: PathBuf,
        /// The kernel's error number, if it gave one.
        errno: Option<i32>,
        /// The system's message.
        message: String,
    },
    /// A frame would be longer than the format allows.
    #[error("a frame of {bytes} bytes is longer than the {limit} that the log's format allows")]
    FrameTooLong {
        /// Its length, in bytes.
        bytes: usize,
        /// The longest that the format allows, in bytes.
        limit: u32,
    },
    /// The file does not begin with a good header frame.
    #[error("{path} is not a log of ssdlab, or its first bytes are damaged")]
    NoHeader {
        /// The file.
        path: PathBuf,
    },
    /// The log was written by a newer version.
    #[error(
        "{path} has format {found}, this version reads up to {known}; read it with a newer ssdlab"
    )]
    NewerFormat {
        /// The log.
        path: PathBuf,
        /// The format of the log.
        found: u32,
        /// The latest format that this version reads.
        known: u32,
    },
    /// A frame with a good checksum does not hold what its type requires: a fault of the writer,
    /// not of the disk.
    #[error(
        "{path} has a frame of type {frame_type:?} that cannot be understood; report this as a fault of ssdlab"
    )]
    Malformed {
        /// The log.
        path: PathBuf,
        /// Type of the frame.
        frame_type: FrameType,
    },
    /// The intervals in the log do not add up to the totals in the log.
    #[error(
        "the intervals in {path} do not add up to its totals; report this as a fault of ssdlab"
    )]
    Inconsistent {
        /// The log.
        path: PathBuf,
    },
}

impl LogError {
    /// Returns the kernel's error number, if there is one.
    #[must_use]
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::NoSpace { errno, .. } | Self::Io { errno, .. } => *errno,
            _ => None,
        }
    }

    pub(crate) fn io(action: &'static str, path: &Path, error: &io::Error) -> Self {
        let path = path.to_path_buf();
        if matches!(
            error.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        ) {
            return Self::NoSpace {
                path,
                errno: error.raw_os_error(),
            };
        }
        Self::Io {
            action,
            path,
            errno: error.raw_os_error(),
            message: error.to_string(),
        }
    }
}
