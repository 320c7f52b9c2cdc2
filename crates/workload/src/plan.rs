//! A workload made ready to run: checked, with its tables built once and shared by all workers.
//!
//! A *source* is one counted sequence of I/Os. The arrival law sets the sources of a stream:
//! - closed loop: each worker is a source;
//! - even arrivals, Poisson arrivals, bursts: one source, which all workers of the stream share;
//! - ACT 6: each worker is a source, and all have the same ticks;
//! - ACT 2019: each queue is a source;
//! - recording: one source.

use std::sync::Arc;

use crate::blocks::{Blocks, Grid};
use crate::error::SpecError;
use crate::generator::{Generator, Places, Skewed};
use crate::mix::Mix;
use crate::pattern::bands::Bands;
use crate::pattern::one_pass::{OnePass, Profile};
use crate::pattern::segments::Segments;
use crate::pattern::sequential::{Sequential, SequentialSizes, part_start};
use crate::pattern::shuffled::Shuffled;
use crate::pattern::stepped::Stepped;
use crate::pattern::zipf::Zipf;
use crate::random::{Purpose, key};
use crate::recording::{Reader, Recording};
use crate::schedule::{Arrivals, Schedule};
use crate::spec::{Pattern, Span, Stop, Stream, Workload};

/// A workload made ready to run.
#[derive(Debug)]
pub struct Plan {
    streams: Vec<StreamPlan>,
}

impl Plan {
    /// Checks the workload, reads the recordings that it replays, and builds its tables.
    ///
    /// # Errors
    /// Returns the first field that is out of bounds, see [`Workload::validate`]. Also fails if a
    /// recording cannot be read or differs from what the workload says of it.
    pub fn new(workload: &Workload) -> Result<Self, SpecError> {
        workload.validate()?;
        let streams = workload.streams.iter().zip(0..);
        let planned = streams.map(|(stream, index)| StreamPlan::new(workload.seed, index, stream));
        Ok(Self {
            streams: planned.collect::<Result<_, _>>()?,
        })
    }

    /// Returns a stream by its index in the workload.
    ///
    /// # Panics
    /// If the workload has no such stream.
    pub fn stream(&self, index: usize) -> &StreamPlan {
        &self.streams[index]
    }

    /// Returns the streams, in the workload's order.
    pub fn streams(&self) -> &[StreamPlan] {
        &self.streams
    }
}

/// A stream made ready to run.
#[derive(Debug)]
pub struct StreamPlan {
    seed: u64,
    index: u32,
    sources: u32,
    workers: u32,
    mix: Mix,
    layout: Layout,
    arrivals: Arrivals,
    quotas: Quotas,
}

/// The places of a stream's I/Os, for all sources.
#[derive(Debug)]
enum Layout {
    Shared(Places),
    Sequential {
        grid: Grid,
        cursors: Vec<u64>,
    },
    SequentialSizes {
        span: Span,
        blocks: Arc<Blocks>,
        cursors: Vec<u64>,
    },
    OnePass {
        grid: Grid,
        raw_blocks: u64,
        behind_blocks: u64,
        sources: u32,
        seed: u64,
        index: u32,
        profile: Arc<Profile>,
    },
    Shuffled {
        grid: Grid,
        anew: bool,
        seed: u64,
        index: u32,
    },
    Recorded(Arc<Recording>),
    /// Layout of the reads, then of the writes.
    Apart(Box<[Layout; 2]>),
}

/// Limits of the sources other than time.
#[derive(Debug)]
struct Quotas {
    stop: Stop,
    /// Block size, if there is only one.
    block_bytes: Option<u64>,
    /// Number of I/Os of the recording, if the stream replays one.
    recorded_ios: Option<u64>,
    /// Bytes from each source's cursor to the end of its part, if the span is covered once.
    parts: Option<Vec<u64>>,
}

/// The most that one source may issue; `u64::MAX` means no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// The source ends after this many I/Os.
    pub ios: u64,
    /// The source ends when it has issued at least this many bytes. With one block size, `ios`
    /// holds the exact bound instead.
    pub bytes: u64,
}

