//! One frame: `magic u32, type u16, flags u16, length u32, crc32 u32, payload`, all little-endian.
//! The checksum (CRC-32 as in zip) covers type, flags, length and payload; the magic checks itself.

/// First four bytes of every frame.
pub const MAGIC: [u8; 4] = *b"sLG1";
/// Bytes before the payload.
pub const HEADER_BYTES: usize = 16;
/// Longest payload. A longer length in a file is damage, and is not allocated.
pub const MAX_PAYLOAD_BYTES: u32 = 64 << 20;

/// What a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum FrameType {
    /// JSON: format version, what is recorded, what the owner says of it. Always the first frame.
    Header = 1,
    /// An interval row. The histograms and failures of its interval stand before it: a row in the
    /// log is whole.
    Row = 2,
    /// The histogram of an interval, stream, operation and kind.
    IntervalHistogram = 3,
    /// The same over all rows that are not ramp.
    TotalHistogram = 4,
    /// Per-I/O columns.
    IoColumns = 5,
    /// JSON: facts of the finished run. Without it the run was cut short.
    Footer = 6,
    /// JSON: the absolute stamp of zero.
    Start = 7,
    /// JSON: failed I/Os of an interval in full.
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

/// A frame as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Number of its type.
    pub code: u16,
    /// What it holds.
    pub payload: Vec<u8>,
}

impl Frame {
    /// Its type; `None` for one that a later version added, which a reader passes over.
    pub fn frame_type(&self) -> Option<FrameType> {
        FrameType::from_code(self.code)
    }
}

/// The header of a frame with this payload.
pub(crate) fn header(frame_type: FrameType, payload: &[u8]) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    bytes[..4].copy_from_slice(&MAGIC);
    bytes[4..6].copy_from_slice(&(frame_type as u16).to_le_bytes());
    // Bytes 6 and 7 are flags; format version 1 has none.
    bytes[8..12].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    let checksum = checksum(&bytes, payload);
    bytes[12..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// CRC-32 of a header's middle and the payload.
pub(crate) fn checksum(header: &[u8; HEADER_BYTES], payload: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&header[4..12]);
    crc.update(payload);
    crc.finalize()
}

/// Fields of a frame's header; parsing gives `None` if the bytes are no header.
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
