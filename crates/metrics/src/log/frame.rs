//! One frame: `magic u32, type u16, flags u16, length u32, crc32 u32, payload`, all little-endian.
//! The checksum (CRC-32 as in zip) covers type, flags, length and payload. The magic needs no
//! checksum: a reader compares it.

/// First four bytes of every frame.
pub const MAGIC: [u8; 4] = *b"sLG1";
/// Length of a frame's header, in bytes.
pub const HEADER_BYTES: usize = 16;
/// Longest payload. A reader takes a greater length for damage and does not allocate it.
pub const MAX_PAYLOAD_BYTES: u32 = 64 << 20;

/// The kind of payload that a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum FrameType {
    /// JSON: format version, what is recorded, and the owner's header. Always the first frame.
    Header = 1,
    /// An interval row. The histograms and failures of its interval precede it, so an interval
    /// whose row is in the log is complete.
    Row = 2,
    /// The histogram of one interval, stream, operation and kind of latency.
    IntervalHistogram = 3,
    /// The histogram of one stream, operation and kind of latency over all rows outside the ramp.
    TotalHistogram = 4,
    /// Per-I/O columns.
    IoColumns = 5,
    /// JSON: facts of the finished run. A log without it was cut short.
    Footer = 6,
    /// JSON: the absolute time of the run's zero.
    Start = 7,
    /// JSON: all facts of the failed I/Os of an interval.
    Failures = 8,
}

impl FrameType {
    const ALL: [Self; 8] = [
        Self::Header,
        Self::Row,
        Self::IntervalHistogram,
        Self::TotalHistogram,
        Self::IoColumns,
        Self::Footer,
        Self::Start,
        Self::Failures,
    ];

    pub(crate) fn from_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|&known| known as u16 == code)
    }
}

/// A frame as read from a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Code of the frame type.
    pub code: u16,
    /// The payload.
    pub payload: Vec<u8>,
}

impl Frame {
    /// Returns the type; `None` for a type that a later version added, which a reader skips.
    pub fn frame_type(&self) -> Option<FrameType> {
        FrameType::from_code(self.code)
    }
}

/// Builds the header of a frame with this payload.
pub(crate) fn header(frame_type: FrameType, payload: &[u8]) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    bytes[..4].copy_from_slice(&MAGIC);
    bytes[4..6].copy_from_slice(&(frame_type as u16).to_le_bytes());
    // Bytes 6 and 7 are flags; no format version defines any so far.
    bytes[8..12].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    let checksum = checksum(&bytes, payload);
    bytes[12..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Computes the CRC-32 of type, flags, length and payload.
pub(crate) fn checksum(header: &[u8; HEADER_BYTES], payload: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&header[4..12]);
    crc.update(payload);
    crc.finalize()
}

/// The fields of a frame's header; parsing returns `None` if the bytes are not a header.
pub(crate) struct Fields {
    pub(crate) code: u16,
    pub(crate) length: usize,
    pub(crate) checksum: u32,
}

pub(crate) fn fields(header: &[u8; HEADER_BYTES]) -> Option<Fields> {
    let [m0, m1, m2, m3, t0, t1, _, _, l0, l1, l2, l3, c0, c1, c2, c3] = *header;
    let length = u32::from_le_bytes([l0, l1, l2, l3]);
    let checksum = u32::from_le_bytes([c0, c1, c2, c3]);
    let known = [m0, m1, m2, m3] == MAGIC && length <= MAX_PAYLOAD_BYTES;
    known.then_some(Fields {
        code: u16::from_le_bytes([t0, t1]),
        length: length as usize,
        checksum,
    })
}
