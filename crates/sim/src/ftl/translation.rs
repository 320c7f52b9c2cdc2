//! The seam between a drive and how it finds its data: page mapping with collection, planes each for themselves, or in place.

use crate::flash::Flash;
use crate::ftl::layer::FtlCounts;

/// Where logical units lie, and what a write of one costs the medium.
pub trait Translation: Clone {
    /// Writes one unit for the host.
    fn write<F: Flash>(&mut self, logical: u32, flash: &mut F);

    /// Writes a mapping unit for the host: `first` and its neighbours, where it is of more than one unit.
    fn write_together<F: Flash>(&mut self, first: u32, flash: &mut F) {
        self.write(first, flash);
    }

    /// Where a logical unit lies, or [`NONE`](crate::flash::NONE).
    fn physical(&self, logical: u32) -> u32;

    /// Logical units that hold data.
    fn mapped(&self) -> u64;

    /// Forgets one unit; a superblock that holds nothing more is free at once. Returns whether it held data.
    fn trim<F: Flash>(&mut self, logical: u32, flash: &mut F) -> bool;

    /// Ends the host's open word line, so that all that was written lies in flash.
    fn end_word_line<F: Flash>(&mut self, flash: &mut F);

    /// Asks for the table entry that a read or write of `logical` needs first. Changes nothing.
    fn expect_logical(&self, logical: u32);

    /// Asks for what a write of `logical` changes, when its first entry has had time to come. Changes nothing.
    fn expect_overwrite(&self, logical: u32);

    /// Does some of what can be done without the host, if there is any. Returns whether there was.
    fn work_when_idle<F: Flash>(&mut self, flash: &mut F) -> bool;

    /// Forgets everything and erases the medium; counts of erases remain.
    fn purge<F: Flash>(&mut self, flash: &mut F);

    /// Places the steady state of random writes into an erased drive. Returns whether that can be done of it.
    fn place_steady(&mut self, seed: u64) -> bool {
        let _ = seed;
        false
    }

    /// Work since the last reset.
    fn counts(&self) -> FtlCounts;

    /// Starts counting anew, as at a step's boundary.
    fn reset_counts(&mut self);

    /// Share of the usable medium that holds no user data at this moment (the *effective* spare): free superblocks and the
    /// unwritten rest of the open ones are not usable. Theory is compared at this spare.
    fn effective_spare(&self) -> f64;

    /// Whether all superblocks hold something, but those that collection keeps free: before, the effective spare grows by each write.
    fn is_in_use(&self) -> bool;

    /// Fewest and most erases of any block since the drive was made.
    fn wear(&self) -> (u32, u32);
}
