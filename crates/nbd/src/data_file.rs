//! Contents in a sparse file: they outlive the server and may be larger than memory.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, FlockOperation, fallocate, flock};

use crate::error::ServeError;
use crate::protocol::Fault;

/// Zeroes written at a time where holes cannot be punched.
static ZEROES: [u8; 64 << 10] = [0; 64 << 10];

/// A sparse file, locked for as long as it is open.
#[derive(Debug)]
pub struct DataFile {
    file: File,
}

impl DataFile {
    /// Opens a regular file of exactly `size_bytes`, or creates one that only its owner can read.
    pub(crate) fn open(path: &Path, size_bytes: u64) -> Result<Self, ServeError> {
        let failed = |source| ServeError::Data {
            path: path.to_owned(),
            source,
        };
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(0o600);
        let made = options.clone().create_new(true).open(path);
        let (file, new) = match made {
            Ok(file) => (file, true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                check(path, size_bytes)?;
                (options.open(path).map_err(failed)?, false)
            }
            Err(error) => return Err(failed(error)),
        };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(ServeError::DataInUse(path.to_owned()));
        }
        if new {
            file.set_len(size_bytes).map_err(failed)?;
        }
        Ok(Self { file })
    }

    pub(crate) fn read(&self, offset: u64, data: &mut [u8]) -> Result<(), Fault> {
        self.file.read_exact_at(data, offset).map_err(|_| Fault::Io)
    }

    pub(crate) fn write(&self, offset: u64, data: &[u8]) -> Result<(), Fault> {
        self.file
            .write_all_at(data, offset)
            .map_err(|error| match error.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Fault::NoSpace,
                _ => Fault::Io,
            })
    }

    pub(crate) fn zero(&self, offset: u64, length: u64) -> Result<(), Fault> {
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        if fallocate(&self.file, hole, offset, length).is_ok() {
            return Ok(());
        }
        let end = offset + length;
        let mut at = offset;
        while at < end {
            let part = (end - at).min(ZEROES.len() as u64);
            self.write(at, &ZEROES[..part as usize])?;
            at += part;
        }
        Ok(())
    }
}

/// Checks that an existing file can be the contents of this drive: a regular file of the right size.
fn check(path: &Path, size_bytes: u64) -> Result<(), ServeError> {
    let found = path.metadata().map_err(|source| ServeError::Data {
        path: path.to_owned(),
        source,
    })?;
    if found.is_file() && found.len() == size_bytes {
        return Ok(());
    }
    Err(ServeError::NotContents {
        path: PathBuf::from(path),
        size_bytes,
        found_bytes: found.is_file().then_some(found.len()),
    })
}
