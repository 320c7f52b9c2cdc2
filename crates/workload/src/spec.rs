//! The workload as data: what Python sends, in resolved units, and what is stored with a result.
//!
//! Every size is in bytes and every time in nanoseconds. Unknown fields are refused, so that a
//! field that one side does not know is never silently dropped.

use serde::{Deserialize, Serialize};

/// One or more concurrent streams of I/O with one seed and one clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Seed of every draw; the same seed gives the same I/Os and the same arrivals.
    pub seed: u64,
    /// Length of one interval row, ns.
    pub interval_ns: u64,
    /// Length of the ramp at the start, ns: its I/O is issued, but is not in the totals.
    pub ramp_ns: u64,
    /// The streams, which run concurrently (fio: jobs).
    pub streams: Vec<Stream>,
}

/// One kind of I/O, issued by `workers` threads with `depth` I/Os in flight each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent flags, named as fio and open(2) name them"
)]
pub struct Stream {
    /// Name in the results; unique within the workload.
    pub name: String,
    /// The mix of operations.
    pub ops: Ops,
    /// Block sizes with their weights; one entry for a fixed size.
    pub block: Vec<BlockWeight>,
    /// The places of the I/Os in the span.
    pub pattern: Pattern,
    /// Block sizes of writes; `None` if writes have those of reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_block: Option<Vec<BlockWeight>>,
    /// Pattern of writes; `None` if writes have that of reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_pattern: Option<Pattern>,
    /// The part of the drive that the stream may touch.
    pub span: Span,
    /// Number of threads.
    pub workers: u32,
    /// I/Os in flight per worker; 1 with [`Engine::Sync`].
    pub depth: u32,
    /// The system interface that issues I/O.
    pub engine: Engine,
    /// I/Os to gather before a submission; `None` submits whatever is ready.
    pub batch: Option<u32>,
    /// Whether completions are polled, instead of signalled by interrupts.
    pub polled: bool,
    /// When the I/Os are due.
    pub arrival: Arrival,
    /// Share of the written data that compression removes, in percent.
    pub compressible_pct: u8,
    /// Whether the page cache is bypassed (`O_DIRECT`).
    pub direct: bool,
    /// Whether each write is durable before it completes (`O_DSYNC`).
    pub dsync: bool,
    /// Writes of a worker between two of its flushes; `None` for no flushes.
    pub flush_every: Option<u64>,
    /// The system call for a flush.
    #[serde(default, skip_serializing_if = "Flush::is_usual")]
    pub flush: Flush,
    /// CPUs to which the workers are pinned, in turn; empty for no pinning.
    pub cpus: Vec<u32>,
    /// Limits at which the stream ends; if none is set, it runs until the engine stops it.
    pub stop: Stop,
    /// Whether every single I/O is recorded.
    pub log_ios: bool,
}

/// The operations of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ops {
    /// Reads and writes, drawn for each I/O.
    Mix {
        /// Share of reads in percent, 0 to 100.
        read_pct: u8,
    },
    /// Reads and writes in a ratio, drawn for each I/O; for shares that are not a whole percent.
    Ratio {
        /// Reads for every `writes` writes, at least 1.
        reads: u32,
        /// Writes for every `reads` reads, at least 1.
        writes: u32,
    },
    /// Trims (discards) only.
    Trim,
    /// The operations of a recording, counted; with [`Pattern::Recorded`] only.
    Recorded {
        /// Number of reads.
        reads: u64,
        /// Number of writes.
        writes: u64,
        /// Number of trims.
        trims: u64,
    },
}

/// One block size of a stream and its share of the I/Os (not of the bytes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockWeight {
    /// Size in bytes; a multiple of [`SECTOR_BYTES`] if I/O is direct.
    pub bytes: u32,
    /// Relative frequency, at least 1.
    pub weight: u32,
}

/// The part of the drive that a stream may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u64,
    /// Length in bytes.
    pub length: u64,
}

impl Span {
    /// Returns the offset after the last byte. Saturates; [`Workload::validate`] refuses such a
    /// span.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.length)
    }
}

