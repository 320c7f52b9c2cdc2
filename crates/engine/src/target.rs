//! What is measured: a block device or a file, opened once and held for as long as it is used.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::fs::{AtFlags, OFlags, StatxFlags};
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

/// How a target is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Writes and trims are allowed.
    pub write: bool,
    /// A block device is claimed, so that nobody can mount it meanwhile. Always so for writing.
    pub exclusive: bool,
}

/// An open target. Everything goes through its one descriptor: workers open it again by that, never by a path, so nothing
/// that happens to the path meanwhile matters, and an exclusive claim lasts from here to the drop.
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

/// Device, number and device number of an inode: what it is, whatever it is called.
type Inode = (u64, u64, u64);

impl Target {
    /// Opens a block device or an existing file. The last part of the path is not followed if it is a link, and nothing
    /// else than a device or a file is opened even for a moment.
    ///
    /// # Errors
    /// [`EngineError::Open`] with the errno (`EBUSY`: a block device is mounted or claimed);
    /// [`EngineError::NotADrive`] for anything else than a block device or a regular file; [`EngineError::Reopen`].
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

    /// Takes over what is open under a descriptor of this process, which stays the caller's: both share one open file.
    ///
    /// `path` is what people know it by. `access.exclusive` says that the descriptor holds the claim on a block device.
    ///
    /// # Errors
    /// [`EngineError::Open`] with the errno (`EBADF`: it is not open, or not for writing); [`EngineError::NotADrive`].
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

    /// What people know it by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the kernel tells of the open file, whatever became of its name.
    pub(crate) fn metadata(&self) -> Option<fs::Metadata> {
        self.file.metadata().ok()
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
        if stream.direct {
            flags |= libc::O_DIRECT;
        }
        if stream.dsync {
            flags |= libc::O_DSYNC;
        }
        // By its number alone: the thread of a worker may have given up the files of the process.
        let held = self.file.as_raw_fd();
        open_again(held, self.inode, &self.path, self.writable, flags)
    }

    /// Checks a workload against this target: alignment, span, permission to write.
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

/// Opens what the process has open already once more, with other flags, by its descriptor; `path` is for messages.
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
        // The descriptor is open, so that it is the folder of descriptors that is not there.
        Some(libc::ENOENT | libc::ENOTDIR) => elsewhere(),
        _ => EngineError::open(path, e),
    })?;
    // What lies at `/proc` may be that of another namespace, or none of the kernel's at all.
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
