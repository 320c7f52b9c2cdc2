//! What is offered to clients: one drive under one name.

use crate::protocol::transmission;

/// Largest payload of a request, as the protocol has it for clients that do not ask.
pub const MAX_PAYLOAD_BYTES: u32 = 32 << 20;
/// The block that drives like best.
const PREFERRED_BLOCK_BYTES: u32 = 4096;

/// The one thing that is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// Its name; the empty name means it too.
    pub name: String,
    /// A line about it.
    pub description: String,
    /// Bytes that can be addressed.
    pub size_bytes: u64,
    /// Unit of offsets and lengths, in bytes: a power of two.
    pub block_bytes: u32,
}

impl Export {
    /// Whether a client that asks for `name` means it.
    pub fn answers_to(&self, name: &[u8]) -> bool {
        name.is_empty() || name == self.name.as_bytes()
    }

    /// What it can do, as the protocol's flags.
    pub fn flags(&self) -> u16 {
        transmission::HAS_FLAGS
            | transmission::SEND_FLUSH
            | transmission::SEND_FUA
            | transmission::SEND_TRIM
            | transmission::SEND_WRITE_ZEROES
            | transmission::SEND_DF
            | transmission::CAN_MULTI_CONN
    }

    /// Smallest, best and largest block, in bytes.
    pub fn blocks(&self) -> [u32; 3] {
        [
            self.block_bytes,
            PREFERRED_BLOCK_BYTES.max(self.block_bytes),
            MAX_PAYLOAD_BYTES,
        ]
    }
}
