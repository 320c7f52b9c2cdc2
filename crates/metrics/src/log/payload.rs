//! Payloads of the frames. Numbers are varints unless stated otherwise.
//!
//! - histogram: number of buckets; for each bucket the number of buckets skipped since the
//!   previous one, and its count; then, if there are any buckets, sum, minimum and maximum in ns.
//! - row: index, start, duration, flags (byte: 1 partial, 2 ramp), number of streams; then each stream.
//! - stream of a row: in-flight area, in-flight maximum, a byte that says which operations follow
//!   (1 read, 2 write, 4 trim, 8 flush); then each of these operations.
//! - operation of a row: done, failed, dropped, late, bytes; number of distinct errors, and for each
//!   errno and count; service p50 p99 p99.9 max; response p50 p99 p99.9 max; lateness maximum.
//! - interval histogram: row, stream, operation (byte), kind (byte), histogram. A total histogram is
//!   the same without the row.
//! - io columns: stream, participant, number of I/Os; then the columns, little-endian and unpadded:
//!   op u8, offset u64, length u32, submit u64, latency u64, intended u64.

use super::varint::{Reader, put};
use crate::histogram::Histogram;
use crate::io_columns::IoColumns;
use crate::operation::{FLUSH, OPS};
use crate::row::{FLAG_PARTIAL, FLAG_RAMP, LatencyRow, OpRow, Row, StreamRow};
use crate::tally::{Kind, Place};

pub(crate) fn put_histogram(bytes: &mut Vec<u8>, histogram: &Histogram) {
    put(bytes, histogram.nonzero().count() as u64);
    let mut next = 0;
    for (index, count) in histogram.nonzero() {
        put(bytes, (index - next) as u64);
        put(bytes, count);
        next = index + 1;
    }
    if let (Some(min_ns), Some(max_ns)) = (histogram.min_ns(), histogram.max_ns()) {
        put(bytes, histogram.sum_ns());
        put(bytes, min_ns);
        put(bytes, max_ns);
    }
}

pub(crate) fn histogram(reader: &mut Reader) -> Option<Histogram> {
    let buckets = reader.index()?;
    if buckets == 0 {
        return Some(Histogram::new());
    }
    let mut sparse = Vec::new();
    let mut next = 0usize;
    for _ in 0..buckets {
        let index = next.checked_add(reader.index()?)?;
        sparse.push((index, reader.number()?));
        next = index.checked_add(1)?;
    }
    Histogram::from_sparse(sparse, reader.wide()?, reader.number()?, reader.number()?)
}

impl Histogram {
    /// Returns the sparse encoding, as in the append log.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_histogram(&mut bytes, self);
        bytes
    }

    /// Decodes the result of [`Self::to_bytes`]; `None` for bytes that cannot come from there.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let histogram = self::histogram(&mut reader)?;
        reader.end(histogram)
    }
}

pub(crate) fn put_place(bytes: &mut Vec<u8>, place: Place) {
    put(bytes, place.stream as u64);
    bytes.extend([place.op as u8, place.kind as u8]);
}

pub(crate) fn place(reader: &mut Reader) -> Option<Place> {
    let stream = reader.index()?;
    let op = usize::from(reader.byte()?);
    let kind = Kind::from_code(reader.byte()?)?;
    (op <= FLUSH).then_some(Place { stream, op, kind })
}

pub(crate) fn put_row(bytes: &mut Vec<u8>, row: &Row) {
    put(bytes, row.index);
    put(bytes, row.start_ns);
    put(bytes, row.duration_ns);
    bytes.push(row.flags());
    put(bytes, row.streams.len() as u64);
    for stream in &row.streams {
        put(bytes, stream.in_flight_area_ns);
        put(bytes, stream.in_flight_max);
        let used = stream.all().map(|op| op.requested() > 0);
        bytes.push(used.enumerate().map(|(i, used)| u8::from(used) << i).sum());
        for op in stream.all().filter(|op| op.requested() > 0) {
            put_op(bytes, op);
        }
    }
}

fn put_op(bytes: &mut Vec<u8>, op: &OpRow) {
    for count in [op.done, op.failed, op.dropped, op.late, op.bytes] {
        put(bytes, count);
    }
    put(bytes, op.errors.len() as u64);
    for (&errno, &count) in &op.errors {
        // Error numbers are positive; a negative one is kept as its bit pattern.
        put(bytes, errno.cast_unsigned());
        put(bytes, count);
    }
    for latency in [op.service, op.response] {
        for value_ns in [
            latency.p50_ns,
            latency.p99_ns,
            latency.p99_9_ns,
            latency.max_ns,
        ] {
            put(bytes, value_ns);
        }
    }
    put(bytes, op.lateness_max_ns);
}

