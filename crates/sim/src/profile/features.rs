//! Features that not every drive has: SLC cache, power and heat, variation, mapping, wear levelling, and background work.

use serde::{Deserialize, Serialize};

use super::Figure;

/// Flash that is written with one bit per cell for a time: fast to write, and *folded* into normal superblocks later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlcCache {
    /// Whether the cache owns its flash or takes free superblocks.
    pub mode: Figure<SlcMode>,
    /// Data in the cache, in decimal gigabytes; for a dynamic cache the most it holds, on an empty drive. Divided by the scale.
    pub size_gb: Figure<f64>,
    /// Cells that a dynamic cache may use, in percent of the space without user data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pct_of_empty: Option<Figure<u32>>,
    /// What writes do when the cache is full.
    pub when_full: Figure<SlcWhenFull>,
    /// Array read time with one bit per cell, in microseconds.
    pub read_us: Figure<f64>,
    /// Time to program one page of all planes with one bit per cell, in microseconds.
    pub program_us: Figure<f64>,
}

/// Where the cache gets its flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlcMode {
    /// It owns superblocks, taken from the spare area.
    Static,
    /// It takes free superblocks while the drive is empty enough.
    Dynamic,
}

/// What writes do when the cache is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlcWhenFull {
    /// They bypass the cache.
    Direct,
    /// They wait until part of it has been folded: every write passes through the cache.
    Fold,
}

/// Default time over which a limit holds: maximum power is a mean over 10 s (`NVMe` Base Specification 2.0, Power State
/// Descriptor). Data-centre drives average over 1 s (OCP Datacenter `NVMe` SSD Specification 2.0, maximum average power).
pub const LIMIT_MS: f64 = 10_000.0;

/// What the drive draws.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// Power that the drive always draws, in mW.
    pub idle_mw: Figure<u32>,
    /// Additional power of the controller while there is work, in mW. Absent: 0, it saves no power when idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_mw: Option<Figure<u32>>,
    /// Power of one die during an array read, in mW.
    pub die_read_mw: Figure<u32>,
    /// Power of one die during a program, in mW.
    pub die_program_mw: Figure<u32>,
    /// Power of one die during an erase, in mW; 0 for a medium without erase.
    pub die_erase_mw: Figure<u32>,
    /// Energy to transfer 4 KiB over a channel, in nJ.
    pub transfer_nj: Figure<f64>,
    /// Energy of the controller for one command, in microjoules.
    pub command_uj: Figure<f64>,
    /// Energy of one byte on the link, in pJ.
    pub link_pj_per_byte: Figure<f64>,
    /// Resolution of the power trace, in milliseconds.
    pub window_ms: Figure<f64>,
    /// Time over which a limit holds, wherever it begins, in milliseconds. Absent: 10 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_ms: Option<Figure<f64>>,
    /// Most power in each power state, in W, falling; the drive starts in the first. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states_w: Option<Figure<Vec<f64>>>,
    /// Low-power states of a resting drive, shallowest first; no command is processed in them. Absent: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle_states: Vec<IdleState>,
}

/// A low-power state of a resting drive or its link. The host decides whether it is used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleState {
    /// On an `NVMe` drive, the number after its operational states, such as `ps3`; on a SATA link `partial`, `slumber` or
    /// `devsleep`.
    pub name: String,
    /// Power of the drive in this state, in mW.
    pub mw: Figure<u32>,
    /// Time to enter the state, in microseconds.
    pub entry_us: Figure<f64>,
    /// Time to leave the state, in microseconds; the next command waits for it.
    pub exit_us: Figure<f64>,
    /// Idle time after which the drive enters the state by itself, in milliseconds.
    pub after_ms: Figure<f64>,
}

/// How the drive heats up, and how it then limits itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thermal {
    /// Ambient temperature, in °C.
    pub ambient_c: Figure<f64>,
    /// Temperature rise for each W, in kelvin.
    pub resistance_k_per_w: Figure<f64>,
    /// Time until 63 % of a temperature change has happened, in seconds.
    pub time_constant_s: Figure<f64>,
    /// Temperatures at which the drive limits itself, rising; at most three.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub throttle: Vec<Throttle>,
    /// A limit that falls gradually with temperature, in place of `throttle`. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graded: Option<Graded>,
}

