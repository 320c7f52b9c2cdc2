//! Separate write frontiers for host and collection, or one for both.

use proptest::prelude::*;
use sim::drive::Drive;
use sim::flash::Flash;
use sim::ftl::{DChoices, Ftl, Greedy, VictimRule};
use workload::Op;
use workload::random::mix;

use crate::drives::frontiers::HotCold;
use crate::drives::loops::{below, random, sequential};
use crate::drives::{SMALL, UNIT, assert_within, theory};

/// A medium that counts programs and the origin of their units.
#[derive(Default)]
struct Programs {
    lines: u64,
    of_host: u64,
    of_moved: u64,
}

impl Flash for Programs {
    fn program_host(&mut self, _: u32, units: u32) {
        self.lines += 1;
        self.of_host += u64::from(units);
    }
    fn read_for_move(&mut self, _: u32, _: u32) {}
    fn program_moved(&mut self, _: u32) {
        self.of_moved += 1;
    }
    fn erase(&mut self, _: u32) {}
}

/// Hot shares of the writes and of the data, in percent.
#[derive(Clone, Copy)]
struct Skew {
    writes: u32,
    data: u32,
}

/// Write amplification over the last third of `times` overwrites, and the utilisation at the time.
fn skewed<R: VictimRule>(mut ftl: Ftl<R>, logical: u32, skew: Skew, times: u64) -> (f64, f64) {
    let mut flash = Programs::default();
    (0..logical).for_each(|unit| _ = ftl.write(unit, &mut flash));
    let hot = u64::from(logical / 100 * skew.data);
    let draw = |n: u64, bound: u64| below(mix(11, n), bound) as u32;
    let writes = u64::from(logical) * times;
    for n in 0..writes {
        if n == writes / 3 * 2 {
            ftl.reset_counts();
        }
        let is_hot = draw(2 * n, 100) < skew.writes;
        let unit = if is_hot {
            draw(2 * n + 1, hot)
        } else {
            hot as u32 + draw(2 * n + 1, u64::from(logical) - hot)
        };
        ftl.write(unit, &mut flash);
    }
    let got = ftl.counts().write_amplification().unwrap();
    (got, ftl.effective_utilisation())
}

const SUPERBLOCKS: u32 = 4096;
const UNITS: u32 = 16;

#[test]
fn hot_and_cold_data_cost_more_with_one_write_frontier_than_with_two() {
    let logical = SUPERBLOCKS * UNITS / 1000 * 875;
    for (writes, data) in [(80, 20), (90, 10)] {
        let skew = Skew { writes, data };
        let [one, two] = [true, false].map(|merged| {
            let ftl = Ftl::new(logical, SUPERBLOCKS, UNITS, 4, DChoices::new(10, 1));
            let ftl = if merged { ftl.merged() } else { ftl };
            let (got, rho) = skewed(ftl, logical, skew, 15);
            let model = HotCold {
                units: UNITS as usize,
                rho,
                hot_writes: f64::from(writes) / 100.0,
                hot_data: f64::from(data) / 100.0,
                drawn: 10,
            };
            let what = format!("{writes} % to {data} %, merged {merged}");
            assert_within(&what, got, model.amplification(merged), 0.03);
            got
        });
        assert!(one > 1.05 * two, "{one} with one, {two} with two");
    }
}

#[test]
fn uniform_writes_cost_the_same_with_one_write_frontier() {
    let (blocks, units) = (2048, 256);
    for spare in [0.07, 0.28] {
        let logical = (f64::from(blocks * units) * (1.0 - spare)) as u32;
        let ftl = Ftl::new(logical, blocks, units, 4, Greedy).merged();
        let all_alike = Skew {
            writes: 50,
            data: 50,
        };
        let (got, rho) = skewed(ftl, logical, all_alike, 6);
        let what = format!("greedy, merged, spare {spare}");
        assert_within(&what, got, theory::greedy(rho, units), 0.01);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn each_unit_of_the_host_leaves_its_buffer_once(
        page in 2_u32..5, bits in 1_u32..4, dies in 1_u32..5, stripes in 3_u32..6, seed in any::<u64>(),
    ) {
        let units = page * bits * dies * stripes;
        let logical = 16 * units * 55 / 100;
        let ftl = Ftl::new(logical, 16, units, 4, Greedy);
        let mut ftl = ftl.of_pages(page, bits).striped(dies).merged();
        let mut flash = Programs::default();
        for n in 0..u64::from(logical) * 4 {
            ftl.write(below(mix(seed, n), u64::from(logical)) as u32, &mut flash);
            if mix(seed ^ 1, n).is_multiple_of(300) {
                ftl.end_word_line(&mut flash);
                prop_assert_eq!(flash.of_host, ftl.counts().host_units);
            }
        }
        ftl.end_word_line(&mut flash);
        let counts = ftl.counts();
        prop_assert_eq!(flash.of_host, counts.host_units);
        prop_assert_eq!(flash.of_moved, 0);
        // Every word line holds written, moved or padding units; lines of padding only are not programmed.
        prop_assert!(flash.lines * u64::from(page * bits) <= counts.flash_units());
        prop_assert!(counts.moved_units > 0);
    }
}

#[test]
fn a_drive_with_one_write_frontier_is_as_fast_and_forgets_what_it_is_told_to() {
    let mut spec = SMALL.spec();
    spec.options.stripe_dies = spec.geometry.dies();
    let [two, one] = [false, true].map(|merged| {
        spec.options.merged_streams = merged;
        let mut drive = Drive::new(&spec, Greedy);
        sequential(&mut drive, 0, spec.user_bytes);
        let units = spec.user_bytes / UNIT;
        random(&mut drive, spec.user_bytes, 0, 32, 4 * units);
        let iops = random(&mut drive, spec.user_bytes, 0, 32, units / 2).steady_iops();
        // After a purge, data of open word lines must not occupy the buffer any more.
        for _ in 0..4 {
            let done = drive.purge(drive.now());
            drive.wait_until(done);
            for unit in 0..spec.buffer_bytes / UNIT + 5 {
                let now = drive.now();
                drive.submit(now, Op::Write, unit * UNIT, UNIT as u32);
            }
        }
        iops
    });
    assert_within("one write frontier", one, two, 0.03);
}