/// The places of a stream's I/Os in its span.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Pattern {
    /// One block after the other; source i of n begins at i/n of the span and wraps at its end.
    Sequential {
        /// Offset at which each source continues, in absolute bytes from
        /// [`Generator::cursor`](crate::Generator::cursor); `None` to begin at its part of the
        /// span.
        cursors: Option<Vec<u64>>,
    },
    /// Every block equally likely, without a map of visited blocks.
    Uniform,
    /// Every multiple of a step equally likely, whatever the block size, as long as the largest
    /// block fits.
    Stepped {
        /// Distance between neighbouring places, in bytes; a multiple of [`SECTOR_BYTES`].
        step_bytes: u32,
    },
    /// Zipf's law over the blocks; the hot blocks are scattered over the span.
    Zipf {
        /// Exponent in thousandths: 1100 is the 1.1 of fio's `zipf:1.1`.
        theta_milli: u32,
    },
    /// Neighbouring bands from the start of the span, each with its own share of the accesses.
    Bands(Vec<Band>),
    /// Equal segments, one at the start of each stride from the start of the span. Every block of a
    /// segment is equally likely, and nothing between the segments is touched. Every block size
    /// must divide the span's start, the segment length and the stride.
    Segments {
        /// Number of segments.
        count: u32,
        /// Length of a segment, in bytes.
        length_bytes: u64,
        /// Distance between the starts of neighbouring segments, in bytes.
        stride_bytes: u64,
    },
    /// Every block once in a random order, and some of them a second time, so that a fresh drive
    /// ends in the steady state of long random writing. After the pass the writes are uniform.
    /// Source i of n has the i-th part of the span. Writes of one size only.
    OnePass {
        /// Length of the pass, in bytes: the drive's raw flash, spare included. More than the span.
        raw_bytes: u64,
        /// Bytes that must have been written between a write and its rewrite.
        behind_bytes: u64,
    },
    /// Every block once in a random order, then all of them again: fio's random map. Each source
    /// has its own order over the whole span. Blocks of one size only.
    Shuffled {
        /// Whether each pass has a new order; otherwise all have the order of the first.
        anew: bool,
    },
    /// The places of a recording, in its order; see [`crate::recording`]. The stream's smallest
    /// block is the unit of the recorded offsets and lengths, and its largest block is the longest
    /// I/O.
    Recorded {
        /// The file of records.
        path: String,
        /// BLAKE3 of the file, in hex.
        digest: String,
    },
}

/// A band of the span: a share of the I/Os falls into a share of the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// Relative share of the I/Os; 0 leaves the band untouched.
    pub access_weight: u32,
    /// Relative share of the span, at least 1.
    pub span_weight: u32,
}

/// The system interface that issues I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// Each worker makes one blocking system call at a time.
    Sync,
    /// Each worker has an `io_uring`.
    Uring,
}

/// The system call that makes written data durable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flush {
    /// Flushes the data, and only the metadata needed to read it back.
    #[default]
    Fdatasync,
    /// Flushes the data and all metadata of the file.
    Fsync,
}

impl Flush {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde hands the field over by reference"
    )]
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// When the I/Os of a stream are due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Arrival {
    /// Closed loop: the next I/O starts when one has completed.
    Closed {
        /// Think time between a completion and the next I/O, ns.
        think_ns: u64,
    },
    /// Closed loop with rests: the next I/O starts when one has completed, but only in the first
    /// `on_ns` of every `every_ns`.
    Pulses {
        /// Time from the start of a pulse in which I/Os may start, ns.
        on_ns: u64,
        /// Time from the start of one pulse to the start of the next, ns.
        every_ns: u64,
    },
    /// Open loop: I/Os are due at times that do not depend on completions.
    Open {
        /// Law of the arrivals.
        process: Process,
        /// Arrivals per second, for the stream as a whole.
        rate: Rate,
        /// How long an I/O may be overdue before it is dropped, ns.
        backlog_ns: u64,
    },
    /// A fixed number of bytes, all due at once, at regular times.
    Bursts {
        /// Bytes of one burst.
        bytes: u64,
        /// Time from the start of one burst to the start of the next, ns.
        every_ns: u64,
    },
    /// The times of a recording; with [`Pattern::Recorded`] only.
    Recorded {
        /// How long an I/O may be overdue before it is dropped, ns.
        backlog_ns: u64,
    },
}

impl Arrival {
    /// Returns the end of the pause that contains `at_ns`; `None` outside a pause. Only pulses have
    /// pauses.
    #[inline]
    pub fn rests_until(self, at_ns: u64) -> Option<u64> {
        let Self::Pulses { on_ns, every_ns } = self else {
            return None;
        };
        let into_ns = at_ns % every_ns;
        (into_ns >= on_ns).then(|| at_ns - into_ns + every_ns)
    }
}

