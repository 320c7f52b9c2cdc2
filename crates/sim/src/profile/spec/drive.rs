//! A whole drive: its parts and its options.

use serde::{Deserialize, Serialize};

use super::{Geometry, HostSpec, HousekeepingSpec, PowerSpec, SlcSpec, SpreadSpec, Timing};

/// All parts of a drive.
#[derive(Debug, Clone, Copy)]
pub struct DriveSpec {
    /// Geometry of the flash.
    pub geometry: Geometry,
    /// Times of the flash.
    pub timing: Timing,
    /// Link, queue and controller.
    pub host: HostSpec,
    /// Bytes that the user can address.
    pub user_bytes: u64,
    /// Size of the write buffer, in bytes.
    pub buffer_bytes: u64,
    /// Superblocks that collection keeps free.
    pub reserve: u32,
    /// Whether buffered data survives a loss of power; if so, a flush has nothing to wait for.
    pub power_loss_protection: bool,
    /// Unit of offsets and lengths, in bytes.
    pub logical_block_bytes: u32,
    /// Only one superblock erase in this many is charged: blocks are that many times smaller than real ones.
    pub erase_every: u32,
    /// Options beyond the plain rules.
    pub options: DriveOptions,
}

/// How the drive treats trim commands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrimRule {
    /// The units are unmapped.
    #[default]
    Honoured,
    /// The command completes and changes nothing: the drive, or something between it and the host, ignores it.
    Ignored,
}

/// Wear levelling: how erases are spread over the superblocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WearRule {
    /// Opens the free superblock with the fewest erases (*dynamic* wear levelling); otherwise the one that has been free
    /// longest.
    pub coldest_first: bool,
    /// Collects a superblock whose data rests when another has this many more erases (*static* wear levelling).
    pub move_resting_after: Option<u32>,
}

/// How data is placed and collected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Layout {
    /// In superblocks over all dies, each collected as a whole.
    #[default]
    Superblocks,
    /// Each logical page on its own plane, and each plane collected by itself.
    Planes,
    /// In place, without collection.
    InPlace,
}

/// How the drive reads ahead of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAheadSpec {
    /// Most units that it prefetches for a stream.
    pub units: u32,
    /// Streams that it follows at once.
    pub streams: u32,
}

/// Collection between two marks: it starts at the low mark, works in quanta, and rests at the high mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// Units of free space between the marks.
    pub apart_units: u32,
    /// Units that it moves at once, before the host's next write.
    pub quantum_units: u32,
    /// Part of its even share that each write owes while collection works, in percent; more than 100.
    pub catch_up_pct: u32,
}

/// Memory for a map that lies in flash, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MapMemory {
    /// For map pages.
    pub page_bytes: u64,
    /// For changed entries that are not yet in their map page, at 8 bytes each.
    pub change_bytes: u64,
}

/// Options of a drive beyond the plain rules.
#[derive(Debug, Clone, Copy, Default)]
pub struct DriveOptions {
    /// How the drive treats trim commands.
    pub trim: TrimRule,
    /// Writes complete only when they are in flash: the write cache is off.
    pub write_through: bool,
    /// Time after the program until the map entry of a durable write is safe, in ns.
    pub commit_ns: u64,
    /// Wear levelling.
    pub wear: WearRule,
    /// Time without a command after which background work starts, in ns; `None`: never.
    pub idle_after_ns: Option<u64>,
    /// Free superblocks that collection tries to reach when the drive is idle.
    pub idle_free_superblocks: u32,
    /// The SLC cache: superblocks that are written with one bit per cell.
    pub slc: Option<SlcSpec>,
    /// Variation among dies and blocks, and read retries.
    pub spread: Option<SpreadSpec>,
    /// Energy and heat.
    pub power: Option<PowerSpec>,
    /// How data is placed and collected.
    pub layout: Layout,
    /// Memory for a map that lies in flash; `None`: the whole map is in memory.
    pub map_memory: Option<MapMemory>,
    /// Dies over which the pages of a write stream alternate, so that their word lines fill together; 0 or 1: a word line is
    /// filled before the next.
    pub stripe_dies: u32,
    /// Link time of each command beside its data, in ns.
    pub turnaround_ns: u64,
    /// Time of one unit on the controller's data path, in ns times 1024; 0: no bound that matters.
    pub data_unit_ns_x1024: u64,
    /// Read-ahead of sequential streams.
    pub read_ahead: Option<ReadAheadSpec>,
    /// Collection between marks; `None`: each write owes an even share of the moves.
    pub marks: Option<Marks>,
    /// Array reads of collection that are under way at once; the next waits until the data of one has been moved. 0: no bound.
    pub move_reads: u32,
    /// Core time of each unit that collection moves, in ns.
    pub move_core_ns: u64,
    /// Collection writes to the host's stream, and has none of its own.
    pub merged_streams: bool,
    /// One word line in this many of a stream holds the parity of the others; 0: no parity.
    pub parity_lines: u32,
    /// Units of one map entry, which are placed and moved together; 0 or 1: one.
    pub mapping_units: u32,
    /// Mapping units that the write buffer holds in part; 0 or 1: one.
    pub write_contexts: u32,
    /// When the firmware stops for its own work; `None`: never.
    pub housekeeping: Option<HousekeepingSpec>,
}

impl DriveOptions {
    /// Returns the units of a mapping unit, at least 1.
    pub fn units_together(&self) -> u32 {
        self.mapping_units.max(1)
    }

    /// Returns the mapping units that the write buffer holds in part, at least 1.
    pub fn contexts(&self) -> u32 {
        self.write_contexts.max(1)
    }
}
