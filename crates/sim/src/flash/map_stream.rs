//! The write stream of map pages, for a map that is not all in memory. Its layout is that of data streams.

use serde::{Deserialize, Serialize};

use crate::flash::addressing::Place;
use crate::profile::spec::Geometry;

/// The map pages written so far, in order of array reads.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct MapStream {
    read_units: u32,
    bits: u32,
    dies: u32,
    /// Dies over which array reads alternate; their word lines fill together.
    stripe: u32,
    /// Map pages written so far.
    written: u64,
    /// For each group of pages that one array read brings, the array read that holds its latest copy. Numbers start
    /// again after one word line on each die.
    #[serde(with = "crate::flash::packed")]
    read_of: Vec<u32>,
}

impl MapStream {
    pub(crate) fn new(geometry: &Geometry, stripe: u32) -> Self {
        Self {
            read_units: geometry.units_per_read(),
            bits: geometry.bits_per_cell,
            dies: geometry.dies(),
            stripe,
            written: 0,
            read_of: Vec::new(),
        }
    }

    pub(crate) fn forget(&mut self) {
        self.written = 0;
        self.read_of.clear();
    }

    /// Returns the place of an array read of the stream. The block does not matter to the map.
    fn place(&self, read: u32) -> Place {
        let word_line = read / (self.stripe * self.bits) * self.stripe + read % self.stripe;
        Place {
            die: word_line % self.dies,
            page_type: read / self.stripe % self.bits,
            array_read: 0,
        }
    }

    /// Returns the place of a group of pages. Groups that were placed but never written lie in order.
    pub(crate) fn place_of(&self, group: u32) -> Place {
        let written = self.read_of.get(group as usize);
        self.place(written.copied().unwrap_or(group))
    }

    /// Appends `pages` pages of a group. Returns the die of each word line that is full then, and whether a block of
    /// `block_lines` word lines is erased for it.
    pub(crate) fn append(&mut self, group: u32, pages: u32, block_lines: u64) -> Vec<(u32, bool)> {
        let read_units = u64::from(self.read_units);
        let first = self.written / read_units;
        self.written += u64::from(pages);
        let reads = first..self.written / read_units;
        // Places repeat after one word line on each die.
        let all = u64::from(self.bits * self.dies);
        let known = self.read_of.len() as u32;
        self.read_of.extend(known..=group);
        self.read_of[group as usize] = (first % all) as u32;
        reads
            .map(|read| (self.place((read % all) as u32), read / all))
            .filter(|(place, _)| place.page_type + 1 == self.bits)
            .map(|(place, line)| (place.die, line > 0 && line.is_multiple_of(block_lines)))
            .collect()
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
        let mut full = |group, pages| stream.append(group, pages, 2);
        assert_eq!(full(2, 8 * 4), []);
        assert_eq!(full(3, 8), [(0, false)]);
        assert_eq!(full(1, 7), []);
        assert_eq!(full(0, 2), [(1, false)]);
        assert_eq!(full(6, 5 * 8 + 7), [(2, false), (3, false)]);
        let lies = [0, 1, 2, 3, 4, 6, 7, 12].map(|group| {
            let place = stream.place_of(group);
            (place.die, place.page_type)
        });
        // Groups 4, 5 and from 7 on were not written: they lie in order, the first six on the dies of the first stripe.
        let expected = [
            (1, 2),
            (1, 2),
            (0, 0),
            (0, 2),
            (0, 2),
            (2, 0),
            (3, 0),
            (0, 0),
        ];
        assert_eq!(lies, expected);
        assert_eq!(stream.append(0, 8, 2), []);
        // The second word lines of all dies become full, then the third ones, which need new blocks.
        let dies = |erased| [0, 1, 2, 3].map(|die| (die, erased));
        assert_eq!(stream.append(0, 8 * 11, 2), dies(false));
        assert_eq!(stream.append(0, 8 * 12, 2), dies(true));
        stream.forget();
        assert_eq!(stream.place_of(2).page_type, 1);
        assert_eq!(stream.append(2, 4 * 8 + 7, 2), []);
        assert_eq!(stream.append(2, 1, 2), [(0, false)]);
    }
}
