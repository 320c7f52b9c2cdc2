//! The bounds of a workload.

mod places;

use std::collections::HashSet;
use std::fmt::Display;

use crate::blocks::Grid;
use crate::error::SpecError;
use crate::spec::{
    Arrival, Engine, Ops, Pattern, Process, Rate, SECTOR_BYTES, Stop, Stream, Workload,
};
use crate::units::SECOND_NS;

/// Most streams in a workload.
pub const MAX_STREAMS: usize = 256;
/// Most workers in a stream.
pub const MAX_WORKERS: u32 = 4096;
/// Most I/Os in flight per worker: the largest ring that the kernel creates.
pub const MAX_DEPTH: u32 = 32_768;
/// Largest block size, in bytes. Any drive splits larger transfers.
pub const MAX_BLOCK_BYTES: u32 = 1 << 30;
/// Most block sizes of a stream, and most bands of a span.
pub const MAX_WEIGHTS: usize = 64;
/// Most segments of a span: 32 times the most in SNIA's tests.
pub const MAX_SEGMENTS: u32 = 65_536;
/// Largest Zipf exponent, in thousandths. Beyond it nearly all I/Os go to one block.
pub const MAX_THETA_MILLI: u32 = 10_000;
/// Largest ratio of raw flash to span in a one-pass pattern: no drive has nine tenths spare.
pub const MAX_RAW: u64 = 10;
/// Largest numerator and denominator of a rate.
pub const MAX_RATE_TERM: u64 = 1_000_000_000_000;
/// Longest time, and longest mean distance of arrivals, in ns: 90 days, which is below 2^53, so
/// that an `f64` holds it exactly.
pub const MAX_TIME_NS: u64 = 90 * 86_400 * 1_000_000_000;
/// Shortest interval of rows, ns.
pub const MIN_INTERVAL_NS: u64 = 1_000_000;
/// Highest offset: the largest that the kernel's file offsets can hold.
pub const MAX_OFFSET: u64 = i64::MAX as u64;

type Check = Result<(), SpecError>;

impl Workload {
    /// Checks every bound that does not depend on a drive.
    ///
    /// # Errors
    /// Returns the first field that is out of bounds or contradicts another, with its value and the
    /// bound.
    pub fn validate(&self) -> Result<(), SpecError> {
        within(
            "interval_ns",
            self.interval_ns,
            MIN_INTERVAL_NS,
            MAX_TIME_NS,
        )?;
        within("ramp_ns", self.ramp_ns, 0, MAX_TIME_NS)?;
        within("streams (count)", self.streams.len(), 1, MAX_STREAMS)?;
        let mut names = HashSet::new();
        for (index, stream) in self.streams.iter().enumerate() {
            let field = Field { stream: index };
            let name = stream.name.as_str();
            field.require(!name.is_empty(), "name", "\"\"", "must not be empty")?;
            field.require(
                names.insert(name),
                "name",
                name,
                "must be the name of one stream only",
            )?;
            field.check(stream)?;
            let ends_ns = stream.stop.time_ns.unwrap_or(u64::MAX);
            if self.ramp_ns >= ends_ns {
                let bound = format!("must be below {}, {ends_ns}", field.path("stop.time_ns"));
                return Err(SpecError::new("ramp_ns", self.ramp_ns, bound));
            }
        }
        Ok(())
    }
}

/// Names the fields of one stream.
#[derive(Clone, Copy)]
struct Field {
    stream: usize,
}

impl Field {
    fn path(self, field: &str) -> String {
        format!("streams[{}].{field}", self.stream)
    }

    fn require(self, holds: bool, field: &str, value: impl Display, bound: &str) -> Check {
        if holds {
            return Ok(());
        }
        Err(SpecError::new(self.path(field), value, bound))
    }

    fn within<T: PartialOrd + Display + Copy>(
        self,
        field: &str,
        value: T,
        lowest: T,
        highest: T,
    ) -> Check {
        within(&self.path(field), value, lowest, highest)
    }

    fn check(self, stream: &Stream) -> Check {
        self.check_issue(stream)?;
        let Some(sides) = stream.sides() else {
            return self.check_places(stream);
        };
        self.check_apart(stream)?;
        sides.iter().try_for_each(|side| self.check_places(side))
    }

    fn check_places(self, stream: &Stream) -> Check {
        self.check_blocks(stream)?;
        self.check_span(stream)?;
        self.check_arrival(stream)?;
        self.check_pattern(stream)?;
        self.check_stop(stream)
    }

