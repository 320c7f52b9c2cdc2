//! Checks whether the device or file supports what a workload asks for, before the first I/O where that can be known.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;

use workload::spec::{Stream, Workload};

use crate::error::EngineError;
use crate::target::{Kind, Target};

/// A missing feature, and advice for the user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missing {
    feature: &'static str,
    advice: &'static str,
}

pub(crate) const NO_TRIM: Missing = Missing {
    feature: "trim",
    advice: "the device or file system has no discard; with io_uring a device needs Linux 6.12, so try the sync engine",
};
pub(crate) const NO_POLLING: Missing = Missing {
    feature: "polling for completions",
    advice: "give the driver poll queues (nvme.poll_queues=N at boot), or leave polling off",
};
const POLLED_BESIDE: Missing = Missing {
    feature: "polling beside trims or flushes",
    advice: "a polled ring takes reads and writes only; leave polling off",
};

impl From<Missing> for EngineError {
    fn from(missing: Missing) -> Self {
        Self::Unsupported {
            feature: missing.feature,
            advice: missing.advice,
        }
    }
}

/// Checks that the target supports every stream.
///
/// # Errors
/// [`EngineError::Unsupported`] with the first feature that is missing.
pub(crate) fn check(target: &Target, workload: &Workload) -> Result<(), EngineError> {
    workload
        .streams
        .iter()
        .try_for_each(|stream| check_stream(target, stream))
}

fn check_stream(target: &Target, stream: &Stream) -> Result<(), EngineError> {
    let trims = stream.trims();
    if stream.polled && (trims || stream.flush_every.is_some()) {
        return Err(POLLED_BESIDE.into());
    }
    if stream.polled && queue_attribute(target, "io_poll") == Some(0) {
        return Err(NO_POLLING.into());
    }
    let on_device = trims && target.kind() == Kind::Block;
    if on_device && queue_attribute(target, "discard_max_bytes") == Some(0) {
        return Err(NO_TRIM.into());
    }
    Ok(())
}

/// Returns whether the device's driver has hardware queues. A driver without them, such as zram, may refuse a discard
/// that must not block, and `io_uring` first tries a discard that way.
pub(crate) fn has_queues(target: &Target) -> bool {
    device_folders(target).is_some_and(|folders| folders.iter().any(|f| f.join("mq").exists()))
}

/// Returns a numeric queue setting of the target's device, or of the device under its file system. `None` if there is
/// no such setting, as under tmpfs or btrfs.
fn queue_attribute(target: &Target, name: &str) -> Option<u64> {
    let text = device_folders(target)?
        .iter()
        .find_map(|folder| fs::read_to_string(folder.join("queue").join(name)).ok())?;
    text.trim().parse().ok()
}

/// Returns the sysfs folders of the device and of its parent. A partition has no queue; its parent is the disk, which
/// has one.
fn device_folders(target: &Target) -> Option<[PathBuf; 2]> {
    let facts = target.metadata()?;
    let device = if facts.file_type().is_block_device() {
        facts.rdev()
    } else {
        facts.dev()
    };
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let folder = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    Some([folder.clone(), folder.join("..")])
}
