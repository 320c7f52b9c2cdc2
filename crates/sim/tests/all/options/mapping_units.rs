//! Mapping units of more than 4 KiB: their units stay together, and cost what theory predicts for fewer, larger units.

use proptest::prelude::*;
use sim::drive::Drive;
use sim::flash::{Flash, NONE};
use sim::ftl::{Ftl, Greedy};
use sim::profile::spec::{SlcSize, SlcSpec, WhenFull};
use workload::Op;
use workload::random::mix;

use crate::drives::loops::below;
use crate::drives::{SMALL, UNIT, assert_within, filled, lone_read_ns, theory};

struct NoFlash;
impl Flash for NoFlash {
    fn program_host(&mut self, _: u32, _: u32) {}
    fn read_for_move(&mut self, _: u32, _: u32) {}
    fn program_moved(&mut self, _: u32) {}
    fn erase(&mut self, _: u32) {}
}

/// Checks that every mapping unit holds all of its units or none, as aligned neighbours.
fn assert_together(ftl: &Ftl<Greedy>, together: u32) {
    let map = ftl.map();
    for first in (0..map.logical_units()).step_by(together as usize) {
        let physical = map.lookup(first);
        assert!(physical == NONE || physical.is_multiple_of(together));
        for n in 1..together {
            let expected = if physical == NONE { NONE } else { physical + n };
            assert_eq!(map.lookup(first + n), expected, "unit {}", first + n);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn neighbours_stay_together(
        together in prop_oneof![Just(2_u32), Just(4), Just(16)],
        pages in 1_u32..6,
        bits in 1_u32..4,
        stripe in 1_u32..4,
        merged in any::<bool>(),
        seed in any::<u64>(),
    ) {
        const SUPERBLOCKS: u32 = 16;
        let page = together * pages;
        let per_block = page * bits * stripe * 3;
        let logical = SUPERBLOCKS * per_block * 55 / 100 / together * together;
        let mut ftl = Ftl::new(logical, SUPERBLOCKS, per_block, 3, Greedy)
            .of_pages(page, bits)
            .striped(stripe)
            .mapped_together(together);
        if merged {
            ftl = ftl.merged();
        }
        let units = u64::from(logical / together);
        for n in 0..units * 6 {
            let first = below(mix(seed, n), units) as u32 * together;
            if mix(!seed, n).is_multiple_of(16) {
                for unit in first..first + together {
                    ftl.trim(unit, &mut NoFlash);
                }
            } else {
                ftl.write_together(first, &mut NoFlash);
            }
            if mix(seed ^ 1, n).is_multiple_of(200) {
                ftl.end_word_line(&mut NoFlash);
            }
        }
        assert_together(&ftl, together);
        prop_assert!(ftl.counts().moved_units > 0);
    }
}

#[test]
fn neighbours_stay_together_in_a_cache_of_one_bit() {
    for when_full in [WhenFull::Direct, WhenFull::Fold] {
        let mut spec = SMALL.spec();
        spec.user_bytes = spec.user_bytes * 3 / 4;
        spec.options.mapping_units = 4;
        spec.options.idle_after_ns = Some(1_000_000);
        spec.options.slc = Some(SlcSpec {
            size: SlcSize::Static { bytes: 8 << 20 },
            when_full,
            read_ns: 30_000,
            program_ns: 250_000,
        });
        let mut drive: Drive<Ftl<Greedy>> = Drive::new(&spec, Greedy);
        let units = drive.user_bytes() / 16_384;
        for n in 0..units * 2 {
            let at = below(mix(1, n), units) * 16_384;
            let done = drive.submit(drive.now(), Op::Write, at, 16_384);
            drive.wait_until(done);
            if n.is_multiple_of(1000) {
                drive.wait_until(drive.now() + 20_000_000);
            }
        }
        assert_together(drive.ftl(), 4);
        let counts = drive.ftl_counts();
        assert!(counts.folded_units > 0 && counts.cached_units > 0);
        assert!(counts.folded_units.is_multiple_of(4));
    }
}

#[test]
fn a_read_brings_what_it_needs_of_a_larger_unit() {
    let mut spec = SMALL.spec();
    spec.options.mapping_units = 8;
    let mut drive = filled(&spec);
    drive.wait_until(drive.idle_at());
    let transfers = drive.flash_counts().transfers;
    let now = drive.now();
    let done = drive.submit(now, Op::Read, 5 * UNIT, UNIT as u32);
    assert_eq!(done - now, lone_read_ns(&spec));
    assert_eq!(drive.flash_counts().transfers - transfers, 1);
}

#[test]
fn uniform_writes_of_whole_units_cost_what_theory_says_of_so_many_fewer() {
    const SUPERBLOCKS: u32 = 2048;
    const UNITS: u32 = 256;
    for (together, spare) in [(4, 0.07), (4, 0.125), (4, 0.25), (16, 0.125)] {
        let logical = (f64::from(SUPERBLOCKS * UNITS) * (1.0 - spare)) as u32 / together * together;
        let mut ftl = Ftl::new(logical, SUPERBLOCKS, UNITS, 4, Greedy)
            .of_pages(together, 1)
            .mapped_together(together);
        let units = u64::from(logical / together);
        for n in 0..units * 6 {
            if n == units * 5 {
                ftl.reset_counts();
            }
            // Writes sequentially first, then at random.
            let unit = if n < units {
                n
            } else {
                below(mix(2, n), units)
            };
            ftl.write_together(unit as u32 * together, &mut NoFlash);
        }
        let rho = ftl.effective_utilisation();
        assert_within(
            &format!("spare {spare}, {together} units together"),
            ftl.counts().write_amplification().unwrap(),
            theory::greedy(rho, UNITS / together),
            0.01,
        );
    }
}

#[test]
fn the_steady_state_that_is_placed_is_that_of_whole_units() {
    let mut spec = SMALL.spec();
    spec.options.mapping_units = 4;
    let mut drive: Drive<Ftl<Greedy>> = Drive::new(&spec, Greedy);
    assert!(drive.place_steady(5));
    assert_together(drive.ftl(), 4);
    let units = drive.user_bytes() / 16_384;
    let cost = |drive: &mut Drive<Ftl<Greedy>>, from: u64, writes: u64| {
        drive.reset_counts();
        for n in from..from + writes {
            let at = below(mix(8, n), units) * 16_384;
            let done = drive.submit(drive.now(), Op::Write, at, 16_384);
            drive.wait_until(done);
        }
        drive.ftl_counts().write_amplification().unwrap()
    };
    // Moves before the first superblock is closed are not typical.
    cost(&mut drive, 0, units / 20);
    let placed = cost(&mut drive, units, units / 2);
    cost(&mut drive, 2 * units, 3 * units);
    let written = cost(&mut drive, 6 * units, units / 2);
    assert_within("placed, beside written", placed, written, 0.02);
}

#[test]
fn the_last_unit_may_end_behind_the_drive() {
    let mut spec = SMALL.spec();
    spec.options.mapping_units = 16;
    spec.user_bytes -= 5 * UNIT;
    let mut drive: Drive<Ftl<Greedy>> = Drive::new(&spec, Greedy);
    let end = drive.user_bytes();
    let mut at = 0;
    // Sequential writes of 4 KiB: all units are present, and the last mapping unit became whole at the end of the drive.
    while at < end {
        let done = drive.submit(drive.now(), Op::Write, at, UNIT as u32);
        drive.wait_until(done);
        at += UNIT;
    }
    assert!(drive.is_full() && drive.holds(end / UNIT - 1));
    assert_eq!(drive.flash_counts().reads, 0);
    assert_eq!(drive.ftl_counts().host_bytes(), end);
    let reads = drive.submit(drive.now(), Op::Read, end - UNIT, UNIT as u32);
    drive.wait_until(reads);
    let done = drive.submit(drive.now(), Op::Trim, 0, end as u32);
    drive.wait_until(done);
    assert!(!drive.holds(end / UNIT - 1));
}
