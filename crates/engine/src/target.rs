//! What is measured: a block device or a file, opened once and held for as long as it is used.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::fs::{AtFlags, StatxFlags};
use workload::spec::{Stream, Workload};

use crate::error::EngineError;

/// The logical block taken for a file whose file system does not tell (`STATX_DIOALIGN`, Linux 6.1).
const USUAL_LOGICAL_BLOCK_BYTES: u32 = 512;

/// A block device or a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole block device or a partition.
    Block,
    /// A regular file.
    File,
}

/// How a target is to be opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Writes and trims are allowed.
    pub write: bool,
    /// A block device is claimed, so that nobody can mount it meanwhile. Always so for writing.
    pub exclusive: bool,
}

/// An open target. Workers open it again through its descriptor, so a path that is moved meanwhile does no harm, and an
/// exclusive claim lasts from here to the drop.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    kind: Kind,
    size_bytes: u64,
    logical_block_bytes: u32,
    writable: bool,
    exclusive: bool,
    file: File,
}

impl Target {
    /// Opens a block device or an existing file.
    ///
    /// # Errors
    /// [`EngineError::Open`] with the errno (`EBUSY`: a block device is mounted or claimed);
    /// [`EngineError::NotADrive`] for anything else than a block device or a regular file.
    pub fn open(path: &Path, access: Access) -> Result<Self, EngineError> {
        let found = fs::metadata(path)
            .map_err(|e| EngineError::open(path, e))?
            .file_type();
        let kind = kind_of(found).ok_or_else(|| EngineError::NotADrive {
            path: path.to_owned(),
            found: name_of(found),
        })?;
        let exclusive = kind == Kind::Block && (access.write || access.exclusive);
        let claim = if exclusive { libc::O_EXCL } else { 0 };
        let file = OpenOptions::new()
            .read(true)
            .write(access.write)
            .custom_flags(libc::O_CLOEXEC | claim)
            .open(path)
            .map_err(|e| EngineError::open(path, e))?;
        let (size_bytes, logical_block_bytes) =
            geometry(&file, kind).map_err(|e| EngineError::open(path, e))?;
        Ok(Self {
            path: path.to_owned(),
            kind,
            size_bytes,
            logical_block_bytes,
            writable: access.write,
            exclusive,
            file,
        })
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Device or file.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Size in bytes when it was opened.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// What offsets and lengths of direct I/O must be multiples of, in bytes.
    pub fn logical_block_bytes(&self) -> u32 {
        self.logical_block_bytes
    }

    /// Whether it was opened for writing.
    pub fn writable(&self) -> bool {
        self.writable
    }

    /// Whether a block device is claimed.
    pub fn exclusive(&self) -> bool {
        self.exclusive
    }

    /// Makes written data durable: the drive's own cache is flushed too.
    ///
    /// # Errors
    /// [`EngineError::Open`] with the errno of `fsync`.
    pub fn flush(&self) -> Result<(), EngineError> {
        self.file
            .sync_all()
            .map_err(|e| EngineError::open(&self.path, e))
    }

    /// Discards a range of a device, or punches it out of a file, and waits for it.
    ///
    /// # Errors
    /// [`EngineError::Open`] with the errno: `EOPNOTSUPP` where that is not possible, `EBADF` if not opened for writing.
    pub fn trim(&self, offset: u64, length: u64) -> Result<(), EngineError> {
        let done = match self.kind {
            Kind::Block => crate::sys::discard(&self.file, offset, length),
            Kind::File => crate::sys::punch_hole(&self.file, offset, length),
        };
        done.map_err(|e| EngineError::open(&self.path, e))
    }

    /// Opens the same device or file once more, with the flags that a stream asks for.
    pub(crate) fn reopen(&self, stream: &Stream) -> Result<File, EngineError> {
        let mut flags = libc::O_CLOEXEC;
        if stream.direct || self.kind == Kind::Block {
            flags |= libc::O_DIRECT;
        }
        if stream.dsync {
            flags |= libc::O_DSYNC;
        }
        let through = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        OpenOptions::new()
            .read(true)
            .write(self.writable)
            .custom_flags(flags)
            .open(through)
            .map_err(|e| EngineError::open(&self.path, e))
    }

    /// Checks a workload against this target: alignment, span, permission to write.
    ///
    /// # Errors
    /// [`EngineError::Unaligned`], [`EngineError::BeyondEnd`], [`EngineError::ReadOnly`] or, for buffered I/O on a block
    /// device, [`EngineError::Unsupported`].
    pub fn check(&self, workload: &Workload) -> Result<(), EngineError> {
        workload
            .streams
            .iter()
            .try_for_each(|s| self.check_stream(s))
    }

    fn check_stream(&self, stream: &Stream) -> Result<(), EngineError> {
        if self.kind == Kind::Block && !stream.direct {
            return Err(EngineError::Unsupported {
                feature: "buffered I/O on a block device",
                advice: "leave direct I/O on; the page cache would be measured, not the drive",
            });
        }
        let changes_data = stream.writes() || stream.trims();
        if changes_data && !self.writable {
            return Err(EngineError::ReadOnly {
                stream: stream.name.clone(),
                path: self.path.clone(),
            });
        }
        let end = stream.span.end();
        if end > self.size_bytes {
            return Err(EngineError::BeyondEnd {
                stream: stream.name.clone(),
                end,
                size_bytes: self.size_bytes,
            });
        }
        if stream.direct || stream.trims() {
            self.check_alignment(stream)?;
        }
        Ok(())
    }

    fn check_alignment(&self, stream: &Stream) -> Result<(), EngineError> {
        let multiple_of = u64::from(self.logical_block_bytes);
        let blocks = stream.block.iter().map(|b| ("block", u64::from(b.bytes)));
        let span = [
            ("span.start", stream.span.start),
            ("span.length", stream.span.length),
        ];
        match blocks
            .chain(span)
            .find(|(_, value)| value % multiple_of != 0)
        {
            None => Ok(()),
            Some((field, value)) => Err(EngineError::Unaligned {
                stream: stream.name.clone(),
                field,
                value,
                multiple_of,
            }),
        }
    }
}

impl AsFd for Target {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn kind_of(found: fs::FileType) -> Option<Kind> {
    match found {
        f if f.is_block_device() => Some(Kind::Block),
        f if f.is_file() => Some(Kind::File),
        _ => None,
    }
}

fn name_of(found: fs::FileType) -> &'static str {
    match found {
        f if f.is_dir() => "a directory",
        f if f.is_char_device() => "a character device",
        f if f.is_fifo() => "a pipe",
        f if f.is_socket() => "a socket",
        _ => "something else",
    }
}

/// Size in bytes, and what direct I/O must be aligned to.
fn geometry(file: &File, kind: Kind) -> io::Result<(u64, u32)> {
    match kind {
        Kind::Block => {
            let size = rustix::fs::seek(file, rustix::fs::SeekFrom::End(0))?;
            Ok((size, rustix::fs::ioctl_blksszget(file)?))
        }
        Kind::File => Ok((file.metadata()?.size(), direct_alignment(file)?)),
    }
}

fn direct_alignment(file: &File) -> io::Result<u32> {
    let facts = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN)?;
    let told = facts.stx_mask & StatxFlags::DIOALIGN.bits() != 0;
    Ok(match facts.stx_dio_offset_align {
        bytes if told && bytes > 0 => bytes,
        _ => USUAL_LOGICAL_BLOCK_BYTES,
    })
}
