//! One stream for host writes and for collection: counts whose units each open word line holds.

use serde::{Deserialize, Serialize};

use crate::ftl::open_block::Lines;

/// Host units in each open word line of the current stripe. Only these are in the write buffer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Merged {
    lines: Lines,
    of_host: Vec<u32>,
}

impl Merged {
    pub(crate) fn new(lines: Lines) -> Self {
        Self {
            lines,
            of_host: vec![0; lines.dies as usize],
        }
    }

    /// Returns the index of a position's word line within its stripe. Superblocks are whole numbers of stripes.
    fn line(&self, place: u32) -> usize {
        let Lines { page, line, dies } = self.lines;
        (place % (line * dies) / page % dies) as usize
    }

    /// Records that the host has written the unit at this position.
    pub(crate) fn takes(&mut self, place: u32) {
        let line = self.line(place);
        self.of_host[line] += 1;
    }

    /// Returns how many units of the word line that ends at this position are the host's, and resets the count for the next
    /// one.
    pub(crate) fn ends(&mut self, place: u32) -> u32 {
        let line = self.line(place);
        std::mem::take(&mut self.of_host[line])
    }

    /// Forgets what the open word lines hold. Returns how many of these units were the host's.
    pub(crate) fn forget(&mut self) -> u32 {
        let units = self.of_host.iter().sum();
        self.of_host.fill(0);
        units
    }
}