/// A power limit that falls linearly between two temperatures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Graded {
    /// Temperature from which there is a limit, in °C.
    pub from_c: Figure<f64>,
    /// The limit at that temperature, in W.
    pub from_w: Figure<f64>,
    /// Temperature from which the limit falls no further, in °C.
    pub to_c: Figure<f64>,
    /// The limit at that temperature, in W.
    pub to_w: Figure<f64>,
}

/// A temperature from which the drive limits itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throttle {
    /// Temperature at which throttling starts, in °C.
    pub above_c: Figure<f64>,
    /// Temperature at which throttling ends, in °C.
    pub until_c: Figure<f64>,
    /// The limit while it throttles, in W.
    pub cap_w: Figure<f64>,
}

/// Variation among dies and blocks, and read retries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// Standard deviation of block times, in percent of their mean.
    pub block_sigma_pct: Figure<f64>,
    /// Standard deviation of die times, in percent of their mean.
    pub die_sigma_pct: Figure<f64>,
    /// Read retries. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
}

/// How often reads need a retry, and how long it takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// Read attempts that fail on a new drive, in a million.
    pub per_million: Figure<u32>,
    /// Additional failures in a million attempts for each thousand erases of the block. Absent: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_million_per_1000_erases: Option<Figure<u32>>,
    /// Most retries of one read.
    pub at_most: Figure<u32>,
    /// Time of the first retry, in percent of the array read time.
    pub first_pct: Figure<u32>,
    /// How much longer each further retry takes, in percent of the array read time.
    pub step_pct: Figure<u32>,
}

/// Where data is placed, and how much of the map is in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// Dies over which the pages of a write stream alternate; must divide the number of dies. Absent: 1, which fills one word
    /// line before the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripe_dies: Option<Figure<u32>>,
    /// One word line in this many, each on another die, holds the parity of the others, so that a die can fail. Absent: no
    /// parity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity_dies: Option<Figure<u32>>,
    /// Where a write goes. Absent: `dynamic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Figure<Placement>>,
    /// Data of one map entry, in KiB; a partial write programs all of it. 4, 8, 16, 32 or 64, and a divisor of the page of all
    /// planes. Absent: 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit_kib: Option<Figure<u32>>,
    /// Memory for the map in MiB, at 4 bytes per mapping unit; the rest of the map lies in flash. Absent: the whole map is in
    /// memory. Divided by the scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_mib: Option<Figure<f64>>,
    /// Part of `cache_mib` for changed entries that are not yet in their map page, at 8 bytes each. Absent: half.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes_mib: Option<Figure<f64>>,
}

/// Where a write goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// To the next die in turn; superblocks over all dies are collected.
    Dynamic,
    /// To the plane of its logical page, in the order channel, way, die, plane; each plane is collected by itself.
    StaticCwdp,
}

/// Wear levelling: how erases are spread over the blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wear {
    /// Whether the free superblock with the fewest erases is opened next.
    pub dynamic: Figure<bool>,
    /// Superblocks whose data rests are collected when another has this many more erases. Absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub static_after_erases: Option<Figure<u32>>,
}

/// Background work when there are no commands: folding of the SLC cache, and garbage collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Idle {
    /// Time after the last command until this work starts, in milliseconds.
    pub after_ms: Figure<f64>,
    /// Free space that the drive tries to reach, in percent of the flash.
    pub free_pct: Figure<f64>,
}

/// Stops in which the firmware writes its journal: map changes of garbage collection must be safe before it erases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Housekeeping {
    /// Mean distance between two stops, in MiB moved for host writes; uniform up to twice the mean. Does not scale.
    pub every_mib: Figure<f64>,
    /// Mean length of a stop, in milliseconds. Lengths vary: a stop longer by two thirds of the mean is half as likely.
    pub pause_ms: Figure<f64>,
}
