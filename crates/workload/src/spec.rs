//! The workload as data: what Python sends, in resolved units, and what is stored with a result.
//!
//! Every size is in bytes and every time in nanoseconds. Unknown fields are refused, so that a
//! field one side does not know can never be dropped in silence.

use serde::{Deserialize, Serialize};

/// One or more concurrent streams of I/O with one seed and one clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Seed of every draw; the same seed gives the same I/Os and the same arrivals.
    pub seed: u64,
    /// Length of one interval row.
    pub interval_ns: u64,
    /// Time at the start that is issued but not counted.
    pub ramp_ns: u64,
    /// The streams, which run at the same time (fio: jobs).
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
    /// Name in results; unique within the workload.
    pub name: String,
    /// Reads and writes, or trims.
    pub ops: Ops,
    /// Block sizes with their weights; one entry for a fixed size.
    pub block: Vec<BlockWeight>,
    /// Where in the span the I/Os go.
    pub pattern: Pattern,
    /// Block sizes of writes where those are not of the sizes of reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_block: Option<Vec<BlockWeight>>,
    /// Where writes go where that is not where reads go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_pattern: Option<Pattern>,
    /// The part of the drive that is touched.
    pub span: Span,
    /// Threads.
    pub workers: u32,
    /// I/Os in flight per worker; 1 with [`Engine::Sync`].
    pub depth: u32,
    /// How I/O is issued.
    pub engine: Engine,
    /// I/Os to gather before a submission; `None` submits what is ready.
    pub batch: Option<u32>,
    /// Whether completions are polled for instead of interrupting.
    pub polled: bool,
    /// When the I/Os are due.
    pub arrival: Arrival,
    /// Share of the written data that compresses away, in percent.
    pub compressible_pct: u8,
    /// Whether the page cache is bypassed (`O_DIRECT`).
    pub direct: bool,
    /// Whether each write is durable before it completes (`O_DSYNC`).
    pub dsync: bool,
    /// A flush after every so many writes of a worker; `None` for none.
    pub flush_every: Option<u64>,
    /// Which call a flush is.
    #[serde(default, skip_serializing_if = "Flush::is_usual")]
    pub flush: Flush,
    /// CPUs the workers are pinned to, in turn; empty for no pinning.
    pub cpus: Vec<u32>,
    /// When the stream ends; all unset means when it is told to.
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
    /// Reads and writes in a ratio, drawn for each I/O: what percent cannot say.
    Ratio {
        /// Reads to so many writes, at least 1.
        reads: u32,
        /// Writes to so many reads, at least 1.
        writes: u32,
    },
    /// Trims (discards) only.
    Trim,
    /// Those of a recording, counted; with [`Pattern::Recorded`] only.
    Recorded {
        /// Reads.
        reads: u64,
        /// Writes.
        writes: u64,
        /// Trims.
        trims: u64,
    },
}

/// One block size of a stream and its share among the I/Os (not among the bytes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockWeight {
    /// Size; a multiple of [`SECTOR_BYTES`] where I/O is direct.
    pub bytes: u32,
    /// Relative frequency, at least 1.
    pub weight: u32,
}

/// The part of the drive a stream may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// First byte.
    pub start: u64,
    /// Length in bytes.
    pub length: u64,
}

impl Span {
    /// The first byte behind the span; saturates, which [`Workload::validate`] refuses.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.length)
    }
}

/// Where in its span a stream goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Pattern {
    /// One block behind the other; source i of n begins at i/n of the span and wraps at its end.
    Sequential {
        /// Where each source goes on, as absolute byte offsets that
        /// [`Generator::cursor`](crate::Generator::cursor) gave; `None` for the beginning.
        cursors: Option<Vec<u64>>,
    },
    /// Every block equally likely, without a map of those already visited.
    Uniform,
    /// Every multiple of a step equally likely, whatever the block size; each leaves room for the largest block.
    Stepped {
        /// Distance of neighbouring places, a multiple of [`SECTOR_BYTES`].
        step_bytes: u32,
    },
    /// Zipf's law over the blocks; the hot ones lie scattered over the span.
    Zipf {
        /// Exponent in thousandths: 1100 is the 1.1 of fio's `zipf:1.1`.
        theta_milli: u32,
    },
    /// Neighbouring bands from the start of the span, each with its own share of the accesses.
    Bands(Vec<Band>),
    /// Equal segments, one at the start of each stride from the start of the span; every block of them equally likely, and
    /// nothing between them touched. Blocks of each size lie in them without a rest.
    Segments {
        /// How many.
        count: u32,
        /// Bytes of each.
        length_bytes: u64,
        /// Bytes from the start of one to the start of the next.
        stride_bytes: u64,
    },
    /// Every block once in a random order, and some of them once more, so that a fresh drive is left as long random writing
    /// would leave it; after that uniform. Source i of n has the i-th part of the span. Writes of one size only.
    OnePass {
        /// Bytes of the whole pass: what the drive's flash holds, spare included; more than the span.
        raw_bytes: u64,
        /// A block is rewritten when at least so many bytes were written since.
        behind_bytes: u64,
    },
    /// Every block once in a random order, then all of them again: fio's random map. Each source has an order of its own
    /// over the whole span. Blocks of one size only.
    Shuffled {
        /// Whether each pass has another order; else all have that of the first.
        anew: bool,
    },
    /// Where a recording went, and in its order; see [`crate::recording`]. The stream's smallest block is the unit of its
    /// offsets and lengths, the largest its longest I/O.
    Recorded {
        /// The file of records.
        path: String,
        /// BLAKE3 of the file, in hex.
        digest: String,
    },
}

