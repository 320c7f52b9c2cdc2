//! Flash: what there is of it, how it is addressed and how long its operations take.

use serde::{Deserialize, Serialize};

/// How many there are of each part, and the sizes they come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Geometry {
    /// Channels between controller and flash.
    pub channels: u32,
    /// Dies on each channel.
    pub dies_per_channel: u32,
    /// Planes of a die; all are read or programmed together.
    pub planes: u32,
    /// Bytes of a page, a multiple of 4096.
    pub page_bytes: u32,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// Bits of a cell; the pages of a word line are programmed in one shot.
    pub bits_per_cell: u32,
    /// Blocks of a plane, which is the number of superblocks.
    pub superblocks: u32,
}

/// Bytes of a mapping unit.
pub const UNIT_BYTES: u32 = 4096;
/// The same, among offsets.
pub(crate) const UNIT: u64 = UNIT_BYTES as u64;

impl Geometry {
    /// All dies.
    pub fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }

    /// Units that one array read brings: a page of every plane.
    pub fn units_per_read(&self) -> u32 {
        self.page_bytes / UNIT_BYTES * self.planes
    }

    /// Units that one program takes: a word line of every plane.
    pub fn units_per_program(&self) -> u32 {
        self.units_per_read() * self.bits_per_cell
    }

    /// Units of a superblock: one block of every plane of every die.
    pub fn units_per_superblock(&self) -> u32 {
        self.dies() * self.planes * self.pages_per_block * (self.page_bytes / UNIT_BYTES)
    }

    /// Planes of all dies.
    pub fn all_planes(&self) -> u32 {
        self.dies() * self.planes
    }

    /// Units of one plane.
    pub fn units_per_plane(&self) -> u32 {
        self.superblocks * self.pages_per_block * (self.page_bytes / UNIT_BYTES)
    }

    /// Bytes of all the flash.
    pub fn raw_bytes(&self) -> u64 {
        u64::from(self.superblocks) * u64::from(self.units_per_superblock()) * UNIT
    }

    /// The channel of a die.
    #[inline]
    pub fn channel(&self, die: u32) -> u32 {
        die % self.channels
    }
}

/// Times of the flash and of the bus to it, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Array read of each page type, lower first; the last serves those beyond.
    pub read_ns: [u64; 4],
    /// One-shot program of a word line of all planes.
    pub program_ns: u64,
    /// Erase of a block of all planes.
    pub erase_ns: u64,
    /// Bus time of one unit with its spare bytes and check bits.
    pub unit_transfer_ns: u64,
    /// Bus time of a command, for each array read or program.
    pub command_ns: u64,
    /// What a read adds when it interrupts a program or erase; `None` if the flash cannot suspend.
    pub suspend_ns: Option<u64>,
    /// How late reads may make programs and erases before they must wait for them.
    pub deferral_limit_ns: u64,
    /// When and how often it can be suspended.
    pub pauses: Pauses,
}

/// When and how often a program or an erase can be suspended. As it is by default, at any time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pauses {
    /// A program is suspended between two of its pulses, each with its verify, of so many ns; 0: anywhere.
    pub pulse_ns: u64,
    /// What a read adds when it interrupts an erase; `None`: what it adds to a program.
    pub erase_suspend_ns: Option<u64>,
    /// What was suspended runs for so long before it can be again.
    pub resume_ns: u64,
    /// How often one operation can be suspended; `None`: as often as reads come.
    pub at_most: Option<u32>,
}
