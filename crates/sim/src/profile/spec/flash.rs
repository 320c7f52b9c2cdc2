//! Flash: its geometry, its addressing and its operation times.

use serde::{Deserialize, Serialize};

/// Counts and sizes of the flash's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Geometry {
    /// Channels between controller and flash.
    pub channels: u32,
    /// Dies on each channel.
    pub dies_per_channel: u32,
    /// Planes per die; all are read or programmed together.
    pub planes: u32,
    /// Bytes of a page, a multiple of 4096.
    pub page_bytes: u32,
    /// Pages per block.
    pub pages_per_block: u32,
    /// Bits per cell; the pages of a word line are programmed in one shot.
    pub bits_per_cell: u32,
    /// Blocks per plane, which is the number of superblocks.
    pub superblocks: u32,
}

/// Bytes of a unit; a map entry covers one or more units.
pub const UNIT_BYTES: u32 = 4096;
/// [`UNIT_BYTES`] for arithmetic with offsets.
pub(crate) const UNIT: u64 = UNIT_BYTES as u64;

impl Geometry {
    /// Returns the number of dies.
    pub fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }

    /// Returns the units of one array read: a page of every plane.
    pub fn units_per_read(&self) -> u32 {
        self.page_bytes / UNIT_BYTES * self.planes
    }

    /// Returns the units of one program: a word line of every plane.
    pub fn units_per_program(&self) -> u32 {
        self.units_per_read() * self.bits_per_cell
    }

    /// Returns the units of a superblock: one block of every plane of every die.
    pub fn units_per_superblock(&self) -> u32 {
        self.dies() * self.planes * self.pages_per_block * (self.page_bytes / UNIT_BYTES)
    }

    /// Returns the number of planes of all dies.
    pub fn all_planes(&self) -> u32 {
        self.dies() * self.planes
    }

    /// Returns the units of one plane.
    pub fn units_per_plane(&self) -> u32 {
        self.superblocks * self.pages_per_block * (self.page_bytes / UNIT_BYTES)
    }

    /// Returns the bytes of all the flash.
    pub fn raw_bytes(&self) -> u64 {
        u64::from(self.superblocks) * u64::from(self.units_per_superblock()) * UNIT
    }

    /// Returns the channel of a die.
    #[inline]
    pub fn channel(&self, die: u32) -> u32 {
        die % self.channels
    }
}

/// Times of the flash and of its bus, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Array read of each page type, lower page first; the last one serves further page types.
    pub read_ns: [u64; 4],
    /// One-shot program of a word line of all planes.
    pub program_ns: u64,
    /// Erase of a block of all planes.
    pub erase_ns: u64,
    /// Bus time of one unit with its spare and parity bytes.
    pub unit_transfer_ns: u64,
    /// Bus time of a command, for each array read or program.
    pub command_ns: u64,
    /// Time that a suspending read adds to a program or erase; `None`: the flash cannot suspend.
    pub suspend_ns: Option<u64>,
    /// Delay that reads may add to waiting programs and erases before those get a turn.
    pub deferral_limit_ns: u64,
    /// When and how often a program or erase can be suspended.
    pub pauses: Pauses,
}

/// When and how often a program or erase can be suspended. The default: at any time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pauses {
    /// Length of a program pulse with its verify, in ns; a program is suspended between two pulses. 0: at any time.
    pub pulse_ns: u64,
    /// Time that a suspending read adds to an erase, in ns; `None`: the same as for a program.
    pub erase_suspend_ns: Option<u64>,
    /// Least time that a resumed operation runs before it can be suspended again, in ns.
    pub resume_ns: u64,
    /// How often one operation can be suspended; `None`: no bound.
    pub at_most: Option<u32>,
}
