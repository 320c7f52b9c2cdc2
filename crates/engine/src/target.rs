//! The target of a run: a block device or a file, opened once and held for as long as it is used.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::fs::{AtFlags, OFlags, StatxFlags};
use workload::spec::{Stream, Workload};

use crate::error::EngineError;

/// Logical block assumed for a file whose file system does not report one (`STATX_DIOALIGN`, Linux 6.1).
const USUAL_LOGICAL_BLOCK_BYTES: u32 = 512;

/// Kind of target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole block device or a partition.
    Block,
    /// A regular file.
    File,
}

/// How to open a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Whether writes and trims are allowed.
    pub write: bool,
    /// Whether to claim a block device, so that nobody can mount it meanwhile. Opening for writing always claims it.
    pub exclusive: bool,
}

/// An open target. All access goes through its one descriptor: workers reopen that descriptor, never a path, so changes
/// to the path do not matter. An exclusive claim lasts until the target is dropped.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    kind: Kind,
    size_bytes: u64,
    logical_block_bytes: u32,
    writable: bool,
    exclusive: bool,
    inode: Inode,
    file: File,
}

/// Identity of an inode, whatever its name: containing device, inode number, and device number if it is a device.
type Inode = (u64, u64, u64);

impl Target {
    /// Opens a block device or an existing file. If the last part of the path is a symbolic link, it is not followed.
    /// Any other kind of file is never opened, not even for a moment.
    ///
    /// # Errors
    /// [`EngineError::Open`] with the errno (`EBUSY`: a block device is mounted or claimed); [`EngineError::NotADrive`]
    /// if the path is neither a block device nor a regular file; [`EngineError::Reopen`].
    pub fn open(path: &Path, access: Access) -> Result<Self, EngineError> {
        let pinned = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_CLOEXEC | libc::O_PATH | libc::O_NOFOLLOW)
            .open(path)
            .map_err(|e| EngineError::open(path, e))?;
        let kind = kind_of(&pinned, path)?;
        let exclusive = kind == Kind::Block && (access.write || access.exclusive);
        let claim = if exclusive { libc::O_EXCL } else { 0 };
        let inode = inode_of(&pinned).map_err(|e| EngineError::open(path, e))?;
        let flags = libc::O_CLOEXEC | claim;
        let file = open_again(pinned.as_raw_fd(), inode, path, access.write, flags)?;
        Self::of_file(
            file,
            path,
            Access {
                exclusive,
                ..access
            },
        )
    }

    /// Makes a target from an open descriptor of this process. The caller keeps its descriptor; both share one open
    /// file.
    ///
    /// `path` is the name for messages. `access.exclusive` says that the descriptor holds the claim on a block device.
    ///
    /// # Errors
    /// [`EngineError::Open`] with the errno (`EBADF`: the descriptor is not open, or not open for writing);
    /// [`EngineError::NotADrive`].
    pub fn from_descriptor(
        descriptor: RawFd,
        path: &Path,
        access: Access,
    ) -> Result<Self, EngineError> {
        let file = crate::sys::duplicate(descriptor).map_err(|e| EngineError::open(path, e))?;
        Self::of_file(file.into(), path, access)
    }

    fn of_file(file: File, path: &Path, access: Access) -> Result<Self, EngineError> {
        let kind = kind_of(&file, path)?;
        let flags = rustix::fs::fcntl_getfl(&file).map_err(|e| EngineError::open(path, e))?;
        if access.write && !flags.contains(OFlags::RDWR) {
            return Err(EngineError::open(path, rustix::io::Errno::BADF));
        }
        let (size_bytes, logical_block_bytes) =
            geometry(&file, kind).map_err(|e| EngineError::open(path, e))?;
        Ok(Self {
            path: path.to_owned(),
            kind,
            size_bytes,
            logical_block_bytes,
            writable: access.write,
            exclusive: access.exclusive && kind == Kind::Block,
            inode: inode_of(&file).map_err(|e| EngineError::open(path, e))?,
            file,
        })
    }

    /// Returns the path by which people know the target.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the kernel's metadata of the open file, even if its path has changed.
    pub(crate) fn metadata(&self) -> Option<fs::Metadata> {
        self.file.metadata().ok()
    }

    /// Returns whether the target is a device or a file.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the size in bytes when the target was opened.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Returns the logical block in bytes. Offsets and lengths of direct I/O must be multiples of it.
    pub fn logical_block_bytes(&self) -> u32 {
        self.logical_block_bytes
    }

    /// Returns whether the target was opened for writing.
    pub fn writable(&self) -> bool {
        self.writable
    }

    /// Returns whether the target is a block device that is claimed.
    pub fn exclusive(&self) -> bool {
        self.exclusive
    }

    /// Makes written data durable; this also flushes the drive's own cache.
    ///
    /// # Errors
    /// [`EngineError::Open`] with the errno of `fsync`.
    pub fn flush(&self) -> Result<(), EngineError> {
        self.file
            .sync_all()
            .map_err(|e| EngineError::open(&self.path, e))
    }

    /// Discards a range of a device, or punches a hole into a file, and waits for completion.
    ///
    /// # Errors
    /// [`EngineError::Open`] with the errno: `EOPNOTSUPP` if the target cannot trim, `EBADF` if it is not open for
    /// writing.
    pub fn trim(&self, offset: u64, length: u64) -> Result<(), EngineError> {
        let done = match self.kind {
            Kind::Block => crate::sys::discard(&self.file, offset, length),
            Kind::File => crate::sys::punch_hole(&self.file, offset, length),
        };
        done.map_err(|e| EngineError::open(&self.path, e))
    }

    /// Opens the same device or file again, with the flags that a stream needs.
    pub(crate) fn reopen(&self, stream: &Stream) -> Result<File, EngineError> {
        let mut flags = libc::O_CLOEXEC;
        if stream.direct {
            flags |= libc::O_DIRECT;
        }
        if stream.dsync {
            flags |= libc::O_DSYNC;
        }
        // Passes the number alone: a worker's thread may no longer hold this descriptor, but `/proc/self` still does.
        let held = self.file.as_raw_fd();
        open_again(held, self.inode, &self.path, self.writable, flags)
    }

    /// Checks a workload against this target: alignment, span, and permission to write.
    ///
    /// # Errors
    /// [`EngineError::Unaligned`], [`EngineError::BeyondEnd`] or [`EngineError::ReadOnly`].
    pub fn check(&self, workload: &Workload) -> Result<(), EngineError> {
        workload
            .streams
            .iter()
            .try_for_each(|s| self.check_stream(s))
    }

    fn check_stream(&self, stream: &Stream) -> Result<(), EngineError> {
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
        let blocks = stream.blocks().map(|b| ("block", u64::from(b.bytes)));
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

/// Opens the file behind a descriptor of this process again, with other flags; `path` is for messages.
fn open_again(
    held: RawFd,
    inode: Inode,
    path: &Path,
    write: bool,
    flags: i32,
) -> Result<File, EngineError> {
    let elsewhere = || EngineError::Reopen {
        path: path.to_owned(),
    };
    let opened = OpenOptions::new()
        .read(true)
        .write(write)
        .custom_flags(flags)
        .open(format!("/proc/self/fd/{held}"));
    let file = opened.map_err(|e| match e.raw_os_error() {
        // The descriptor is open, so it is `/proc/self/fd` itself that is missing.
        Some(libc::ENOENT | libc::ENOTDIR) => elsewhere(),
        _ => EngineError::open(path, e),
    })?;
    // `/proc` may belong to another PID namespace, or may not be the kernel's at all.
    let found = inode_of(&file).map_err(|e| EngineError::open(path, e))?;
    (found == inode).then_some(file).ok_or_else(elsewhere)
}

fn inode_of(file: &File) -> io::Result<Inode> {
    file.metadata().map(|m| (m.dev(), m.ino(), m.rdev()))
}

fn kind_of(file: &File, path: &Path) -> Result<Kind, EngineError> {
    let found = file
        .metadata()
        .map_err(|e| EngineError::open(path, e))?
        .file_type();
    match found {
        f if f.is_block_device() => Ok(Kind::Block),
        f if f.is_file() => Ok(Kind::File),
        _ => Err(EngineError::NotADrive {
            path: path.to_owned(),
            found: name_of(found),
        }),
    }
}

fn name_of(found: fs::FileType) -> &'static str {
    match found {
        f if f.is_dir() => "a directory",
        f if f.is_char_device() => "a character device",
        f if f.is_fifo() => "a pipe",
        f if f.is_socket() => "a socket",
        f if f.is_symlink() => "a symbolic link",
        _ => "something else",
    }
}

/// Returns the size in bytes, and the alignment that direct I/O needs, in bytes.
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
