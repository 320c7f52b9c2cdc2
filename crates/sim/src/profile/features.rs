//! What not every drive has: a cache of one bit a cell, a power model, heat, spread, a map that does not fit, rules for wear and rest.

use serde::{Deserialize, Serialize};

use super::Figure;

/// Flash that is used with one bit a cell for a time: fast to write, and emptied (*folded*) into the rest later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlcCache {
    /// Whether the cache has flash of its own or takes what is empty.
    pub mode: Figure<SlcMode>,
    /// Data that it holds, in decimal gigabytes; of a dynamic one the most, on an empty drive. Divided by the scale.
    pub size_gb: Figure<f64>,
    /// Cells that a dynamic cache may use, in percent of the space that holds no user data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pct_of_empty: Option<Figure<u32>>,
    /// What becomes of writes when it is full.
    pub when_full: Figure<SlcWhenFull>,
    /// Array read with one bit a cell, in microseconds.
    pub read_us: Figure<f64>,
    /// Program of one page of all planes with one bit a cell, in microseconds.
    pub program_us: Figure<f64>,
}

/// Where a cache gets its flash from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlcMode {
    /// It has superblocks of its own, taken from the spare area.
    Static,
    /// It takes free superblocks while the drive is empty enough.
    Dynamic,
}

/// What becomes of writes when the cache is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlcWhenFull {
    /// They go past the cache.
    Direct,
    /// They wait until some of it has been folded: every write passes through the cache.
    Fold,
}

/// Ten seconds: active power is the largest mean over so long (`NVMe` Base Specification 2.0, Power State Descriptor). Drives of data
/// centres have a second (OCP's Datacenter `NVMe` SSD Specification 2.0, maximum average power).
pub const LIMIT_MS: f64 = 10_000.0;

/// What the drive draws.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// What it always draws, in mW.
    pub idle_mw: Figure<u32>,
    /// What the controller draws beside that while there is work, out of its power saving, in mW. Absent: nothing, it saves none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_mw: Option<Figure<u32>>,
    /// Power of one die while it reads, in mW.
    pub die_read_mw: Figure<u32>,
    /// One die while it programs, in mW.
    pub die_program_mw: Figure<u32>,
    /// One die while it erases, in mW; 0 for a medium without erase.
    pub die_erase_mw: Figure<u32>,
    /// 4 KiB that cross a channel, in nJ.
    pub transfer_nj: Figure<f64>,
    /// The controller's part in a command, in microjoules.
    pub command_uj: Figure<f64>,
    /// One byte that crosses the link, in pJ.
    pub link_pj_per_byte: Figure<f64>,
    /// The resolution of the power trace, in milliseconds.
    pub window_ms: Figure<f64>,
    /// Time over which a limit holds, wherever it begins, in milliseconds. Absent: ten seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_ms: Option<Figure<f64>>,
    /// What it draws at most in each power state, in W, falling; it is in the first. Absent: it has no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states_w: Option<Figure<Vec<f64>>>,
    /// States of less power for when it rests, in which no command is worked on; the nearest to work first. Absent: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle_states: Vec<IdleState>,
}

/// A state of less power for a drive, or its link, that rests. The host says whether it is used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleState {
    /// Of an `NVMe` drive the number behind its operational states, such as `ps3`; of a SATA link `partial`, `slumber` or `devsleep`.
    pub name: String,
    /// What the drive draws in it, in mW.
    pub mw: Figure<u32>,
    /// Time to get into it, in microseconds.
    pub entry_us: Figure<f64>,
    /// Time to get out of it, in microseconds: the next command waits for that.
    pub exit_us: Figure<f64>,
    /// It goes there by itself after so many milliseconds without work.
    pub after_ms: Figure<f64>,
}

/// How the drive gets warm, and what it does then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thermal {
    /// Temperature around it, in degrees Celsius.
    pub ambient_c: Figure<f64>,
    /// How much warmer it gets for each W, in kelvin.
    pub resistance_k_per_w: Figure<f64>,
    /// After so many seconds 63 % of a change has come.
    pub time_constant_s: Figure<f64>,
    /// Where it limits itself, by rising temperature; at most three points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub throttle: Vec<Throttle>,
    /// How it limits itself the more the warmer it is, instead. Absent: it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graded: Option<Graded>,
}