impl StreamPlan {
    fn new(seed: u64, index: u32, stream: &Stream) -> Result<Self, SpecError> {
        let recording = Recording::of(stream).map_err(|(field, value, bound)| {
            SpecError::new(format!("streams[{index}].{field}"), value, bound)
        })?;
        let sources = stream.sources();
        let layout = match &recording {
            Some(recording) => Layout::Recorded(Arc::clone(recording)),
            None => Layout::new(seed, index, stream),
        };
        let parts = stream.stop.span_once.then(|| layout.parts_left(stream));
        // The I/Os of a recording have their own sizes.
        let single = single_size(stream).filter(|_| recording.is_none());
        Ok(Self {
            seed,
            index,
            sources,
            workers: stream.workers,
            mix: Mix::new(stream.ops),
            arrivals: Arrivals::new(stream, recording.as_ref()),
            quotas: Quotas {
                stop: stream.stop,
                block_bytes: single.map(u64::from),
                recorded_ios: recording.map(|recording| recording.ios()),
                parts,
            },
            layout,
        })
    }

    /// Returns the number of sources.
    pub fn sources(&self) -> u32 {
        self.sources
    }

    /// Returns the source from which a worker draws. Workers count from 0; neighbours share a
    /// source.
    ///
    /// # Panics
    /// If the stream has no such worker.
    pub fn source_of_worker(&self, worker: u32) -> u32 {
        assert!(
            worker < self.workers,
            "worker {worker} of a stream with {} workers",
            self.workers
        );
        worker / (self.workers / self.sources)
    }

    /// Returns the I/Os of a source, from the first one on.
    ///
    /// # Panics
    /// If the stream has no such source.
    pub fn generator(&self, source: u32) -> Generator {
        self.check(source);
        let key = key(self.seed, Purpose::Io, self.index, source);
        Generator::new(key, self.mix, self.layout.places(source))
    }

    /// Returns the intended start times of a source, from the first one on; `None` in a closed
    /// loop.
    ///
    /// # Panics
    /// If the stream has no such source.
    pub fn schedule(&self, source: u32) -> Option<Schedule> {
        self.check(source);
        self.arrivals.schedule(self.seed, self.index, source)
    }

    /// Returns the number of I/Os from a source's cursor to the end of its part of the span; `None`
    /// unless the stream stops when the span is covered once.
    ///
    /// # Panics
    /// If the stream has no such source.
    pub fn ios_for_span_once(&self, source: u32) -> Option<u64> {
        self.check(source);
        let left_bytes = self.quotas.parts.as_ref()?[source as usize];
        Some(left_bytes / self.quotas.block_bytes?)
    }

    /// Returns how much a source may issue: an even share of the stream's bytes and I/Os, and its
    /// part of a span that is covered once. The shares of all sources add up to exactly the
    /// stream's limit, and do not depend on which source is faster.
    ///
    /// # Panics
    /// If the stream has no such source.
    pub fn quota(&self, source: u32) -> Quota {
        self.check(source);
        // Split as the span is, so that a stream whose limit is the length of the span covers it
        // once.
        let share =
            |total| until(total, source + 1, self.sources) - until(total, source, self.sources);
        let Stop { bytes, ios, .. } = self.quotas.stop;
        let mut quota = Quota {
            ios: ios.map_or(u64::MAX, share),
            bytes: u64::MAX,
        };
        match (bytes, self.quotas.block_bytes) {
            // Whole blocks: the last one may exceed the requested bytes.
            (Some(bytes), Some(block)) => quota.ios = quota.ios.min(share(bytes.div_ceil(block))),
            (Some(bytes), None) => quota.bytes = share(bytes),
            (None, _) => {}
        }
        if let Some(part) = self.ios_for_span_once(source) {
            quota.ios = quota.ios.min(part);
        }
        if let Some(recorded) = self.quotas.recorded_ios {
            quota.ios = quota.ios.min(recorded);
        }
        quota
    }

    fn check(&self, source: u32) {
        assert!(
            source < self.sources,
            "source {source} of a stream with {} sources",
            self.sources
        );
    }
}

