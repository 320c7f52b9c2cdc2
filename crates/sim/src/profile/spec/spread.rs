//! Blocks and dies that are unlike each other.

use serde::{Deserialize, Serialize};

/// How unlike the blocks are, and how often a read fails at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpreadSpec {
    /// Seed of this drive's individual.
    pub seed: u64,
    /// Standard deviation of the logarithm of a block's factor on its times, in thousandths (about 50 to 100 in flash).
    pub block_sigma_milli: u32,
    /// The same of a die's factor, which all its blocks share.
    pub die_sigma_milli: u32,
    /// Reads that need another attempt, in a million attempts, on a new drive.
    pub retry_ppm: u32,
    /// How many more in a million for each thousand erases of the block's superblock.
    pub retry_ppm_per_kilo_erase: u32,
    /// Most further attempts of one read.
    pub retries_at_most: u32,
    /// Time of the first further attempt, in per cent of the read's own.
    pub retry_pct: u32,
    /// How much longer each one takes than the one before, in per cent of the read's own.
    pub retry_step_pct: u32,
}

/// When the firmware stops, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HousekeepingSpec {
    /// Seed of this drive's individual.
    pub seed: u64,
    /// Units that are moved for the host's writes between two stops, in the mean.
    pub every_units: u32,
    /// Mean length of a stop.
    pub pause_ns: u64,
}
