//! Static placement by logical page, with garbage collection in each plane.

use sim::drive::Drive;
use sim::flash::{Addressing, Flash as Medium};
use sim::ftl::{Fifo, FtlCounts, Greedy, MappingCache, Planes, Translation, VictimRule};
use sim::profile::spec::DriveSpec;

use crate::drives::loops::{random, sequential};
use crate::drives::{Flash, UNIT, assert_within, theory};

/// 8 dies with 2 planes of 128 blocks each.
fn spec() -> DriveSpec {
    let flash = Flash {
        channels: 2,
        dies_per_channel: 4,
        pages_per_block: 48,
        superblocks: 128,
        user_pct: 80,
    };
    DriveSpec {
        erase_every: 1,
        ..flash.spec()
    }
}

/// A medium that records in which planes the translation layer works.
#[derive(Default)]
struct Watched {
    units_per_plane: u32,
    planes: std::collections::BTreeSet<u32>,
    erases: u32,
    blocks_per_plane: u32,
}

impl Watched {
    fn of(spec: &DriveSpec) -> Self {
        Self {
            units_per_plane: spec.geometry.units_per_plane(),
            blocks_per_plane: spec.geometry.superblocks,
            ..Self::default()
        }
    }

    fn seen(&mut self, physical: u32) {
        self.planes.insert(physical / self.units_per_plane);
    }
}

impl Medium for Watched {
    fn program_host(&mut self, last: u32, _: u32) {
        self.seen(last);
    }
    fn read_for_move(&mut self, first: u32, _: u32) {
        self.seen(first);
    }
    fn program_moved(&mut self, last: u32) {
        self.seen(last);
    }
    fn erase(&mut self, block: u32) {
        self.erases += 1;
        self.planes.insert(block / self.blocks_per_plane);
    }
}

fn planes(spec: &DriveSpec) -> Planes<Greedy> {
    let units = (spec.user_bytes / UNIT) as u32;
    Planes::new(units, &spec.geometry, spec.reserve, &Greedy)
}

#[test]
fn pages_go_to_channels_then_ways_then_planes() {
    let spec = spec();
    let g = spec.geometry;
    let (mut planes, mut medium) = (planes(&spec), Watched::of(&spec));
    let addressing = Addressing::planes(&g);
    let page_units = g.page_bytes / UNIT as u32;
    for page in 0..5 * g.all_planes() {
        for unit in page * page_units..(page + 1) * page_units {
            planes.write(unit, &mut medium);
            let physical = planes.physical(unit);
            let die = addressing.place(physical).die;
            let plane_of_die = physical / g.units_per_plane() / g.dies();
            let place = [g.channel(die), die / g.channels, plane_of_die];
            let ways = page / g.channels;
            let expected = [
                page % g.channels,
                ways % g.dies_per_channel,
                ways / g.dies_per_channel % g.planes,
            ];
            assert_eq!(place, expected, "channel, way and plane of page {page}");
        }
    }
}

#[test]
fn each_plane_collects_for_itself() {
    let spec = spec();
    let g = spec.geometry;
    let (mut planes, mut medium) = (planes(&spec), Watched::of(&spec));
    let units = (spec.user_bytes / UNIT) as u32;
    (0..units).for_each(|unit| planes.write(unit, &mut medium));
    let mut medium = Watched::of(&spec);
    planes.reset_counts();
    // Writes only to the pages of one plane.
    let page_units = g.page_bytes / UNIT as u32;
    let (stride, plane) = (g.all_planes() * page_units, 5);
    let pages = units / stride;
    for n in 0..4 * u64::from(pages) {
        let page = workload::random::mix(3, n) % u64::from(pages);
        let first = page as u32 * stride + plane * page_units;
        (first..first + page_units).for_each(|unit| planes.write(unit, &mut medium));
    }
    let FtlCounts { moved_units, .. } = planes.counts();
    assert!(moved_units > 0 && medium.erases > 0);
    let touched: Vec<u32> = medium.planes.into_iter().collect();
    assert_eq!(
        touched,
        [plane],
        "planes that are programmed, read or erased"
    );
}

/// IOPS, write amplification and effective spare of random writes in the steady state.
fn steady<T: Translation, M: MappingCache>(mut drive: Drive<T, M>) -> (f64, f64, f64) {
    let bytes = drive.user_bytes();
    sequential(&mut drive, 0, bytes);
    random(&mut drive, bytes, 0, 32, 3 * bytes / UNIT);
    drive.reset_counts();
    let seen = random(&mut drive, bytes, 0, 32, bytes / UNIT);
    let cost = drive.ftl_counts().write_amplification().unwrap();
    (seen.iops(), cost, drive.ftl().effective_spare())
}

#[test]
fn a_static_place_makes_few_ios_wait_for_the_one_plane_that_collects() {
    let spec = spec();
    let (of_planes, planes_cost, spare) = steady(Drive::of_planes(&spec, &Greedy));
    let (of_all, all_cost, _) = steady(Drive::new(&spec, Greedy));
    println!(
        "steady random writes: {of_planes:.0} IOPS by planes (cost {planes_cost:.2}), {of_all:.0} by superblocks ({all_cost:.2})"
    );
    assert!(of_planes < 0.8 * of_all);
    let block = spec.geometry.pages_per_block * spec.geometry.page_bytes / UNIT as u32;
    let expected = theory::greedy(1.0 - spare, block);
    assert_within("cost by planes", planes_cost, expected, 0.05);
}

#[test]
fn each_plane_has_a_rule_of_its_own() {
    fn cost(rule: &impl VictimRule) -> (f64, f64) {
        let (_, cost, spare) = steady(Drive::of_planes(&spec(), rule));
        (cost, spare)
    }
    let (cost, spare) = cost(&Fifo::default());
    assert_within(
        "cost by planes, FIFO",
        cost,
        theory::fifo(1.0 - spare),
        0.05,
    );
}