/// A limit on power that falls evenly from one temperature to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Graded {
    /// From here on there is a limit, in degrees Celsius.
    pub from_c: Figure<f64>,
    /// What it draws at most there, in W.
    pub from_w: Figure<f64>,
    /// From here on the limit falls no further, in degrees Celsius.
    pub to_c: Figure<f64>,
    /// What it draws at most there, in W.
    pub to_w: Figure<f64>,
}

/// A temperature from which the drive limits itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throttle {
    /// From here on, in degrees Celsius.
    pub above_c: Figure<f64>,
    /// Until it is as cool as this again, in degrees Celsius.
    pub until_c: Figure<f64>,
    /// What it draws at most then, in W.
    pub cap_w: Figure<f64>,
}

/// How unlike dies and blocks are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// Standard deviation of a block's times, in percent of them.
    pub block_sigma_pct: Figure<f64>,
    /// Standard deviation of a die's times, in percent of them.
    pub die_sigma_pct: Figure<f64>,
    /// Reads that need another attempt. Absent: none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
}

/// Reads that need another attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// How many of a million attempts fail on a new drive.
    pub per_million: Figure<u32>,
    /// How many more of a million fail for each thousand erases of the block. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_million_per_1000_erases: Option<Figure<u32>>,
    /// Most further attempts of one read.
    pub at_most: Figure<u32>,
    /// Time of the first further attempt, in percent of the read's own.
    pub first_pct: Figure<u32>,
    /// How much longer each one takes than the one before, in percent of the read's own.
    pub step_pct: Figure<u32>,
}

/// Where data is placed, and how much of the map is in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// Dies over which the pages of what is written alternate, a divisor of all dies. Absent: 1, a word line is filled before
    /// the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripe_dies: Option<Figure<u32>>,
    /// Of so many word lines, each on another die, one holds the parity of the others, so that a die can fail. Absent: there is no
    /// parity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity_dies: Option<Figure<u32>>,
    /// Where a write goes. Absent: `dynamic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Figure<Placement>>,
    /// What one entry of the map stands for, in KiB: a write of part of it programs all of it. 4, 8, 16, 32 or 64, a divisor of the
    /// page of all planes. Absent: 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit_kib: Option<Figure<u32>>,
    /// Memory for the map in MiB: 4 bytes for each mapping unit; the rest lies in flash. Absent: all of the map is in memory. Divided by the scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_mib: Option<Figure<f64>>,
    /// Of `cache_mib` what holds changed entries that are not in their page in flash yet, 8 bytes each. Absent: half of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes_mib: Option<Figure<f64>>,
}

/// Where a write goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// To whichever die is next; space is won back by superblocks over all dies.
    Dynamic,
    /// To the plane that its logical page belongs to, channel first, then way, die and plane; each plane wins space back for itself.
    StaticCwdp,
}

/// How erases are spread over the blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wear {
    /// Whether of the free superblocks the one with the fewest erases is written next.
    pub dynamic: Figure<bool>,
    /// Data that rests is moved when another superblock has been erased so many more times. Absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub static_after_erases: Option<Figure<u32>>,
}

/// What the drive does for itself when there are no commands: a cache is folded, and space won back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Idle {
    /// From so many milliseconds after the last command on.
    pub after_ms: Figure<f64>,
    /// Space that it tries to have ready to be written, in percent of the flash.
    pub free_pct: Figure<f64>,
}

/// The firmware stops to write its journal: what collection changed in the map must be safe before it erases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Housekeeping {
    /// Mean distance between two stops, in MiB moved for the host's writes. Distances are drawn evenly, up to twice the mean. Not scaled.
    pub every_mib: Figure<f64>,
    /// Mean length of a stop, in milliseconds. Lengths are drawn: longer by two thirds of the mean is half as frequent.
    pub pause_ms: Figure<f64>,
}
