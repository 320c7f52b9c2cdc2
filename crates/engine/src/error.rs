//! Errors of the engine: facts as fields, advice in words.

use std::io;
use std::path::{Path, PathBuf};

use metrics::{CollectorError, LogError};
use workload::SpecError;

use crate::outcome::Outcome;

/// Why a target could not be opened, or why a run could not start or finish.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The workload contradicts itself.
    #[error("{0}")]
    Spec(#[from] SpecError),
    /// The target could not be opened, queried, flushed or trimmed.
    #[error("cannot open {}: {}", path.display(), io::Error::from_raw_os_error(*errno))]
    Open {
        /// Path of the target.
        path: PathBuf,
        /// The kernel's error number.
        errno: i32,
    },
    /// The target is neither a block device nor a regular file.
    #[error("{} is {found}, not a block device or a file", path.display())]
    NotADrive {
        /// Path that was to be opened.
        path: PathBuf,
        /// Kind of file found there, such as `a directory`.
        found: &'static str,
    },
    /// The open target could not be opened a second time through its descriptor.
    #[error("cannot open {} again: /proc/self/fd does not lead to it", path.display())]
    Reopen {
        /// The target.
        path: PathBuf,
    },
    /// An offset or a length is not a multiple of the target's logical block.
    #[error(
        "stream {stream:?}: {field} of {value} bytes is not a multiple of {multiple_of}, the logical block"
    )]
    Unaligned {
        /// Name of the stream.
        stream: String,
        /// Field of the workload.
        field: &'static str,
        /// Value of the field, in bytes.
        value: u64,
        /// Logical block, in bytes.
        multiple_of: u64,
    },
    /// The span of a stream ends beyond the end of the target.
    #[error("stream {stream:?}: the span ends at byte {end}, but the target has {size_bytes}")]
    BeyondEnd {
        /// Name of the stream.
        stream: String,
        /// First byte after the span.
        end: u64,
        /// Size of the target, in bytes.
        size_bytes: u64,
    },
    /// A stream writes or trims, but the target was opened for reading only.
    #[error("stream {stream:?} changes data, but {} was opened for reading", path.display())]
    ReadOnly {
        /// Name of the stream.
        stream: String,
        /// The target.
        path: PathBuf,
    },
    /// The kernel, device or file system does not support a feature that was asked for.
    #[error("{feature} is not available here")]
    Unsupported {
        /// The feature.
        feature: &'static str,
        /// What the user can do.
        advice: &'static str,
    },
    /// A CPU is offline or not allowed to this process.
    #[error("CPU {cpu} is offline or not allowed to this process")]
    Cpu {
        /// Number of the CPU.
        cpu: u32,
    },
    /// The I/O buffers would exceed [`Options::buffer_bytes_max`](crate::Options::buffer_bytes_max).
    #[error("the I/O buffers need {needed_bytes} bytes, more than the bound of {limit_bytes}")]
    Buffers {
        /// Buffer bytes that the I/Os in flight of all workers need.
        needed_bytes: u64,
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// The host refused a resource that a run needs: memory, a thread, or a ring.
    #[error("{what} failed: {}", io::Error::from_raw_os_error(*errno))]
    Setup {
        /// Operation that failed.
        what: &'static str,
        /// The kernel's error number.
        errno: i32,
    },
    /// The append log could not be written, so the run was stopped.
    #[error("{source}")]
    Log {
        /// Why the log could not be written.
        source: LogError,
        /// What was measured until then.
        measured: Option<Box<Outcome>>,
    },
    /// The run's deadline passed before the run ended.
    #[error("the lease on the run was not renewed in time, and nothing more was issued")]
    Overdue {
        /// What was measured until then.
        measured: Option<Box<Outcome>>,
    },
    /// I/Os failed in a way that ends a run.
    #[error("{}", .0)]
    Io(Box<IoFailure>),
    /// The collector cannot record the workload as asked.
    #[error("{message}")]
    Recording {
        /// Reason that the collector gave.
        message: String,
    },
    /// A worker panicked, which is a bug in this program.
    #[error("a worker panicked: {message}")]
    Panicked {
        /// Message of the panic.
        message: String,
    },
}

/// The I/O that ended a run, and what was measured before it.
#[derive(Debug, thiserror::Error)]
#[error(
    "{operation}{} of {} failed: {}",
    place(*length, *offset),
    device.display(),
    describe(*errno)
)]
pub struct IoFailure {
    /// The kernel's error number; 0 for a short transfer.
    pub errno: i32,
    /// `read`, `write`, `trim`, `flush`, or `io_uring_enter` if the ring itself failed.
    pub operation: &'static str,
    /// The target.
    pub device: PathBuf,
    /// Byte offset of the I/O.
    pub offset: u64,
    /// Length of the I/O in bytes; 0 for a flush or a failed ring, which have no offset.
    pub length: u32,
    /// What was measured, the failed I/Os included.
    pub measured: Option<Box<Outcome>>,
}