pub(crate) fn row(payload: &[u8]) -> Option<Row> {
    let mut reader = Reader(payload);
    let (index, start_ns, duration_ns) = (reader.number()?, reader.number()?, reader.number()?);
    let flags = reader.byte()?;
    let mut streams = Vec::new();
    for _ in 0..reader.index()? {
        streams.push(stream(&mut reader)?);
    }
    let (partial, ramp) = (flags & FLAG_PARTIAL != 0, flags & FLAG_RAMP != 0);
    reader.end(Row {
        index,
        start_ns,
        duration_ns,
        partial,
        ramp,
        streams,
    })
}

fn stream(reader: &mut Reader) -> Option<StreamRow> {
    let in_flight_area_ns = reader.number()?;
    let in_flight_max = reader.wide()?.try_into().ok()?;
    let used = reader.byte()?;
    let mut row = StreamRow {
        in_flight_area_ns,
        in_flight_max,
        ops: Default::default(),
        flush: OpRow::default(),
    };
    for (i, op) in row.all_mut().enumerate() {
        if used & 1 << i != 0 {
            *op = self::op(reader)?;
        }
    }
    Some(row)
}

fn op(reader: &mut Reader) -> Option<OpRow> {
    let mut op = OpRow {
        done: reader.number()?,
        failed: reader.number()?,
        dropped: reader.number()?,
        late: reader.number()?,
        bytes: reader.number()?,
        ..OpRow::default()
    };
    for _ in 0..reader.index()? {
        let errno = u32::try_from(reader.wide()?).ok()?.cast_signed();
        op.errors.insert(errno, reader.number()?);
    }
    op.service = latency(reader)?;
    op.response = latency(reader)?;
    op.lateness_max_ns = reader.number()?;
    Some(op)
}

fn latency(reader: &mut Reader) -> Option<LatencyRow> {
    Some(LatencyRow {
        p50_ns: reader.number()?,
        p99_ns: reader.number()?,
        p99_9_ns: reader.number()?,
        max_ns: reader.number()?,
    })
}

pub(crate) fn put_io_columns(bytes: &mut Vec<u8>, columns: &IoColumns) {
    put(bytes, columns.stream as u64);
    put(bytes, columns.participant);
    put(bytes, columns.len() as u64);
    bytes.extend_from_slice(&columns.op);
    bytes.extend(columns.offset.iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend(columns.length.iter().flat_map(|value| value.to_le_bytes()));
    for column in [
        &columns.submit_ns,
        &columns.latency_ns,
        &columns.intended_ns,
    ] {
        bytes.extend(column.iter().flat_map(|value| value.to_le_bytes()));
    }
}

pub(crate) fn io_columns(payload: &[u8]) -> Option<IoColumns> {
    let mut reader = Reader(payload);
    let stream = reader.index()?;
    let participant = reader.wide()?.try_into().ok()?;
    let ios = reader.index()?;
    let mut columns = IoColumns::with_capacity(stream, participant, 0);
    columns.op = reader.take(ios)?.to_vec();
    columns.offset = wide_column(&mut reader, ios)?;
    columns.length = column::<4>(&mut reader, ios)?
        .map(u32::from_le_bytes)
        .collect();
    columns.submit_ns = wide_column(&mut reader, ios)?;
    columns.latency_ns = wide_column(&mut reader, ios)?;
    columns.intended_ns = wide_column(&mut reader, ios)?;
    let known = columns.op.iter().all(|&op| usize::from(op) < OPS.len());
    reader.end(columns).filter(|_| known)
}

fn wide_column(reader: &mut Reader, ios: usize) -> Option<Vec<u64>> {
    Some(column::<8>(reader, ios)?.map(u64::from_le_bytes).collect())
}

fn column<'a, const WIDTH: usize>(
    reader: &mut Reader<'a>,
    ios: usize,
) -> Option<impl Iterator<Item = [u8; WIDTH]> + 'a> {
    let bytes = reader.take(ios.checked_mul(WIDTH)?)?;
    Some(bytes.as_chunks::<WIDTH>().0.iter().copied())
}