/// A band of the span: `access_weight` of the I/Os fall into `span_weight` of the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// Relative share of the I/Os; 0 leaves the band untouched.
    pub access_weight: u32,
    /// Relative share of the span, at least 1.
    pub span_weight: u32,
}

/// How I/O is issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// One blocking system call at a time in each worker.
    Sync,
    /// An `io_uring` in each worker.
    Uring,
}

/// Which system call makes written data durable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flush {
    /// The data, and of the file's own record what is needed to read it back.
    #[default]
    Fdatasync,
    /// The data and all of the file's own record.
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
    /// The next I/O when one has completed.
    Closed {
        /// Pause between a completion and the next I/O.
        think_ns: u64,
    },
    /// A closed loop that rests: the next I/O when one has completed, but none begins after `on_ns` of every `every_ns`.
    Pulses {
        /// Time from the start of a pulse in which I/Os begin.
        on_ns: u64,
        /// Time from the start of one pulse to the start of the next.
        every_ns: u64,
    },
    /// At times that do not depend on completions.
    Open {
        /// Law of the arrivals.
        process: Process,
        /// Arrivals per second, for the stream as a whole.
        rate: Rate,
        /// How long an I/O may stay due before it is dropped.
        backlog_ns: u64,
    },
    /// So many bytes, all due at once, again and again.
    Bursts {
        /// Bytes of a burst.
        bytes: u64,
        /// Time from the start of one burst to the start of the next.
        every_ns: u64,
    },
    /// At the times of the recording; with [`Pattern::Recorded`] only.
    Recorded {
        /// How long an I/O may stay due before it is dropped.
        backlog_ns: u64,
    },
}

impl Arrival {
    /// The end of the pause that `at_ns` falls into; `None` outside a pause. Only pulses pause.
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
    /// Exponential distances (independent arrivals).
    Poisson,
    /// Aerospike ACT 6: every worker has the same ticks, so all of them fire together.
    Act6,
    /// ACT before 6.0: one evenly paced generator that feeds queues in turn.
    Act2019 {
        /// Queues; the workers divide evenly among them.
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

/// When a stream ends: at the first of those that are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// Time since the start of the run, ramp included.
    pub time_ns: Option<u64>,
    /// Bytes of the stream as a whole.
    pub bytes: Option<u64>,
    /// I/Os of the stream as a whole.
    pub ios: Option<u64>,
    /// The span covered exactly once by the stream's sources together (sequential only).
    pub span_once: bool,
}

/// Smallest logical block of any drive: every block size of direct I/O is a multiple of it.
pub const SECTOR_BYTES: u32 = 512;

impl Stream {
    /// All block sizes: those of reads first, then those that writes have of their own.
    pub fn blocks(&self) -> impl Iterator<Item = &BlockWeight> {
        self.block.iter().chain(self.write_block.iter().flatten())
    }

    /// The smallest block size: the unit of the span (0 if there is none, which is invalid).
    pub fn smallest_block_bytes(&self) -> u32 {
        self.blocks().map(|b| b.bytes).min().unwrap_or(0)
    }

    /// The largest block size: what a buffer must hold (0 if there is none, which is invalid).
    pub fn largest_block_bytes(&self) -> u32 {
        self.blocks().map(|b| b.bytes).max().unwrap_or(0)
    }

    /// Reads and writes as streams of their own, where they have other sizes or other places.
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

    /// Whether some I/O of the stream writes data.
    pub fn writes(&self) -> bool {
        match self.ops {
            Ops::Mix { read_pct } => read_pct < 100,
            Ops::Ratio { .. } => true,
            Ops::Recorded { writes, .. } => writes > 0,
            Ops::Trim => false,
        }
    }

    /// Whether some I/O of the stream reads.
    pub fn reads(&self) -> bool {
        match self.ops {
            Ops::Mix { read_pct } => read_pct > 0,
            Ops::Ratio { .. } => true,
            Ops::Recorded { reads, .. } => reads > 0,
            Ops::Trim => false,
        }
    }

    /// Whether some I/O of the stream is a trim.
    pub fn trims(&self) -> bool {
        match self.ops {
            Ops::Mix { .. } | Ops::Ratio { .. } => false,
            Ops::Recorded { trims, .. } => trims > 0,
            Ops::Trim => true,
        }
    }

    /// Whether the I/Os are those of a recording.
    pub fn is_recorded(&self) -> bool {
        matches!(self.pattern, Pattern::Recorded { .. })
    }

    /// How long an arrival may stay due before it is dropped; `None` where none ever is.
    pub fn backlog_ns(&self) -> Option<u64> {
        match self.arrival {
            Arrival::Open { backlog_ns, .. } | Arrival::Recorded { backlog_ns } => Some(backlog_ns),
            Arrival::Closed { .. } | Arrival::Pulses { .. } | Arrival::Bursts { .. } => None,
        }
    }

    /// How many counted sequences of I/Os the stream has, see [`crate::plan`].
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
