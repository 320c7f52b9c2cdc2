//! The flash operations that the translation layer requests.

use std::collections::VecDeque;

/// The flash as the translation layer sees it. The timing model charges each call; tests of theory count or ignore it.
pub trait Flash {
    /// Programs a word line of the host's stream. It holds `units`, and `last` is its last physical unit.
    fn program_host(&mut self, last: u32, units: u32);
    /// Reads `units` units for a move, all from the array read that brings `first`. The next call may take more units
    /// of the same array read, which is charged once.
    fn read_for_move(&mut self, first: u32, units: u32);
    /// Programs a word line of units that collection has moved; `last` is its last physical unit.
    fn program_moved(&mut self, last: u32);
    /// Programs a word line of a stream that host and collection share. It holds `units`; `host_units` of them came
    /// from the host and still occupy its write buffer.
    fn program_shared(&mut self, last: u32, units: u32, host_units: u32) {
        let _ = units;
        self.program_host(last, host_units);
    }
    /// Marks a superblock for erasure. Each die erases its block right before the first word line that it programs there.
    fn erase(&mut self, block: u32);
    /// Erases a superblock on all dies at once.
    fn erase_at_once(&mut self, block: u32) {
        self.erase(block);
    }
    /// Switches a superblock to one bit per cell (`on`), or back to all bits.
    fn set_one_bit(&mut self, block: u32, on: bool) {
        let _ = (block, on);
    }
    /// Returns whether a power limit has delayed work recently.
    fn lacks_power(&self) -> bool {
        false
    }
    /// Returns the queue that takes the logical units which collection moves; `None` if nobody reads it.
    fn moved_units(&mut self) -> Option<&mut VecDeque<u32>> {
        None
    }
    /// Drops `units` units that waited in open word lines: they will never be programmed.
    fn discard(&mut self, units: u32) {
        let _ = units;
    }
}
