//! One stream for what the host writes and what collection moves: whose units an open word line holds.

use serde::{Deserialize, Serialize};

use crate::ftl::open_block::Lines;

/// The host's units in each open word line of the stripe that is being written. Those alone are in the write buffer.
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

    /// The place of a word line in its stripe. Superblocks are whole numbers of stripes.
    fn line(&self, place: u32) -> usize {
        let Lines { page, line, dies } = self.lines;
        (place % (line * dies) / page % dies) as usize
    }

    /// The host has written the unit at this place.
    pub(crate) fn takes(&mut self, place: u32) {
        let line = self.line(place);
        self.of_host[line] += 1;
    }

    /// The word line that ends with this place is programmed. Returns how many of its units are the host's.
    pub(crate) fn ends(&mut self, place: u32) -> u32 {
        let line = self.line(place);
        std::mem::take(&mut self.of_host[line])
    }

    /// Forgets what the open word lines hold. Returns how many of it were the host's.
    pub(crate) fn forget(&mut self) -> u32 {
        let units = self.of_host.iter().sum();
        self.of_host.fill(0);
        units
    }
}
