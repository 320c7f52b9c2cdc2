//! What keeps a drive from being served.

use std::io;
use std::path::PathBuf;

/// Why a drive cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Something is where the socket should be.
    #[error("{} is there already", .0.display())]
    SocketExists(PathBuf),
    /// The path is longer than a socket's address can be.
    #[error("{} is too long for a socket: {length} bytes, and 107 are possible", .path.display())]
    SocketPathTooLong {
        /// The path.
        path: PathBuf,
        /// Its bytes.
        length: usize,
    },
    /// The socket cannot be made.
    #[error("{address} cannot be listened on: {source}")]
    Listen {
        /// Path or port.
        address: String,
        /// Why.
        source: io::Error,
    },
    /// The file of contents cannot be opened or made.
    #[error("{} cannot hold the contents: {source}", .path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file of contents belongs to another server.
    #[error("{} is in use by another server", .0.display())]
    DataInUse(PathBuf),
    /// The file is not contents of this drive.
    #[error("{} is there, and is not a file of {size_bytes} bytes", .path.display())]
    NotContents {
        /// The file.
        path: PathBuf,
        /// Bytes of the drive.
        size_bytes: u64,
        /// Bytes of the file; `None` if it is no regular file.
        found_bytes: Option<u64>,
    },
    /// The cost of serving could not be measured.
    #[error("the cost of serving could not be measured: {0}")]
    Calibration(io::Error),
    /// A thread could not be started.
    #[error("the server could not be started: {0}")]
    Start(io::Error),
}

impl ServeError {
    /// What the reader can do, in one line.
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
