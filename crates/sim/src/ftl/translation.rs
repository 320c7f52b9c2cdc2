//! The interface between a drive and its translation layer: superblocks, separate planes, or in-place writes.

use crate::flash::Flash;
use crate::ftl::layer::FtlCounts;

/// Knows where logical units lie, and gives the medium the work that their writes need.
pub trait Translation: Clone {
    /// Writes one unit for the host.
    fn write<F: Flash>(&mut self, logical: u32, flash: &mut F);

    /// Writes a mapping unit for the host: `first` and the units after it. By default, a mapping unit is one 4 KiB unit.
    fn write_together<F: Flash>(&mut self, first: u32, flash: &mut F) {
        self.write(first, flash);
    }

    /// Returns the physical unit of a logical unit, or [`NONE`](crate::flash::NONE).
    fn physical(&self, logical: u32) -> u32;

    /// Number of logical units that hold data.
    fn mapped(&self) -> u64;

    /// Forgets one unit. Returns whether it held data. A superblock without valid units is free at once.
    fn trim<F: Flash>(&mut self, logical: u32, flash: &mut F) -> bool;

    /// Programs the host's open word lines, so that all written data is in flash.
    fn end_word_line<F: Flash>(&mut self, flash: &mut F);

    /// Prefetches the table entry that a read or write of `logical` needs first. Changes nothing.
    fn expect_logical(&self, logical: u32);

    /// Prefetches what a write of `logical` changes. Changes nothing. Call it when the entry that
    /// [`expect_logical`](Self::expect_logical) prefetches has had time to arrive.
    fn expect_overwrite(&self, logical: u32);

    /// Does part of the background work, if there is any. Returns whether there was.
    fn work_when_idle<F: Flash>(&mut self, flash: &mut F) -> bool;

    /// Forgets all data and erases the medium; erase counts continue.
    fn purge<F: Flash>(&mut self, flash: &mut F);

    /// Places the steady state of random writes into an erased drive. Returns whether the layer can do this.
    fn place_steady(&mut self, seed: u64) -> bool {
        let _ = seed;
        false
    }

    /// Work since the last reset.
    fn counts(&self) -> FtlCounts;

    /// Resets all counts to zero, as between two test steps.
    fn reset_counts(&mut self);

    /// Share of the usable medium that holds no user data now (the *effective* spare). Free superblocks and the unwritten
    /// part of open ones do not count as usable. Theory is compared at this spare.
    fn effective_spare(&self) -> f64;

    /// Whether all superblocks hold data, except those that collection keeps free. Before that, the effective spare grows
    /// with each write.
    fn is_in_use(&self) -> bool;

    /// Lowest and highest erase count of any block since the drive was made.
    fn wear(&self) -> (u32, u32);
}
