//! Checks that a workload fits a drive, before any I/O is issued.

use workload::Workload;

use crate::drive::Device;
use crate::runner::error::SimError;

/// Rejects a stream that exceeds the drive, is not aligned to its logical blocks, or needs a page cache.
pub(crate) fn check_fits<D: Device>(drive: &D, workload: &Workload) -> Result<(), SimError> {
    let multiple_of = u64::from(drive.logical_block_bytes());
    for stream in &workload.streams {
        if stream.span.end() > drive.user_bytes() {
            return Err(SimError::BeyondEnd {
                stream: stream.name.clone(),
                end: stream.span.end(),
                size_bytes: drive.user_bytes(),
            });
        }
        if !stream.direct {
            return Err(SimError::Unsupported {
                stream: stream.name.clone(),
                feature: "a page cache",
                advice: "leave direct on",
            });
        }
        let blocks = stream.blocks().map(|b| ("block", u64::from(b.bytes)));
        let unaligned = blocks
            .chain([("span.start", stream.span.start)])
            .find(|(_, value)| !value.is_multiple_of(multiple_of));
        if let Some((field, value)) = unaligned {
            return Err(SimError::Unaligned {
                stream: stream.name.clone(),
                field,
                value,
                multiple_of,
            });
        }
    }
    Ok(())
}
