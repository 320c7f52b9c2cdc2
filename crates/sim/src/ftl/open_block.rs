//! Where a stream writes next: page by page over a stripe of word lines, each programmed when its last page is full.

use serde::{Deserialize, Serialize};

use crate::flash::{Flash, NONE};

/// How a stream fills its word lines: page by page over a stripe of them, one on each of so many dies.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Lines {
    /// Units of a page of all planes, and of a word line.
    pub(crate) page: u32,
    pub(crate) line: u32,
    pub(crate) dies: u32,
}

impl Lines {
    /// Units that are written when the first word line of a stripe is full: all of its pages, and of the others all but the last.
    fn until_first(self) -> u32 {
        self.line * self.dies - self.page * (self.dies - 1)
    }
}

/// Where a stream writes next.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct OpenBlock {
    pub(crate) block: u32,
    pub(crate) next: u32,
    pub(crate) end: u32,
    /// Where the next word line is full, and where the stripe ends that it is of.
    line_end: u32,
    stripe_end: u32,
    lines: Lines,
}

impl OpenBlock {
    pub(crate) const CLOSED: Self = Self {
        block: NONE,
        next: 0,
        end: 0,
        line_end: 0,
        stripe_end: 0,
        lines: Lines {
            page: 0,
            line: 0,
            dies: 1,
        },
    };

    /// A superblock from its first unit on, a whole number of stripes.
    pub(crate) fn new(block: u32, start: u32, units: u32, lines: Lines) -> Self {
        Self {
            block,
            next: start,
            end: start + units,
            line_end: start + lines.until_first(),
            stripe_end: start + lines.line * lines.dies,
            lines,
        }
    }

    #[inline]
    pub(crate) fn is_full(self) -> bool {
        self.next == self.end
    }

    /// Units that have been written and whose word lines are not full.
    pub(crate) fn waiting(self) -> u32 {
        let Lines { page, line, dies } = self.lines;
        let begun = self.next + line * dies - self.stripe_end;
        if begun == 0 {
            return 0;
        }
        let full = dies - 1 - (self.stripe_end - self.line_end) / page;
        begun - full * line
    }

    /// Units until the next word line is full.
    #[inline]
    pub(crate) fn room_in_line(self) -> u32 {
        self.line_end - self.next
    }

    #[inline]
    fn begin_line(&mut self) {
        if self.line_end == self.stripe_end {
            self.stripe_end += self.lines.line * self.lines.dies;
            self.line_end += self.lines.until_first();
        } else {
            self.line_end += self.lines.page;
        }
    }

    /// Takes so many places, no more than there is room for in the word line. Returns the last of them if it ends the word line.
    #[inline]
    pub(crate) fn take_some(&mut self, units: u32) -> Option<u32> {
        self.next += units;
        if self.next < self.line_end {
            return None;
        }
        self.begin_line();
        Some(self.next - 1)
    }

    /// Takes the next place. Returns it, and the number of units of the word line if it was the last of one.
    #[inline]
    pub(crate) fn take(&mut self) -> (u32, Option<u32>) {
        let place = self.next;
        self.next += 1;
        if self.next < self.line_end {
            return (place, None);
        }
        self.begin_line();
        (place, Some(self.lines.line))
    }

    /// Programs the open word lines of the stripe as they are, those that hold anything. Returns the units left empty.
    pub(crate) fn pad(&mut self, flash: &mut impl Flash) -> u64 {
        self.pad_lines(|last, units| flash.program_host(last, units))
    }

    /// The same, each word line by its last place and the units it holds.
    pub(crate) fn pad_lines(&mut self, mut program: impl FnMut(u32, u32)) -> u64 {
        let mut held = self.waiting();
        if held == 0 {
            return 0;
        }
        let Lines { page, line, dies } = self.lines;
        let begun = self.next + line * dies - self.stripe_end;
        let empty = self.stripe_end - self.next;
        // Pages that are full in the stripe, and what the page behind them holds: the rest of a word line's units.
        let (pages, part) = (begun / page, begun % page);
        while held > 0 {
            let die = dies - 1 - (self.stripe_end - self.line_end) / page;
            let full = pages / dies + u32::from(pages % dies > die);
            let begins = u32::from(pages % dies == die) * part;
            let units = full * page + begins;
            if units > 0 {
                program(self.line_end - 1, units);
            }
            held -= units;
            self.line_end += page;
        }
        self.next = self.stripe_end;
        self.line_end = self.stripe_end;
        self.begin_line();
        u64::from(empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Word lines as they were programmed: the last place, and the units held.
    #[derive(Default)]
    struct Programmed(Vec<(u32, u32)>);

    impl Flash for Programmed {
        fn program_host(&mut self, last: u32, units: u32) {
            self.0.push((last, units));
        }
        fn read_for_move(&mut self, _: u32, _: u32) {}
        fn program_moved(&mut self, _: u32) {}
        fn erase(&mut self, _: u32) {}
    }

    proptest! {
        #[test]
        fn each_unit_is_programmed_once_with_its_word_line(
            page in 1_u32..5, bits in 1_u32..5, dies in 1_u32..7, ends in proptest::collection::vec(1_u32..200, 1..20),
        ) {
            let lines = Lines { page, line: page * bits, dies };
            let stripe = lines.line * dies;
            let mut open = OpenBlock::new(0, 0, stripe * 1000, lines);
            let mut flash = Programmed::default();
            let (mut written, mut padded) = (vec![], 0);
            for units in ends {
                for _ in 0..units {
                    let (place, full) = open.take();
                    written.push(place);
                    if let Some(units) = full {
                        flash.program_host(place, units);
                    }
                }
                let programmed: u32 = flash.0.iter().map(|line| line.1).sum();
                prop_assert_eq!(open.waiting(), written.len() as u32 - programmed);
                padded += open.pad(&mut flash);
                prop_assert_eq!(open.waiting(), 0);
                // With one bit a cell a stripe may be half written and nothing wait.
                prop_assert!(bits == 1 || open.next.is_multiple_of(stripe));
            }
            prop_assert_eq!(u64::from(open.next), written.len() as u64 + padded);
            // The word line of a place: its stripe, and the die of its page.
            let of = |place: u32| (place / stripe, place % stripe / page % dies);
            let mut held = std::collections::BTreeMap::new();
            for place in written {
                *held.entry(of(place)).or_insert(0) += 1;
            }
            let programmed: Vec<_> = flash.0.iter().map(|&(last, units)| (of(last), units)).collect();
            prop_assert_eq!(programmed.len(), held.len());
            prop_assert!(programmed.iter().all(|(line, units)| held[line] == *units));
        }
    }
}
