//! The append log: framed and checksummed, so that a kill at any byte loses nothing that was written before.

mod frame;
mod writer;

pub use frame::{FrameType, HEADER_BYTES, MAGIC};
pub use writer::LogWriter;

use std::path::PathBuf;

/// What can go wrong with a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The file system is full (or the quota).
    #[error("{path} cannot grow: the file system is full. Free some space and resume the run")]
    NoSpace {
        /// The log.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("cannot {action} {path}: {message} (errno {errno:?})")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The log.
        path: PathBuf,
        /// The kernel's error number, if it gave one.
        errno: Option<i32>,
        /// What the system says of it.
        message: String,
    },
    /// A frame would be longer than the format allows.
    #[error("a frame of {bytes} bytes is longer than the {most} that the log's format allows")]
    FrameTooLong {
        /// Its length.
        bytes: usize,
        /// The bound.
        most: u32,
    },
}

impl LogError {
    pub(crate) fn io(action: &'static str, path: &std::path::Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        let path = path.to_path_buf();
        if matches!(error.kind(), StorageFull | QuotaExceeded) {
            return Self::NoSpace { path };
        }
        Self::Io {
            action,
            path,
            errno: error.raw_os_error(),
            message: error.to_string(),
        }
    }
}