    /// Checks the restrictions on a stream whose reads and writes have separate sizes or patterns.
    fn check_apart(self, stream: &Stream) -> Check {
        let bound =
            "must be both reads and writes where these have a block or pattern of their own";
        let both = stream.reads() && stream.writes() && !stream.is_recorded();
        self.require(both, "ops", format_args!("{:?}", stream.ops), bound)?;
        let bound = "must be false where writes have a block or pattern of their own";
        let once = stream.stop.span_once;
        self.require(!once, "stop.span_once", once, bound)?;
        let bound = "must be unset where writes have a block of their own: a burst is of one size";
        let bursts = matches!(stream.arrival, Arrival::Bursts { .. });
        let own = stream.write_block.is_some();
        self.require(!(bursts && own), "write_block", own, bound)?;
        let bound = "must be without cursors where writes have a block or pattern of their own";
        let begins = |pattern: &Pattern| {
            !matches!(
                pattern,
                Pattern::Sequential { cursors: Some(_) } | Pattern::Recorded { .. }
            )
        };
        let fresh = [Some(&stream.pattern), stream.write_pattern.as_ref()];
        let fresh = fresh.into_iter().flatten().all(begins);
        self.require(
            fresh,
            "pattern",
            format_args!("{:?}", stream.pattern),
            bound,
        )
    }

    fn check_blocks(self, stream: &Stream) -> Check {
        if let Ops::Mix { read_pct } = stream.ops {
            self.within("ops.mix.read_pct", read_pct, 0, 100)?;
        }
        if let Ops::Ratio { reads, writes } = stream.ops {
            self.within("ops.ratio.reads", reads, 1, u32::MAX)?;
            self.within("ops.ratio.writes", writes, 1, u32::MAX)?;
        }
        self.within("block (count)", stream.block.len(), 1, MAX_WEIGHTS)?;
        let mut sizes = HashSet::new();
        for (index, block) in stream.block.iter().enumerate() {
            let field = format!("block[{index}].bytes");
            let least = if stream.direct { SECTOR_BYTES } else { 1 };
            self.within(&field, block.bytes, least, MAX_BLOCK_BYTES)?;
            let whole = block.bytes.is_multiple_of(least);
            self.require(whole, &field, block.bytes, "must be a multiple of 512")?;
            let new = sizes.insert(block.bytes);
            self.require(new, &field, block.bytes, "must be listed once only")?;
            self.within(&format!("block[{index}].weight"), block.weight, 1, u32::MAX)?;
        }
        Ok(())
    }

    fn check_span(self, stream: &Stream) -> Check {
        let (span, unit) = (stream.span, u64::from(stream.smallest_block_bytes()));
        self.within("span.start", span.start, 0, MAX_OFFSET)?;
        self.within("span.length", span.length, unit, MAX_OFFSET - span.start)?;
        for (field, value) in [("span.start", span.start), ("span.length", span.length)] {
            let bound = format!("must be a multiple of the smallest block, {unit} bytes");
            self.require(value.is_multiple_of(unit), field, value, &bound)?;
        }
        for block in &stream.block {
            let bytes = block.bytes;
            let bound = format!("must hold one whole aligned block of {bytes} bytes");
            let fits = Grid::new(span, bytes).slots > 0;
            self.require(fits, "span.length", span.length, &bound)?;
        }
        Ok(())
    }

    fn check_issue(self, stream: &Stream) -> Check {
        self.within("workers", stream.workers, 1, MAX_WORKERS)?;
        self.within("depth", stream.depth, 1, MAX_DEPTH)?;
        if stream.engine == Engine::Sync {
            let bound = "must be 1 with engine sync, which has one I/O in flight; use uring";
            self.require(stream.depth == 1, "depth", stream.depth, bound)?;
            let bound = "must be unset with engine sync, which submits one by one; use uring";
            let batch = stream.batch.unwrap_or(0);
            self.require(stream.batch.is_none(), "batch", batch, bound)?;
            let bound = "must be false with engine sync; use uring";
            self.require(!stream.polled, "polled", stream.polled, bound)?;
        }
        if let Some(batch) = stream.batch {
            self.within("batch", batch, 1, stream.depth)?;
        }
        let bound = "must be false unless direct is true: the page cache cannot be polled";
        self.require(
            stream.direct || !stream.polled,
            "polled",
            stream.polled,
            bound,
        )?;
        self.within("compressible_pct", stream.compressible_pct, 0, 100)?;
        if let Some(writes) = stream.flush_every {
            self.within("flush_every", writes, 1, u64::MAX)?;
            let bound = "must be unset for a stream that does not write";
            self.require(stream.writes(), "flush_every", writes, bound)?;
        }
        let bound = "must be false for a stream that does not write";
        self.require(
            stream.writes() || !stream.dsync,
            "dsync",
            stream.dsync,
            bound,
        )
    }

