//! The bounds of a stream's pattern.

use super::{Check, Field, MAX_BLOCK_BYTES, MAX_RAW, MAX_SEGMENTS, MAX_THETA_MILLI, MAX_WEIGHTS};
use crate::blocks::Grid;
use crate::pattern::bands::edges;
use crate::pattern::sequential::part_start;
use crate::pattern::stepped::Stepped;
use crate::spec::{Arrival, Band, Ops, Pattern, SECTOR_BYTES, Stream};

impl Field {
    pub(super) fn check_pattern(self, stream: &Stream) -> Check {
        self.check_recorded(stream)?;
        match &stream.pattern {
            Pattern::Uniform | Pattern::Recorded { .. } => Ok(()),
            Pattern::Shuffled { .. } => self.within("block", stream.block.len() as u64, 1, 1),
            Pattern::Stepped { step_bytes } => self.check_step(stream, *step_bytes),
            Pattern::Zipf { theta_milli } => {
                let field = "pattern.zipf.theta_milli";
                self.within(field, *theta_milli, 1, MAX_THETA_MILLI)
            }
            Pattern::Bands(bands) => self.check_bands(stream, bands),
            Pattern::Segments {
                count,
                length_bytes,
                stride_bytes,
            } => self.check_segments(stream, *count, *length_bytes, *stride_bytes),
            Pattern::OnePass {
                raw_bytes,
                behind_bytes,
            } => self.check_one_pass(stream, *raw_bytes, *behind_bytes),
            Pattern::Sequential { cursors } => {
                let unit = stream.smallest_block_bytes();
                let bound = format!(
                    "must be a multiple of the smallest block, {unit} bytes, in a sequential pattern"
                );
                for (index, block) in stream.block.iter().enumerate() {
                    let field = format!("block[{index}].bytes");
                    let whole = block.bytes.is_multiple_of(unit);
                    self.require(whole, &field, block.bytes, &bound)?;
                }
                cursors
                    .as_ref()
                    .map_or(Ok(()), |c| self.check_cursors(stream, c))
            }
        }
    }

    fn check_one_pass(self, stream: &Stream, raw_bytes: u64, behind_bytes: u64) -> Check {
        let single = stream.block.len() == 1;
        let bound = "must be one size in a one-pass pattern";
        self.require(single, "block", stream.block.len(), bound)?;
        let writes = stream.ops == Ops::Mix { read_pct: 0 };
        let bound = "must be writes alone in a one-pass pattern";
        self.require(writes, "ops", format_args!("{:?}", stream.ops), bound)?;
        let (field, length) = ("pattern.one_pass", stream.span.length);
        let whole =
            length >= u64::from(stream.sources()) * u64::from(stream.smallest_block_bytes());
        let bound = "must hold a block for each source of a one-pass pattern";
        self.require(whole, "span.length", length, bound)?;
        let bound =
            format!("must be more than the span of {length} bytes, and at most ten times as much");
        let longer = length < raw_bytes && raw_bytes / MAX_RAW <= length;
        self.require(longer, &format!("{field}.raw_bytes"), raw_bytes, &bound)?;
        let bound = format!("must be at most a sixteenth of the span of {length} bytes");
        let near = behind_bytes <= length / 16;
        self.require(near, &format!("{field}.behind_bytes"), behind_bytes, &bound)
    }

    fn check_step(self, stream: &Stream, step_bytes: u32) -> Check {
        let field = "pattern.stepped.step_bytes";
        self.within(field, step_bytes, SECTOR_BYTES, MAX_BLOCK_BYTES)?;
        let whole = step_bytes.is_multiple_of(SECTOR_BYTES);
        self.require(whole, field, step_bytes, "must be a multiple of 512")?;
        let largest = stream.largest_block_bytes();
        let bound = format!("must hold a block of {largest} bytes at a multiple of {step_bytes}");
        let fits = Stepped::slots(stream.span, step_bytes, largest) > 0;
        self.require(fits, "span.length", stream.span.length, &bound)
    }

