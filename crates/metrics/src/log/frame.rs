//! One frame: `magic u32, type u16, flags u16, length u32, crc32 u32, payload`, all little-endian. The checksum covers type,
//! flags, length and payload; the magic checks itself.

/// First four bytes of every frame.
pub const MAGIC: [u8; 4] = *b"sLG1";
/// Bytes before the payload.
pub const HEADER_BYTES: usize = 16;
/// Longest payload. A longer length in a file is damage, and is not allocated.
pub const MAX_PAYLOAD_BYTES: u32 = 64 << 20;

/// What a frame holds. Readers skip types they do not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum FrameType {
    /// JSON: format version, what is recorded, what the owner says of it. Always the first frame.
    Header = 1,
    /// An interval row.
    Row = 2,
    /// The histogram of an interval, stream, operation and kind.
    IntervalHistogram = 3,
    /// The same over the whole run.
    TotalHistogram = 4,
    /// Per-I/O columns.
    IoColumns = 5,
    /// JSON: facts of the finished run. Always the last frame; without it the run was cut short.
    Footer = 6,
    /// JSON: the absolute stamp of zero.
    Start = 7,
    /// JSON: failed I/Os in full.
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

fn checksum(header: &[u8; HEADER_BYTES], payload: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&header[4..12]);
    crc.update(payload);
    crc.finalize()
}
