//! The write position of a stream. It advances page by page over a stripe of word lines; each is programmed when its last
//! page is full.

use serde::{Deserialize, Serialize};

use crate::flash::{Flash, NONE};

/// How a stream fills its word lines: page by page over a stripe, which has one word line on each of several dies.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Lines {
    /// Units of a page across all planes.
    pub(crate) page: u32,
    /// Units of a word line across all planes.
    pub(crate) line: u32,
    /// Dies of a stripe.
    pub(crate) dies: u32,
}

impl Lines {
    /// Units written when the first word line of a stripe is full: all of its pages, and all but the last page of the others.
    fn until_first(self) -> u32 {
        self.line * self.dies - self.page * (self.dies - 1)
    }
}

/// The superblock that a stream writes, and the next position in it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct OpenBlock {
    pub(crate) block: u32,
    pub(crate) next: u32,
    pub(crate) end: u32,
    /// Position at which the next word line is full or, after a flush, the current row of pages ends.
    stop: u32,
    /// Position at which the current stripe ends.
    stripe_end: u32,
    /// Word lines of the stripe that a flush has programmed. Writing continues on the other dies of the stripe.
    ended: u32,
    lines: Lines,
}

/// Contents of the stripe's word lines that a flush has not programmed. A row is one page on each die.
struct Held {
    /// Full rows of pages.
    rows: u32,
    /// Full pages in the row after those.
    pages: u32,
    /// Units in the page after those.
    part: u32,
    /// Units in word lines that are not full.
    waiting: u32,
}

impl OpenBlock {
    pub(crate) const CLOSED: Self = Self {
        block: NONE,
        next: 0,
        end: 0,
        stop: 0,
        stripe_end: 0,
        ended: 0,
        lines: Lines {
            page: 0,
            line: 0,
            dies: 1,
        },
    };

    /// Opens a superblock at its first unit; `units` must be a whole number of stripes.
    pub(crate) fn new(block: u32, start: u32, units: u32, lines: Lines) -> Self {
        Self {
            block,
            next: start,
            end: start + units,
            stop: start + lines.until_first(),
            stripe_end: start + lines.line * lines.dies,
            ended: 0,
            lines,
        }
    }

    #[inline]
    pub(crate) fn is_full(self) -> bool {
        self.next == self.end
    }

    fn stripe_start(self) -> u32 {
        self.stripe_end - self.lines.line * self.lines.dies
    }

    fn held(self) -> Held {
        let Lines { page, line, dies } = self.lines;
        let (row, open) = (page * dies, dies - self.ended);
        let written = self.next - self.stripe_start();
        let (rows, in_row) = (written / row, written % row - self.ended * page);
        let (pages, part) = (in_row / page, in_row % page);
        // In the last row, each full page completes a word line.
        let full = if (rows + 1) * page == line { pages } else { 0 };
        Held {
            rows,
            pages,
            part,
            waiting: rows * page * open + in_row - full * line,
        }
    }

    /// Units that have been written to word lines that are not full yet.
    pub(crate) fn waiting(self) -> u32 {
        if self.next + self.lines.line * self.lines.dies
            == self.stripe_end + self.ended * self.lines.page
        {
            return 0;
        }
        self.held().waiting
    }

    /// Units that can be written before the next word line is full, or before the current row of pages ends.
    #[inline]
    pub(crate) fn room_in_line(self) -> u32 {
        self.stop - self.next
    }

    /// Continues after `stop`. Returns whether a word line became full there.
    #[inline]
    fn goes_on(&mut self) -> bool {
        if self.ended > 0 {
            return self.goes_on_in_rest();
        }
        if self.next == self.stripe_end {
            self.begin_stripe();
        } else {
            self.stop += self.lines.page;
        }
        true
    }

    /// As [`goes_on`](Self::goes_on) in a stripe with word lines that a flush has programmed: each row of pages skips these.
    #[cold]
    fn goes_on_in_rest(&mut self) -> bool {
        let Lines { page, dies, .. } = self.lines;
        let last_row = self.stripe_end - page * dies;
        if self.next <= last_row {
            self.begin_row();
            return false;
        }
        if self.next == self.stripe_end {
            self.begin_stripe();
        } else {
            self.stop += page;
        }
        true
    }

    /// Begins a row of pages at `next`, skipping the word lines that a flush has programmed.
    fn begin_row(&mut self) {
        let Lines { page, dies, .. } = self.lines;
        let row_end = self.next + page * dies;
        self.next += self.ended * page;
        self.stop = if row_end == self.stripe_end {
            self.next + page
        } else {
            row_end
        };
    }

    fn begin_stripe(&mut self) {
        self.ended = 0;
        self.next = self.stripe_end;
        self.stop = self.next + self.lines.until_first();
        self.stripe_end += self.lines.line * self.lines.dies;
    }

