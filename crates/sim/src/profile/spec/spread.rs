//! Variation among blocks and dies, and stops of the firmware.

use serde::{Deserialize, Serialize};

/// Variation among blocks and dies, and read retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpreadSpec {
    /// Seed of this individual drive.
    pub seed: u64,
    /// Standard deviation of the logarithm of a block's time factor, in thousandths (about 50 to 100 in flash).
    pub block_sigma_milli: u32,
    /// Standard deviation of the logarithm of a die's time factor, which all its blocks share, in thousandths.
    pub die_sigma_milli: u32,
    /// Read attempts that fail on a new drive, in a million.
    pub retry_ppm: u32,
    /// Additional failures in a million attempts for each thousand erases of the superblock.
    pub retry_ppm_per_kilo_erase: u32,
    /// Most retries of one read.
    pub retries_at_most: u32,
    /// Time of the first retry, in percent of the array read time.
    pub retry_pct: u32,
    /// How much longer each further retry takes, in percent of the array read time.
    pub retry_step_pct: u32,
}

/// When the firmware stops, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HousekeepingSpec {
    /// Seed of this individual drive.
    pub seed: u64,
    /// Mean number of units moved for host writes between two stops.
    pub every_units: u32,
    /// Mean length of a stop, in ns.
    pub pause_ns: u64,
}
