//! Whether this device or file can do what a workload asks for, told before anything is issued where that can be known.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;

use workload::spec::{Stream, Workload};

use crate::error::EngineError;
use crate::target::{Kind, Target};

/// A feature that is missing, and what to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missing {
    feature: &'static str,
    advice: &'static str,
}

/// Trims that this device, file system or kernel refuses.
pub(crate) const NO_TRIM: Missing = Missing {
    feature: "trim",
    advice: "the device or file system has no discard; with io_uring a device needs Linux 6.12, so try the sync engine",
};
/// Completions that cannot be polled for.
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

/// Checks each stream.
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

/// Whether a device's driver has hardware queues. One without, such as zram, may refuse a discard that must not block, which
/// is how `io_uring` tries it first.
pub(crate) fn has_queues(target: &Target) -> bool {
    device_folders(target).is_some_and(|folders| folders.iter().any(|f| f.join("mq").exists()))
}

/// A number among the settings of the queue of the target's device, or of the device under its file system; `None` where
/// there is none, as under tmpfs or btrfs.
fn queue_attribute(target: &Target, name: &str) -> Option<u64> {
    let text = device_folders(target)?
        .iter()
        .find_map(|folder| fs::read_to_string(folder.join("queue").join(name)).ok())?;
    text.trim().parse().ok()
}

/// Where the kernel describes the device; a partition has no queue of its own, its disk is the folder above.
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
