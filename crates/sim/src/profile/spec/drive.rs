//! A whole drive: its parts, and what not every drive has or does.

use serde::{Deserialize, Serialize};

use super::{Geometry, HostSpec, HousekeepingSpec, PowerSpec, SlcSpec, SpreadSpec, Timing};

/// All of a drive's parts.
#[derive(Debug, Clone, Copy)]
pub struct DriveSpec {
    /// Flash there is.
    pub geometry: Geometry,
    /// How long it takes.
    pub timing: Timing,
    /// Link, queue and controller.
    pub host: HostSpec,
    /// Bytes the user can address.
    pub user_bytes: u64,
    /// Bytes of the write buffer.
    pub buffer_bytes: u64,
    /// Superblocks that collection keeps free.
    pub reserve: u32,
    /// Whether data in the buffer survives a loss of power: then a flush has nothing to wait for.
    pub power_loss_protection: bool,
    /// Unit of offsets and lengths, in bytes.
    pub logical_block_bytes: u32,
    /// An erase of a superblock is charged on every so many-th: blocks are that many times smaller than the real ones.
    pub erase_every: u32,
    /// What not every drive has or does.
    pub options: DriveOptions,
}

/// What becomes of a trim command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrimRule {
    /// The units are forgotten.
    #[default]
    Honoured,
    /// It completes and changes nothing: the drive, or something between it and the host, ignores it.
    Ignored,
}

/// How erases are spread over the superblocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WearRule {
    /// Of the free superblocks the one with the fewest erases is written next (*dynamic* wear levelling); else the one that
    /// has been free for longest.
    pub coldest_first: bool,
    /// A superblock whose data rests is collected when another has so many more erases (*static* wear levelling).
    pub move_resting_after: Option<u32>,
}

/// How data is laid out, and space won back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Layout {
    /// Over all dies, won back by superblocks.
    #[default]
    Superblocks,
    /// Each logical page on its plane, each plane for itself.
    Planes,
    /// Written where it is, without collection.
    InPlace,
}

/// How a drive reads ahead of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAheadSpec {
    /// Units that it keeps read beyond what was asked for.
    pub units: u32,
    /// Streams that it follows at once.
    pub streams: u32,
}

/// Collection between two marks: it begins at the low one, works in quanta, and rests from the high one on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// Units of free space between them.
    pub apart_units: u32,
    /// Units that it moves at once, in front of what the host writes.
    pub quantum_units: u32,
    /// What it moves of what each write owes while it works, in percent; more than 100.
    pub catch_up_pct: u32,
}

/// Memory for a map that lies in flash, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MapMemory {
    /// For its pages.
    pub page_bytes: u64,
    /// For entries that are changed and not in their page yet, at 8 bytes each.
    pub change_bytes: u64,
}

/// What a drive has or does beyond the plain rules.
#[derive(Debug, Clone, Copy, Default)]
pub struct DriveOptions {
    /// What becomes of trim commands.
    pub trim: TrimRule,
    /// Writes complete when they are in flash: the write cache is off.
    pub write_through: bool,
    /// What a write that must be in flash waits for its map entry to be safe, after its program, in ns.
    pub commit_ns: u64,
    /// Wear levelling.
    pub wear: WearRule,
    /// After so long without a command the drive works for itself; `None`: it never does.
    pub idle_after_ns: Option<u64>,
    /// Superblocks that collection tries to have free when the drive is idle.
    pub idle_free_superblocks: u32,
    /// The SLC cache: superblocks that are written with one bit per cell.
    pub slc: Option<SlcSpec>,
    /// Blocks and dies that are faster or slower than others, and reads that need more than one attempt.
    pub spread: Option<SpreadSpec>,
    /// Energy and heat.
    pub power: Option<PowerSpec>,
    /// How data is laid out.
    pub layout: Layout,
    /// Memory for the map where not all of it is there; `None`: it is.
    pub map_memory: Option<MapMemory>,
    /// Dies over which the pages of a write stream alternate, and whose word lines fill together; 0 or 1: a word line is
    /// filled before the next.
    pub stripe_dies: u32,
    /// What each command takes of the link beside its data, in ns.
    pub turnaround_ns: u64,
    /// Time of one unit on the controller's data path, in ns times 1024; 0: no bound that matters.
    pub data_unit_ns_x1024: u64,
    /// Reading ahead of streams in order.
    pub read_ahead: Option<ReadAheadSpec>,
    /// Collection between marks; `None`: it moves evenly what each write owes, and no more.
    pub marks: Option<Marks>,
    /// Array reads of collection that are under way at once: the next waits until one has been moved; 0: any number is.
    pub move_reads: u32,
    /// Core time of each unit that collection moves, in ns.
    pub move_core_ns: u64,
    /// Collection writes to the host's stream, not to one of its own.
    pub merged_streams: bool,
    /// Of so many word lines that a stream programs, one holds the parity of the others; 0: none does.
    pub parity_lines: u32,
    /// Units that one entry of the map stands for, which are placed and moved together; 0 or 1: one.
    pub mapping_units: u32,
    /// Mapping units that the write buffer holds in part; 0 or 1: one.
    pub write_contexts: u32,
    /// When the firmware stops for work of its own; `None`: it never does.
    pub housekeeping: Option<HousekeepingSpec>,
}

impl DriveOptions {
    /// Units of a mapping unit.
    pub fn units_together(&self) -> u32 {
        self.mapping_units.max(1)
    }

    /// Mapping units that the write buffer holds in part.
    pub fn contexts(&self) -> u32 {
        self.write_contexts.max(1)
    }
}
