//! The due times of an open loop's I/Os: one file per law.
//!
//! Times are nanoseconds since the start of the run. No law drifts: fractions of a nanosecond are
//! carried over, and the rate stays exactly the requested fraction.

mod act2019;
mod act6;
mod bursts;
mod even;
mod poisson;

use std::sync::Arc;

use crate::random::{Purpose, key};
use crate::recording::{Reader, Recording};
use crate::spec::{Arrival, Process, Rate, Stream};
use crate::units::SECOND_NS;

use bursts::Bursts;
use even::Even;
use poisson::{LogTable, Poisson};

/// After the stop of its stream, an open loop continues to issue I/Os that were due before the stop
/// for at most this long, ns.
pub const DRAIN_LIMIT_NS: u64 = SECOND_NS;

/// The intended start times of one source, in order; never ends. After the last I/O of a recording
/// all times are `u64::MAX`.
#[derive(Debug, Clone)]
pub struct Schedule {
    law: Law,
}

#[derive(Debug, Clone)]
enum Law {
    Even(Even),
    Poisson(Poisson),
    Bursts(Bursts),
    Recorded(Box<Reader>),
}

impl Schedule {
    /// Returns the time at which the source's next I/O is due, in ns; never earlier than the
    /// previous one.
    ///
    /// Saturates at the end of 64-bit time, 584 years after the start.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "a schedule has no end, so there is no Option to unwrap"
    )]
    pub fn next(&mut self) -> u64 {
        match &mut self.law {
            Law::Even(even) => even.next(),
            Law::Poisson(poisson) => poisson.next(),
            Law::Bursts(bursts) => bursts.next(),
            Law::Recorded(reader) => reader.next_due(),
        }
    }
}

/// The arrivals of a stream, which make the schedule of each source.
#[derive(Debug)]
pub(crate) enum Arrivals {
    Closed,
    Even(Rate),
    Poisson { rate: Rate, table: Arc<LogTable> },
    Act6 { rate: Rate, workers: u32 },
    Act2019 { rate: Rate, queues: u32 },
    Bursts { ios: u64, every_ns: u64 },
    Recorded(Arc<Recording>),
}

impl Arrivals {
    /// `recording` is the recording that the stream replays, if any.
    pub(crate) fn new(stream: &Stream, recording: Option<&Arc<Recording>>) -> Self {
        match stream.arrival {
            Arrival::Closed { .. } | Arrival::Pulses { .. } => Self::Closed,
            Arrival::Recorded { .. } => {
                recording.map_or(Self::Closed, |r| Self::Recorded(Arc::clone(r)))
            }
            Arrival::Bursts { bytes, every_ns } => Self::Bursts {
                ios: bytes / u64::from(stream.smallest_block_bytes()),
                every_ns,
            },
            Arrival::Open { process, rate, .. } => match process {
                Process::Even => Self::Even(rate),
                Process::Poisson => Self::Poisson {
                    rate,
                    table: Arc::new(LogTable::new()),
                },
                Process::Act6 => Self::Act6 {
                    rate,
                    workers: stream.workers,
                },
                Process::Act2019 { queues } => Self::Act2019 { rate, queues },
            },
        }
    }

    pub(crate) fn schedule(&self, seed: u64, stream: u32, source: u32) -> Option<Schedule> {
        let law = match self {
            Self::Closed => return None,
            Self::Even(rate) => Law::Even(Even::new(*rate, 0, 1)),
            Self::Poisson { rate, table } => Law::Poisson(Poisson::new(
                *rate,
                key(seed, Purpose::Arrival, stream, source),
                Arc::clone(table),
            )),
            Self::Act6 { rate, workers } => Law::Even(act6::ticks(*rate, *workers)),
            Self::Act2019 { rate, queues } => Law::Even(act2019::queue(*rate, *queues, source)),
            Self::Bursts { ios, every_ns } => Law::Bursts(Bursts::new(*ios, *every_ns)),
            Self::Recorded(recording) => {
                Law::Recorded(Box::new(Reader::new(Arc::clone(recording))))
            }
        };
        Some(Schedule { law })
    }
}