    /// A recording is one sequence: its places, operations and times belong together.
    fn check_recorded(self, stream: &Stream) -> Check {
        let recorded = matches!(stream.pattern, Pattern::Recorded { .. });
        let bound = "must be recorded with the pattern recorded, and with no other";
        let ops = matches!(stream.ops, Ops::Recorded { .. });
        self.require(
            ops == recorded,
            "ops",
            format_args!("{:?}", stream.ops),
            bound,
        )?;
        let timed = matches!(stream.arrival, Arrival::Recorded { .. });
        let arrival = format_args!("{:?}", stream.arrival);
        self.require(recorded || !timed, "arrival", arrival, bound)?;
        if !recorded {
            return Ok(());
        }
        let closed = matches!(stream.arrival, Arrival::Closed { .. });
        let bound = "must be recorded or closed with the pattern recorded";
        self.require(timed || closed, "arrival", arrival, bound)?;
        let bound =
            "must be 1 in a closed loop of a recording, which is one sequence; give it depth";
        let one = timed || stream.workers == 1;
        self.require(one, "workers", stream.workers, bound)?;
        let count = stream.block.len();
        let bound = "must be at most 2 with the pattern recorded: its unit and its longest I/O";
        self.require(count <= 2, "block (count)", count, bound)
    }

    fn check_cursors(self, stream: &Stream, cursors: &[u64]) -> Check {
        let (span, sources) = (stream.span, stream.sources());
        let unit = stream.smallest_block_bytes();
        let field = "pattern.sequential.cursors";
        let bound = format!("must be {sources}, one for each source");
        let count = cursors.len();
        self.require(
            count == sources as usize,
            &format!("{field} (count)"),
            count,
            &bound,
        )?;
        for (source, &cursor) in (0..).zip(cursors) {
            let field = format!("{field}[{source}]");
            let (lowest, highest) = if stream.stop.span_once {
                let start = |source| part_start(span, unit, source, sources);
                (start(source), start(source + 1))
            } else {
                (span.start, span.end())
            };
            self.within(&field, cursor, lowest, highest)?;
            let bound = format!("must be a whole number of blocks of {unit} bytes into the span");
            let whole = (cursor - span.start).is_multiple_of(u64::from(unit));
            self.require(whole, &field, cursor, &bound)?;
        }
        Ok(())
    }

    fn check_bands(self, stream: &Stream, bands: &[Band]) -> Check {
        let field = "pattern.bands";
        self.within(&format!("{field} (count)"), bands.len(), 1, MAX_WEIGHTS)?;
        for (index, band) in bands.iter().enumerate() {
            let field = format!("{field}[{index}].span_weight");
            self.within(&field, band.span_weight, 1, u32::MAX)?;
        }
        let accessed = bands.iter().any(|band| band.access_weight > 0);
        let bound = "must be above 0 in some band";
        self.require(accessed, &format!("{field}[].access_weight"), 0, bound)?;
        let unit = Grid::new(stream.span, stream.smallest_block_bytes());
        let edges = edges(bands, unit.slots);
        for (index, (band, edge)) in bands.iter().zip(edges.windows(2)).enumerate() {
            let holds = band.access_weight == 0 || edge[1] > edge[0];
            let field = format!("{field}[{index}].span_weight");
            let bound = "must give the band at least one block of the span";
            self.require(holds, &field, band.span_weight, bound)?;
        }
        Ok(())
    }

    fn check_segments(self, stream: &Stream, count: u32, length: u64, stride: u64) -> Check {
        let field = "pattern.segments";
        let largest = u64::from(stream.largest_block_bytes());
        self.within(&format!("{field}.count"), count, 1, MAX_SEGMENTS)?;
        let most = (stream.span.length / u64::from(count)).max(largest);
        self.within(&format!("{field}.stride_bytes"), stride, largest, most)?;
        self.within(&format!("{field}.length_bytes"), length, largest, stride)?;
        let places = [
            ("span.start", stream.span.start),
            ("pattern.segments.length_bytes", length),
            ("pattern.segments.stride_bytes", stride),
        ];
        for block in &stream.block {
            let bound = format!("must be a whole number of blocks of {} bytes", block.bytes);
            for (field, bytes) in places {
                let whole = bytes.is_multiple_of(u64::from(block.bytes));
                self.require(whole, field, bytes, &bound)?;
            }
        }
        Ok(())
    }
}
