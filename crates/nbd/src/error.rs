//! Errors that keep a drive from being served.

use std::io;
use std::path::PathBuf;

/// Why a drive cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The path of the socket already exists.
    #[error("{} is there already", .0.display())]
    SocketExists(PathBuf),
    /// The path is longer than a socket address can hold.
    #[error("{} is too long for a socket: {length} bytes, and 107 are possible", .path.display())]
    SocketPathTooLong {
        /// The path.
        path: PathBuf,
        /// Length of the path in bytes.
        length: usize,
    },
    /// The server cannot listen on the address.
    #[error("{address} cannot be listened on: {source}")]
    Listen {
        /// Path or port.
        address: String,
        /// Underlying error.
        source: io::Error,
    },
    /// The file of contents cannot be opened or created.
    #[error("{} cannot hold the contents: {source}", .path.display())]
    Data {
        /// Path of the file.
        path: PathBuf,
        /// Underlying error.
        source: io::Error,
    },
    /// Another server is using the file of contents.
    #[error("{} is in use by another server", .0.display())]
    DataInUse(PathBuf),
    /// The existing file cannot be the contents of this drive.
    #[error("{} is there, and is not a file of {size_bytes} bytes", .path.display())]
    NotContents {
        /// Path of the file.
        path: PathBuf,
        /// Size of the drive in bytes.
        size_bytes: u64,
        /// Size of the file in bytes; `None` if it is not a regular file.
        found_bytes: Option<u64>,
    },
    /// The cost of serving could not be measured.
    #[error("the cost of serving could not be measured: {0}")]
    Calibration(io::Error),
    /// A thread could not be started, or a thread of the server panicked.
    #[error("the server could not be started: {0}")]
    Start(io::Error),
}

impl ServeError {
    /// Returns advice for the user, in one line.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::SocketExists(_) => "name another with --socket, or end what listens there",
            Self::SocketPathTooLong { .. } => "name a shorter one with --socket",
            Self::Listen { .. } => "name another with --socket or --tcp",
            Self::Data { .. } | Self::NotContents { .. } => {
                "name a file that is not there yet, or one that was made for this drive"
            }
            Self::DataInUse(_) => "name another file, or end the other server",
            Self::Calibration(_) | Self::Start(_) => {
                "look at the limits of this process (ulimit -a)"
            }
        }
    }
}
