//! Where the pages of a map lie that is not all in memory: a stream of its own, laid out as those of data are.

use serde::{Deserialize, Serialize};

use crate::flash::addressing::Place;
use crate::flash::machine::Machine;
use crate::profile::spec::Geometry;

/// What was written of the map, array read after array read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct MapStream {
    read_units: u32,
    bits: u32,
    dies: u32,
    /// Dies over which array reads alternate, and whose word lines fill together.
    stripe: u32,
    /// Pages written so far.
    written: u64,
    /// Of the pages that are read together, the die on which they were written last.
    #[serde(with = "crate::flash::packed")]
    die_of: Vec<u32>,
}

impl MapStream {
    /// Nothing is written yet.
    pub(crate) fn new(geometry: &Geometry, stripe: u32) -> Self {
        Self {
            read_units: geometry.units_per_read(),
            bits: geometry.bits_per_cell,
            dies: geometry.dies(),
            stripe,
            written: 0,
            die_of: Vec::new(),
        }
    }

    /// Nothing is written any more.
    fn forget(&mut self) {
        self.written = 0;
        self.die_of.clear();
    }

    /// The die of an array read of the stream.
    fn die(&self, read: u64) -> u32 {
        let [stripe, bits, dies] = [self.stripe, self.bits, self.dies].map(u64::from);
        ((read / (stripe * bits) * stripe + read % stripe) % dies) as u32
    }

    /// The die of pages that are read together; what was placed and never written lies in order.
    fn die_of(&self, together: u32) -> u32 {
        let written = self.die_of.get(together as usize);
        written
            .copied()
            .unwrap_or_else(|| self.die(together.into()))
    }

    /// Appends so many of the pages that are read together. Returns the dies whose word lines are full by that.
    fn append(&mut self, together: u32, pages: u32) -> Vec<u32> {
        let read_units = u64::from(self.read_units);
        let first = self.written / read_units;
        self.written += u64::from(pages);
        for n in self.die_of.len() as u32..=together {
            self.die_of.push(self.die(n.into()));
        }
        self.die_of[together as usize] = self.die(first);
        let last_of_line = u64::from(self.bits) - 1;
        (first..self.written / read_units)
            .filter(|read| read / u64::from(self.stripe) % u64::from(self.bits) == last_of_line)
            .map(|read| self.die(read))
            .collect()
    }
}

impl Machine {
    /// Reads so many of the pages of the map that are read together, wanted at `ready`. Returns when they are there.
    pub fn read_map(&mut self, together: u32, pages: u32, ready: u64) -> u64 {
        let place = Place {
            die: self.map_stream.die_of(together),
            page_type: 0,
            array_read: 0,
        };
        self.read(place, pages, ready)
    }

    /// Writes so many of the pages of the map that are read together, behind those written before.
    pub fn write_map(&mut self, together: u32, pages: u32, at: u64) {
        let units = self.geometry.units_per_program();
        let full = self.map_stream.append(together, pages);
        let before = std::mem::replace(&mut self.at, at);
        for die in full {
            self.counts.programs += 1;
            self.load_and_program(die, 0, units, self.timing.program_ns);
        }
        self.at = before;
    }

    /// The drive was erased: what was written of the map is gone, and what waits for its word line to fill.
    pub(crate) fn forget_map(&mut self) {
        self.map_stream.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_alternate_over_the_dies_of_a_stripe_whose_word_lines_fill_together() {
        let geometry = Geometry {
            channels: 2,
            dies_per_channel: 2,
            planes: 2,
            page_bytes: 16384,
            pages_per_block: 6,
            bits_per_cell: 3,
            superblocks: 4,
        };
        let mut stream = MapStream::new(&geometry, 2);
        let mut full = |together, pages| stream.append(together, pages);
        assert_eq!(full(2, 8 * 4), [0u32; 0]);
        assert_eq!(full(3, 8), [0]);
        assert_eq!(full(1, 7), [0u32; 0]);
        assert_eq!(full(0, 2), [1]);
        assert_eq!(full(6, 5 * 8 + 7), [2, 3]);
        let dies = [0, 1, 2, 3, 4, 6, 7, 12].map(|together| stream.die_of(together));
        // Numbers 4, 5 and beyond were not written: they lie in order, the first six on the dies of the first stripe.
        assert_eq!(dies, [1, 1, 0, 0, 0, 2, 3, 0]);
        assert_eq!(stream.append(0, 8), [0u32; 0]);
        stream.forget();
        assert_eq!(stream.die_of(2), 0);
        assert_eq!(stream.append(2, 4 * 8 + 7), [0u32; 0]);
        assert_eq!(stream.append(2, 1), [0]);
    }
}