impl Layout {
    fn new(seed: u64, index: u32, stream: &Stream) -> Self {
        if let Some(sides) = stream.sides() {
            let layouts = sides.map(|side| Self::new(seed, index, &side));
            return Self::Apart(Box::new(layouts));
        }
        let unit = Grid::new(stream.span, stream.smallest_block_bytes());
        let sizes = match single_size(stream) {
            Some(_) => None,
            None => Some(Arc::new(Blocks::new(stream.span, &stream.block))),
        };
        let skewed = || Skewed {
            unit,
            sizes: sizes.clone(),
        };
        match &stream.pattern {
            Pattern::Sequential { cursors } => {
                let cursors = cursors.clone().unwrap_or_else(|| starts(stream));
                match sizes {
                    None => Self::Sequential {
                        grid: unit,
                        cursors,
                    },
                    Some(blocks) => Self::SequentialSizes {
                        span: stream.span,
                        blocks,
                        cursors,
                    },
                }
            }
            // A recording has its layout in its file.
            Pattern::Uniform | Pattern::Recorded { .. } => Self::Shared(match sizes {
                None => Places::Uniform(unit),
                Some(blocks) => Places::UniformSizes(blocks),
            }),
            Pattern::Stepped { step_bytes } => {
                let stepped = Stepped::new(stream.span, *step_bytes, &stream.block);
                Self::Shared(Places::Stepped(Arc::new(stepped)))
            }
            Pattern::Zipf { theta_milli } => {
                let key = key(seed, Purpose::Scatter, index, 0);
                let zipf = Zipf::new(*theta_milli, unit.slots, key);
                Self::Shared(Places::Zipf(Arc::new(zipf), skewed()))
            }
            Pattern::OnePass {
                raw_bytes,
                behind_bytes,
            } => {
                let block = u64::from(unit.bytes);
                let raw_blocks = raw_bytes.div_ceil(block);
                Self::OnePass {
                    grid: unit,
                    raw_blocks,
                    behind_blocks: behind_bytes.div_ceil(block),
                    sources: stream.sources(),
                    seed,
                    index,
                    profile: Arc::new(Profile::new(unit.slots, raw_blocks)),
                }
            }
            Pattern::Shuffled { anew } => Self::Shuffled {
                grid: unit,
                anew: *anew,
                seed,
                index,
            },
            Pattern::Bands(bands) => {
                let bands = Arc::new(Bands::new(bands, &unit));
                Self::Shared(Places::Bands(bands, skewed()))
            }
            Pattern::Segments {
                count,
                length_bytes,
                stride_bytes,
            } => {
                let segments = Segments::new(*count, *length_bytes, *stride_bytes, unit.bytes);
                Self::Shared(Places::Segments(segments, skewed()))
            }
        }
    }

    fn places(&self, source: u32) -> Places {
        match self {
            Self::Recorded(recording) => {
                Places::Recorded(Box::new(Reader::new(Arc::clone(recording))))
            }
            Self::Shared(places) => places.clone(),
            Self::Shuffled {
                grid,
                anew,
                seed,
                index,
            } => {
                let key = key(*seed, Purpose::Scatter, *index, source);
                Places::Shuffled(Box::new(Shuffled::new(*grid, key, *anew)))
            }
            Self::Apart(sides) => {
                let [reads, writes] = sides.as_ref();
                Places::Apart(Box::new([reads.places(source), writes.places(source)]))
            }
            Self::OnePass {
                grid,
                raw_blocks,
                behind_blocks,
                sources,
                seed,
                index,
                profile,
            } => {
                let part = |total: u64| {
                    (
                        until(total, source, *sources),
                        until(total, source + 1, *sources),
                    )
                };
                let (from, to) = part(*raw_blocks);
                Places::OnePass(Box::new(OnePass::new(
                    *grid,
                    part(grid.slots),
                    to - from,
                    behind_blocks.div_ceil(u64::from(*sources)),
                    key(*seed, Purpose::Scatter, *index, source),
                    Arc::clone(profile),
                )))
            }
            Self::Sequential { grid, cursors } => {
                Places::Sequential(Sequential::new(*grid, cursors[source as usize]))
            }
            Self::SequentialSizes {
                span,
                blocks,
                cursors,
            } => Places::SequentialSizes(SequentialSizes::new(
                *span,
                Arc::clone(blocks),
                cursors[source as usize],
            )),
        }
    }

    /// Returns the bytes from each source's cursor to the end of its part.
    fn parts_left(&self, stream: &Stream) -> Vec<u64> {
        let (Self::Sequential { cursors, .. } | Self::SequentialSizes { cursors, .. }) = self
        else {
            return Vec::new();
        };
        let ends = starts(stream)
            .into_iter()
            .skip(1)
            .chain([stream.span.end()]);
        ends.zip(cursors)
            .map(|(end, cursor)| end - cursor)
            .collect()
    }
}

/// Returns the share of all sources before this one, if a total is divided evenly.
fn until(total: u64, source: u32, sources: u32) -> u64 {
    (u128::from(total) * u128::from(source) / u128::from(sources)) as u64
}

/// Returns the offset at which each source of a sequential stream begins.
fn starts(stream: &Stream) -> Vec<u64> {
    let (unit, sources) = (stream.smallest_block_bytes(), stream.sources());
    let start = |source| part_start(stream.span, unit, source, sources);
    (0..sources).map(start).collect()
}

/// Returns the block size of a stream that has only one.
fn single_size(stream: &Stream) -> Option<u32> {
    match (stream.block.as_slice(), &stream.write_block) {
        ([block], None) => Some(block.bytes),
        _ => None,
    }
}