    fn check_arrival(self, stream: &Stream) -> Check {
        match stream.arrival {
            Arrival::Recorded { backlog_ns } => {
                self.within("arrival.recorded.backlog_ns", backlog_ns, 1, MAX_TIME_NS)
            }
            Arrival::Closed { think_ns } => {
                self.within("arrival.closed.think_ns", think_ns, 0, MAX_TIME_NS)
            }
            Arrival::Pulses { on_ns, every_ns } => {
                self.within("arrival.pulses.on_ns", on_ns, 1, MAX_TIME_NS - 1)?;
                self.within("arrival.pulses.every_ns", every_ns, on_ns + 1, MAX_TIME_NS)
            }
            Arrival::Bursts { bytes, every_ns } => {
                let count = stream.block.len();
                let bound = "must be 1 with bursts, which are a whole number of blocks";
                self.require(count == 1, "block (count)", count, bound)?;
                let block = u64::from(stream.smallest_block_bytes());
                self.within("arrival.bursts.bytes", bytes, block, MAX_OFFSET)?;
                let bound = format!("must be a multiple of the block, {block} bytes");
                let whole = bytes.is_multiple_of(block);
                self.require(whole, "arrival.bursts.bytes", bytes, &bound)?;
                self.within("arrival.bursts.every_ns", every_ns, 1, MAX_TIME_NS)
            }
            Arrival::Open {
                process,
                rate,
                backlog_ns,
            } => {
                self.check_rate(rate)?;
                self.within("arrival.open.backlog_ns", backlog_ns, 1, MAX_TIME_NS)?;
                let Process::Act2019 { queues } = process else {
                    return Ok(());
                };
                let field = "arrival.open.process.act2019.queues";
                self.within(field, queues, 1, stream.workers)?;
                let bound = format!("must divide the workers, {}", stream.workers);
                let even = stream.workers.is_multiple_of(queues);
                self.require(even, field, queues, &bound)
            }
        }
    }

    fn check_rate(self, rate: Rate) -> Check {
        let field = "arrival.open.rate";
        self.within(&format!("{field}.num"), rate.num, 1, MAX_RATE_TERM)?;
        self.within(&format!("{field}.den"), rate.den, 1, MAX_RATE_TERM)?;
        let second = u128::from(rate.den) * u128::from(SECOND_NS);
        let num = u128::from(rate.num);
        let value = format!("{}/{}", rate.num, rate.den);
        let fast = num <= second;
        self.require(fast, field, &value, "must be at most 1000000000 per second")?;
        let slow = second <= num * u128::from(MAX_TIME_NS);
        self.require(
            slow,
            field,
            &value,
            "must be at least one in 7776000 seconds",
        )
    }

    fn check_stop(self, stream: &Stream) -> Check {
        let Stop {
            time_ns,
            bytes,
            ios,
            span_once,
        } = stream.stop;
        self.within("stop.time_ns", time_ns.unwrap_or(1), 1, MAX_TIME_NS)?;
        self.within("stop.bytes", bytes.unwrap_or(1), 1, u64::MAX)?;
        self.within("stop.ios", ios.unwrap_or(1), 1, u64::MAX)?;
        if !span_once {
            return Ok(());
        }
        let sequential = matches!(stream.pattern, Pattern::Sequential { .. });
        let bound = "must be false unless the pattern is sequential: no other covers the span once";
        self.require(sequential, "stop.span_once", span_once, bound)?;
        let bound =
            "must be false with several block sizes: the number of I/Os would depend on chance";
        self.require(stream.block.len() == 1, "stop.span_once", span_once, bound)
    }
}

fn within<T: PartialOrd + Display + Copy>(field: &str, value: T, lowest: T, highest: T) -> Check {
    if lowest <= value && value <= highest {
        return Ok(());
    }
    let bound = format!("must be {lowest} to {highest}");
    Err(SpecError::new(field, value, bound))
}