fn place(length: u32, offset: u64) -> String {
    if length == 0 {
        String::new()
    } else {
        format!(" of {length} bytes at byte {offset}")
    }
}

fn describe(errno: i32) -> String {
    if errno == 0 {
        "the transfer was short".to_owned()
    } else {
        io::Error::from_raw_os_error(errno).to_string()
    }
}

impl EngineError {
    pub(crate) fn open(path: &Path, error: impl Into<io::Error>) -> Self {
        Self::Open {
            path: path.to_owned(),
            errno: error.into().raw_os_error().unwrap_or(libc::EIO),
        }
    }

    pub(crate) fn setup(what: &'static str, error: impl Into<io::Error>) -> Self {
        Self::Setup {
            what,
            errno: error.into().raw_os_error().unwrap_or(libc::EIO),
        }
    }

    /// Returns the kernel's error number, if there is one.
    #[must_use]
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::Open { errno, .. } | Self::Setup { errno, .. } => Some(*errno),
            Self::Io(failure) => Some(failure.errno),
            Self::Log { source, .. } => source.errno(),
            _ => None,
        }
    }

    /// Returns what was measured before the error, if anything was.
    #[must_use]
    pub fn into_measured(self) -> Option<Outcome> {
        match self {
            Self::Io(failure) => failure.measured.map(|m| *m),
            Self::Log { measured, .. } | Self::Overdue { measured } => measured.map(|m| *m),
            _ => None,
        }
    }

    /// Returns advice for the user, in one line.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Spec(_) | Self::Recording { .. } => "correct the workload",
            Self::Open { errno, .. } => open_advice(*errno),
            Self::NotADrive { .. } => "name a block device such as /dev/nvme0n1, or a file",
            Self::Reopen { .. } => {
                "mount the proc file system of this PID namespace at /proc (mount -t proc proc /proc)"
            }
            Self::Unaligned { .. } => "use multiples of the logical block",
            Self::BeyondEnd { .. } => "choose a span inside the target",
            Self::ReadOnly { .. } => "open the target for writing",
            Self::Unsupported { advice, .. } => advice,
            Self::Cpu { .. } => "choose CPUs from those online and allowed (see /proc/self/status)",
            Self::Buffers { .. } => "use fewer workers, less depth or smaller blocks",
            Self::Setup { errno, .. } => setup_advice(*errno),
            Self::Overdue { .. } => {
                "see whether another process has taken the run over, then resume it"
            }
            Self::Log { .. } => "free space where results are kept, then resume",
            Self::Io(failure) => io_advice(failure.errno),
            Self::Panicked { .. } => "report this with the command that led to it",
        }
    }
}

impl From<CollectorError> for EngineError {
    fn from(error: CollectorError) -> Self {
        match error {
            CollectorError::Log(source) => Self::Log {
                source,
                measured: None,
            },
            other => Self::Recording {
                message: other.to_string(),
            },
        }
    }
}

fn open_advice(errno: i32) -> &'static str {
    match errno {
        libc::EACCES | libc::EPERM => "run as root, or as a user who may open it",
        libc::EBUSY => "unmount it, and close what holds it (see lsblk and fuser)",
        libc::ENOENT => "check the name; a file that is to be made needs a size",
        libc::EROFS => "it is write-protected; choose another target or make it writable",
        libc::EINVAL => "its file system has no direct I/O; put the file on another one",
        libc::EMFILE | libc::ENFILE => "raise the limit of open files (ulimit -n)",
        _ => "check that the target is there and healthy (see the kernel log)",
    }
}

fn setup_advice(errno: i32) -> &'static str {
    match errno {
        libc::ENOMEM => {
            "free memory or raise the limit of locked memory (ulimit -l); or use fewer workers or less depth"
        }
        libc::EMFILE | libc::ENFILE => "raise the limit of open files (ulimit -n)",
        libc::EAGAIN => "raise the limit of threads (ulimit -u), or use fewer workers",
        libc::EPERM | libc::EACCES => {
            "run as root, or allow it (see sysctl kernel.io_uring_disabled)"
        }
        _ => "see what `ssdlab doctor` says about this host",
    }
}

fn io_advice(errno: i32) -> &'static str {
    match errno {
        libc::ENODEV | libc::ENXIO => {
            "the drive is gone; see the kernel log, and check cable and power"
        }
        libc::ENOSPC => "the file system is full; free space or use a smaller file",
        libc::EINVAL => "the drive refuses such I/Os; check block size and alignment",
        libc::EOPNOTSUPP => "the drive or file system cannot do this operation",
        _ => "see the kernel log and the drive's health",
    }
}
