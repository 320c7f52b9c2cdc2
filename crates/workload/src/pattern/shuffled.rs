//! Every block once in a random order, then all of them again: fio's random map, without the map.

use crate::blocks::Grid;
use crate::pattern::scatter::Scatter;
use crate::random::mix;

/// One source's passes. Each source has its own order over the whole span.
#[derive(Debug, Clone)]
pub(crate) struct Shuffled {
    grid: Grid,
    key: u64,
    /// Whether each pass has a new order.
    anew: bool,
    scatter: Scatter,
    pass: u64,
    visited: u64,
}

impl Shuffled {
    pub(crate) fn new(grid: Grid, key: u64, anew: bool) -> Self {
        Self {
            grid,
            key,
            anew,
            scatter: Scatter::new(grid.slots, key),
            pass: 0,
            visited: 0,
        }
    }

    /// Returns offset and length of the next block.
    pub(crate) fn next(&mut self) -> (u64, u32) {
        if self.visited == self.grid.slots {
            self.visited = 0;
            self.pass += 1;
            if self.anew {
                self.scatter = Scatter::new(self.grid.slots, mix(self.key, self.pass));
            }
        }
        let slot = self.scatter.place(self.visited);
        self.visited += 1;
        (self.grid.offset(slot), self.grid.bytes)
    }
}