    /// Takes `units` positions, at most [`room_in_line`](Self::room_in_line). Returns the last one if it completes a word
    /// line.
    #[inline]
    pub(crate) fn take_some(&mut self, units: u32) -> Option<u32> {
        self.next += units;
        if self.next < self.stop {
            return None;
        }
        let last = self.next - 1;
        self.goes_on().then_some(last)
    }

    /// Takes the next position. Returns it, and the units of its word line if it completes that.
    #[inline]
    pub(crate) fn take(&mut self) -> (u32, Option<u32>) {
        let place = self.next;
        self.next += 1;
        if self.next < self.stop {
            return (place, None);
        }
        (place, self.goes_on().then_some(self.lines.line))
    }

    /// Programs the stripe's open word lines that hold anything, full or not. Returns the units left empty in them.
    pub(crate) fn pad(&mut self, flash: &mut impl Flash) -> u64 {
        self.pad_lines(|last, units| flash.program_host(last, units))
    }

    /// As [`pad`](Self::pad), but calls `program` with each word line's last position and the units it holds. The stripe
    /// continues in the word lines that hold nothing.
    pub(crate) fn pad_lines(&mut self, mut program: impl FnMut(u32, u32)) -> u64 {
        if self.waiting() == 0 {
            return 0;
        }
        let Lines { page, line, dies } = self.lines;
        let held = self.held();
        let (first, last_row) = (self.ended, self.stripe_end - page * dies);
        let mut empty = 0;
        while self.ended < dies {
            let die = self.ended - first;
            let units = held.rows * page
                + if die < held.pages { page } else { 0 }
                + if die == held.pages { held.part } else { 0 };
            if units == 0 {
                break;
            }
            self.ended += 1;
            if units < line {
                program(last_row + self.ended * page - 1, units);
                empty += line - units;
            }
        }
        if self.ended == dies {
            self.begin_stripe();
        } else {
            self.next = self.stripe_start();
            self.begin_row();
        }
        u64::from(empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Programmed word lines: last position, and units held.
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
            // Identifies the word line of a position by its stripe and its die within the stripe.
            let of = |place: u32| (place / stripe, place % stripe / page % dies);
            for units in ends {
                for _ in 0..units {
                    let (place, full) = open.take();
                    let ended = flash.0.iter().any(|&(last, _)| of(last) == of(place));
                    prop_assert!(!ended, "nothing is written to a word line that was programmed");
                    written.push(place);
                    if let Some(units) = full {
                        flash.program_host(place, units);
                    }
                }
                let programmed: u32 = flash.0.iter().map(|line| line.1).sum();
                prop_assert_eq!(open.waiting(), written.len() as u32 - programmed);
                padded += open.pad(&mut flash);
                prop_assert_eq!(open.waiting(), 0);
                // A flush skips word lines that hold nothing: a stripe ends only when all of its word lines have been
                // programmed.
                let lines_ended = flash.0.len() as u32;
                prop_assert_eq!(open.next / stripe, lines_ended / dies);
            }
            prop_assert!(written.is_sorted_by(|before, after| before < after));
            prop_assert_eq!(flash.0.len() as u64 * u64::from(lines.line), written.len() as u64 + padded);
            let mut held = std::collections::BTreeMap::new();
            for place in written {
                *held.entry(of(place)).or_insert(0) += 1;
            }
            let programmed: Vec<_> = flash.0.iter().map(|&(last, units)| (of(last), units)).collect();
            prop_assert_eq!(programmed.len(), held.len());
            prop_assert!(programmed.iter().all(|(line, units)| held[line] == *units));
        }

        #[test]
        fn some_places_at_once_are_those_taken_one_by_one(
            page in 1_u32..5, bits in 1_u32..5, dies in 1_u32..7, ends in proptest::collection::vec(1_u32..60, 1..20),
        ) {
            let lines = Lines { page, line: page * bits, dies };
            let mut one = OpenBlock::new(0, 0, lines.line * dies * 1000, lines);
            let mut some = one;
            let mut flash = Programmed::default();
            for units in ends {
                let mut left = units;
                while left > 0 {
                    let at_once = left.min(some.room_in_line());
                    let first = some.next;
                    let full = some.take_some(at_once);
                    for n in 0..at_once {
                        let (place, line) = one.take();
                        prop_assert_eq!(place, first + n);
                        prop_assert_eq!(line.map(|_| place), full.filter(|&last| last == place));
                    }
                    left -= at_once;
                }
                one.pad(&mut flash);
                some.pad(&mut flash);
                prop_assert_eq!(one.next, some.next);
            }
        }
    }
}