/// Law of the arrivals of an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Process {
    /// Equal distances.
    Even,
    /// Exponentially distributed distances (independent arrivals).
    Poisson,
    /// Aerospike ACT 6: every worker has the same ticks, so that all of them fire together.
    Act6,
    /// ACT before 6.0: one evenly paced generator that feeds queues in turn.
    Act2019 {
        /// Number of queues; the workers are divided evenly among them.
        queues: u32,
    },
}

/// An exact rate of `num / den` I/Os per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Numerator.
    pub num: u64,
    /// Denominator.
    pub den: u64,
}

/// Limits of a stream, which ends at the first that it reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// Time since the start of the run, ns, ramp included.
    pub time_ns: Option<u64>,
    /// Bytes of the stream as a whole.
    pub bytes: Option<u64>,
    /// I/Os of the stream as a whole.
    pub ios: Option<u64>,
    /// Whether the stream ends when its sources together have covered the span exactly once
    /// (sequential only).
    pub span_once: bool,
}

/// Smallest logical block of any drive; direct I/O uses multiples of it.
pub const SECTOR_BYTES: u32 = 512;

impl Stream {
    /// Returns all block sizes: those of reads first, then those that only writes have.
    pub fn blocks(&self) -> impl Iterator<Item = &BlockWeight> {
        self.block.iter().chain(self.write_block.iter().flatten())
    }

    /// Returns the smallest block size, which is the unit of the span; 0 if there is none
    /// (invalid).
    pub fn smallest_block_bytes(&self) -> u32 {
        self.blocks().map(|b| b.bytes).min().unwrap_or(0)
    }

    /// Returns the largest block size, which a buffer must hold; 0 if there is none (invalid).
    pub fn largest_block_bytes(&self) -> u32 {
        self.blocks().map(|b| b.bytes).max().unwrap_or(0)
    }

    /// Returns reads and writes as separate streams; `None` if both have the same sizes and
    /// pattern.
    pub fn sides(&self) -> Option<[Self; 2]> {
        if self.write_block.is_none() && self.write_pattern.is_none() {
            return None;
        }
        let reads = Self {
            write_block: None,
            write_pattern: None,
            ..self.clone()
        };
        let block = self.write_block.clone();
        let pattern = self.write_pattern.clone();
        let writes = Self {
            block: block.unwrap_or_else(|| self.block.clone()),
            pattern: pattern.unwrap_or_else(|| self.pattern.clone()),
            ..reads.clone()
        };
        Some([reads, writes])
    }

    /// Whether the stream writes data.
    pub fn writes(&self) -> bool {
        match self.ops {
            Ops::Mix { read_pct } => read_pct < 100,
            Ops::Ratio { .. } => true,
            Ops::Recorded { writes, .. } => writes > 0,
            Ops::Trim => false,
        }
    }

    /// Whether the stream reads data.
    pub fn reads(&self) -> bool {
        match self.ops {
            Ops::Mix { read_pct } => read_pct > 0,
            Ops::Ratio { .. } => true,
            Ops::Recorded { reads, .. } => reads > 0,
            Ops::Trim => false,
        }
    }

    /// Whether the stream trims.
    pub fn trims(&self) -> bool {
        match self.ops {
            Ops::Mix { .. } | Ops::Ratio { .. } => false,
            Ops::Recorded { trims, .. } => trims > 0,
            Ops::Trim => true,
        }
    }

    /// Whether the stream replays a recording.
    pub fn is_recorded(&self) -> bool {
        matches!(self.pattern, Pattern::Recorded { .. })
    }

    /// Returns how long an arrival may be overdue before it is dropped, in ns; `None` if arrivals
    /// are never dropped.
    pub fn backlog_ns(&self) -> Option<u64> {
        match self.arrival {
            Arrival::Open { backlog_ns, .. } | Arrival::Recorded { backlog_ns } => Some(backlog_ns),
            Arrival::Closed { .. } | Arrival::Pulses { .. } | Arrival::Bursts { .. } => None,
        }
    }

    /// Returns the number of counted sequences of I/Os; see [`crate::plan`].
    pub fn sources(&self) -> u32 {
        match self.arrival {
            Arrival::Closed { .. } | Arrival::Pulses { .. } => self.workers,
            Arrival::Bursts { .. } | Arrival::Recorded { .. } => 1,
            Arrival::Open { process, .. } => match process {
                Process::Even | Process::Poisson => 1,
                Process::Act6 => self.workers,
                Process::Act2019 { queues } => queues,
            },
        }
    }
}
