//! Errors of a run: facts in fields, advice in words.

use metrics::{CollectorError, LogError};
use workload::SpecError;

use crate::runner::outcome::Outcome;

/// Why a run could not start or finish.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// The workload contradicts itself.
    #[error("{0}")]
    Spec(#[from] SpecError),
    /// A size or offset is not a multiple of the drive's logical block.
    #[error(
        "stream {stream:?}: {field} of {value} bytes is not a multiple of {multiple_of}, the logical block"
    )]
    Unaligned {
        /// Name of the stream.
        stream: String,
        /// The field of the workload.
        field: &'static str,
        /// Its value in bytes.
        value: u64,
        /// The logical block in bytes.
        multiple_of: u64,
    },
    /// The span does not lie within the drive.
    #[error("stream {stream:?}: the span ends at byte {end}, but the drive has {size_bytes}")]
    BeyondEnd {
        /// Name of the stream.
        stream: String,
        /// First byte after the span.
        end: u64,
        /// Size of the drive in bytes.
        size_bytes: u64,
    },
    /// The stream needs a feature that simulated drives do not have.
    #[error("stream {stream:?}: {feature} does not exist on a simulated drive")]
    Unsupported {
        /// Name of the stream.
        stream: String,
        /// The feature.
        feature: &'static str,
        /// How to change the workload.
        advice: &'static str,
    },
    /// The workload cannot be recorded.
    #[error("{message}")]
    Recording {
        /// Why.
        message: String,
    },
    /// The append log could not be written; the run was stopped.
    #[error("{source}")]
    Log {
        /// Why.
        source: LogError,
        /// The measurement until then.
        measured: Option<Box<Outcome>>,
    },
}

impl SimError {
    /// Returns what was measured before the error, if anything.
    pub fn into_measured(self) -> Option<Outcome> {
        match self {
            Self::Log { measured, .. } => measured.map(|measured| *measured),
            _ => None,
        }
    }

    /// Returns what the user can do, in one line.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Spec(_) | Self::Recording { .. } => "correct the workload",
            Self::Unaligned { .. } => "use multiples of the logical block",
            Self::BeyondEnd { .. } => "choose a span inside the drive",
            Self::Unsupported { advice, .. } => advice,
            Self::Log { .. } => "free space where results are kept, then resume",
        }
    }
}

impl From<CollectorError> for SimError {
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
