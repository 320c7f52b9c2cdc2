//! What the translation layer asks of the flash.

use std::collections::VecDeque;

/// The flash as the translation layer sees it. The timing model charges each call; tests of theory count them, or nothing.
pub trait Flash {
    /// A word line of the host's stream is programmed: it holds `units`, and `last` is its last place.
    fn program_host(&mut self, last: u32, units: u32);
    /// The array read that brings `first` is done to move so many units of it. The next call may be for more of the same read.
    fn read_for_move(&mut self, first: u32, units: u32);
    /// Programs a word line with units that collection has moved; `last` is the place of its last unit.
    fn program_moved(&mut self, last: u32);
    /// Programs a word line of a stream that host and collection share: it holds `units`, of which so many are the host's and wait in
    /// its buffer.
    fn program_shared(&mut self, last: u32, units: u32, host_units: u32) {
        let _ = units;
        self.program_host(last, host_units);
    }
    /// A superblock holds nothing any more: each die erases its part before the first word line that it programs there.
    fn erase(&mut self, block: u32);
    /// A superblock is erased now, on all dies.
    fn erase_at_once(&mut self, block: u32) {
        self.erase(block);
    }
    /// From now on a superblock is used with one bit a cell, or with all of them again.
    fn set_one_bit(&mut self, block: u32, on: bool) {
        let _ = (block, on);
    }
    /// Whether a limit on power has held up work lately.
    fn lacks_power(&self) -> bool {
        false
    }
    /// Where the units that are moved are to be told, if anybody asks for them.
    fn moved_units(&mut self) -> Option<&mut VecDeque<u32>> {
        None
    }
    /// Units that wait in an open word line will never be programmed.
    fn discard(&mut self, units: u32) {
        let _ = units;
    }
}
