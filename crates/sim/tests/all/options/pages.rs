//! Collection moves what an array read brings, whatever its size: the map stays consistent, and flash requests match the
//! counts.

use std::collections::HashSet;

use proptest::prelude::*;
use sim::flash::{Flash, NONE};
use sim::ftl::{Ftl, Greedy};
use workload::random::mix;

use crate::drives::loops::below;

const SUPERBLOCKS: u32 = 16;

/// A medium that counts and checks its requests.
struct Counted {
    page_units: u32,
    line_units: u32,
    read_units: u64,
    host_units: u64,
    moved_lines: u64,
    erases: u64,
}

impl Flash for Counted {
    fn program_host(&mut self, last: u32, units: u32) {
        assert!((last + 1).is_multiple_of(self.line_units) && units <= self.line_units);
        self.host_units += u64::from(units);
    }
    fn read_for_move(&mut self, first: u32, units: u32) {
        assert!(units > 0 && first % self.page_units + units <= self.page_units);
        self.read_units += u64::from(units);
    }
    fn program_moved(&mut self, last: u32) {
        assert!((last + 1).is_multiple_of(self.line_units));
        self.moved_lines += 1;
    }
    fn erase(&mut self, _: u32) {
        self.erases += 1;
    }
}

/// Checks that every valid unit has a place of its own, and that each superblock's count is right.
fn assert_whole(ftl: &Ftl<Greedy>, held: &[bool]) {
    let map = ftl.map();
    let mut places = HashSet::new();
    let mut valid = vec![0; map.blocks.count()];
    for (&held, logical) in held.iter().zip(0..) {
        let physical = map.lookup(logical);
        assert_eq!(held, physical != NONE, "unit {logical}");
        if held {
            assert!(places.insert(physical), "two units lie at {physical}");
            valid[map.block_of(physical) as usize] += 1;
        }
    }
    for (&valid, block) in valid.iter().zip(0..) {
        assert_eq!(valid, map.blocks.valid(block), "superblock {block}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn the_map_stays_whole_and_the_flash_is_asked_for_what_is_counted(
        page_units in prop_oneof![Just(1_u32), Just(3), Just(8), Just(12), Just(64), Just(100)],
        pages_per_line in 1_u32..4,
        lines in 2_u32..6,
        seed in any::<u64>(),
    ) {
        let line_units = page_units * pages_per_line;
        let units = line_units * lines;
        let logical = SUPERBLOCKS * units * 55 / 100;
        let mut ftl = Ftl::new(logical, SUPERBLOCKS, units, 3, Greedy).of_pages(page_units, pages_per_line);
        let mut flash = Counted {
            page_units, line_units, read_units: 0, host_units: 0, moved_lines: 0, erases: 0,
        };
        let mut held = vec![false; logical as usize];
        for n in 0..u64::from(logical) * 4 {
            let unit = below(mix(seed, n), u64::from(logical)) as u32;
            let writes = !mix(!seed, n).is_multiple_of(16);
            if writes {
                ftl.write(unit, &mut flash);
            } else {
                ftl.trim(unit, &mut flash);
            }
            held[unit as usize] = writes;
            if mix(seed ^ 1, n).is_multiple_of(500) {
                ftl.end_word_line(&mut flash);
            }
        }
        ftl.end_word_line(&mut flash);
        assert_whole(&ftl, &held);
        let counts = ftl.counts();
        prop_assert_eq!(flash.host_units, counts.host_units);
        prop_assert_eq!(flash.read_units, counts.moved_units);
        prop_assert_eq!(flash.moved_lines, counts.moved_units / u64::from(line_units));
        prop_assert_eq!(flash.erases, counts.erases);
        prop_assert!(counts.erases > 0);
    }
}
