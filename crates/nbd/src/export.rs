//! The export: one drive, offered to clients under one name.

use crate::protocol::transmission;

/// Largest payload of a request in bytes: the protocol's limit for clients that do not ask for block sizes.
pub const MAX_PAYLOAD_BYTES: u32 = 32 << 20;
/// Block size that drives handle best.
const PREFERRED_BLOCK_BYTES: u32 = 4096;

/// The only export of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// Name of the export; the empty name refers to it too.
    pub name: String,
    /// One-line description for clients.
    pub description: String,
    /// Size of the drive in bytes.
    pub size_bytes: u64,
    /// Unit of offsets and lengths in bytes; a power of two.
    pub block_bytes: u32,
}

impl Export {
    /// Returns whether `name` refers to this export.
    pub fn answers_to(&self, name: &[u8]) -> bool {
        name.is_empty() || name == self.name.as_bytes()
    }

    /// Returns the protocol's flags for what the export supports.
    pub fn flags(&self) -> u16 {
        transmission::HAS_FLAGS
            | transmission::SEND_FLUSH
            | transmission::SEND_FUA
            | transmission::SEND_TRIM
            | transmission::SEND_WRITE_ZEROES
            | transmission::SEND_DF
            | transmission::CAN_MULTI_CONN
    }

    /// Returns the smallest, the preferred and the largest block, in bytes.
    pub fn blocks(&self) -> [u32; 3] {
        [
            self.block_bytes,
            PREFERRED_BLOCK_BYTES.max(self.block_bytes),
            MAX_PAYLOAD_BYTES,
        ]
    }
}
