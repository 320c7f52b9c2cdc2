//! Drives that keep only a part of the map in memory.

use sim::drive::Drive;
use sim::ftl::{Ftl, Greedy, MapCounts, PartOfMap};
use sim::profile::spec::{DriveSpec, MapMemory};
use workload::Op;

use crate::drives::loops::{random, sequential};
use crate::drives::{
    REVIEWED, SMALL, UNIT, assert_within, lone_program_ns, lone_read_ns, lone_write_ns,
};

type Dramless = Drive<Ftl<Greedy>, PartOfMap>;

/// Map entries of a map page.
const ON_ONE_PAGE: u64 = 1024;

/// Units of an array read: two planes of 16 KiB.
const READ_UNITS: u32 = 8;

/// Bytes of memory for a changed entry.
const CHANGE: u64 = 8;

/// A filled drive with `page_bytes` of memory for map pages, and memory for the changes of one page.
fn dramless(spec: &DriveSpec, page_bytes: u64) -> Dramless {
    with_changes(spec, page_bytes, ON_ONE_PAGE)
}

/// The same with memory for `changes` changed entries.
fn with_changes(spec: &DriveSpec, page_bytes: u64, changes: u64) -> Dramless {
    let memory = MapMemory {
        page_bytes,
        change_bytes: changes * CHANGE,
    };
    let map = PartOfMap::new((spec.user_bytes / UNIT) as u32, 1, READ_UNITS, memory);
    let mut drive = Drive::assemble(spec, Ftl::of_drive(spec, Greedy), map);
    sequential(&mut drive, 0, spec.user_bytes);
    drive.wait_until(drive.idle_at());
    drive
}

/// Time to read a map page: array read and bus.
fn miss_ns(spec: &DriveSpec) -> u64 {
    spec.timing.read_ns[0] + spec.timing.command_ns + spec.timing.unit_transfer_ns
}

fn alone_ns(drive: &mut Dramless, op: Op, offset: u64, length: u32) -> u64 {
    drive.wait_until(drive.idle_at());
    let now = drive.now();
    let done = drive.submit(now, op, offset, length);
    drive.wait_until(done);
    done - now
}

#[test]
fn an_entry_that_is_not_at_hand_costs_one_read() {
    let spec = SMALL.spec();
    // Memory for one map page.
    let mut drive = dramless(&spec, 4096);
    let hit_ns = lone_read_ns(&spec);
    let before = drive.flash_counts().reads;
    for page in 0..20 {
        let first = page * 3 * ON_ONE_PAGE * UNIT;
        let missed_ns = alone_ns(&mut drive, Op::Read, first, 4096);
        assert_eq!(missed_ns, hit_ns + miss_ns(&spec));
        let last = first + (ON_ONE_PAGE - 1) * UNIT;
        assert_eq!(alone_ns(&mut drive, Op::Read, last, 4096), hit_ns);
    }
    assert_eq!(drive.flash_counts().reads - before, 20 * 3);
}

#[test]
fn a_page_of_the_map_is_sensed_as_that_of_its_word_line() {
    let mut spec = SMALL.spec();
    spec.timing.read_ns = [40_000, 60_000, 80_000, 0];
    let mut drive = with_changes(&spec, 4096, 16 * ON_ONE_PAGE);
    let crossing_ns = spec.timing.command_ns + spec.timing.unit_transfer_ns;
    // After a sequential fill the map is in order as well.
    for read in 0..12 {
        let offset = read * u64::from(READ_UNITS) * ON_ONE_PAGE * UNIT;
        let missed_ns = alone_ns(&mut drive, Op::Read, offset, 4096);
        let hit_ns = alone_ns(&mut drive, Op::Read, offset, 4096);
        let sensed_ns = spec.timing.read_ns[read as usize % 3];
        assert_eq!(missed_ns - hit_ns, sensed_ns + crossing_ns);
    }
}

#[test]
fn a_write_does_not_wait_for_its_entry_but_the_rest_of_a_part_does() {
    let mut spec = SMALL.spec();
    spec.power_loss_protection = false;
    let mut drive = dramless(&spec, 4096);
    let write_ns = lone_write_ns(&spec);
    assert_eq!(alone_ns(&mut drive, Op::Write, 0, 4096), write_ns);
    // Before the rest of the unit can be read, its map page must be.
    let part = 50 * ON_ONE_PAGE * UNIT;
    let link_ns = |bytes: u64| bytes * spec.host.unit_link_ns_x1024 / (4096 * 1024);
    let commands_ns = write_ns - link_ns(4096) + link_ns(512);
    assert_eq!(alone_ns(&mut drive, Op::Write, part, 512), commands_ns);
    drive.wait_until(drive.idle_at());
    let reads = drive.flash_counts().reads;
    let rest_ns = miss_ns(&spec);
    let now = drive.now();
    // Both reads, then the program.
    let durable_ns = drive.durable_at(now) - now;
    assert_eq!(drive.flash_counts().reads - reads, 2);
    // The word line also holds the whole unit written before.
    let program_ns = lone_program_ns(&spec) + spec.timing.unit_transfer_ns;
    assert_eq!(durable_ns, miss_ns(&spec) + rest_ns + program_ns);
}

#[test]
fn a_larger_unit_has_a_smaller_map() {
    let spec = REVIEWED.spec();
    for together in [1, 4] {
        // Memory for the whole map if four units share an entry.
        let memory = MapMemory {
            page_bytes: spec.user_bytes / UNIT,
            change_bytes: ON_ONE_PAGE * CHANGE,
        };
        let units = (spec.user_bytes / UNIT) as u32;
        let cache = PartOfMap::new(units, together, READ_UNITS, memory);
        let mut spec = spec;
        spec.options.mapping_units = together;
        let mut drive = Drive::assemble(&spec, Ftl::of_drive(&spec, Greedy), cache);
        sequential(&mut drive, 0, spec.user_bytes);
        drive.wait_until(drive.idle_at());
        let before = drive.map_counts();
        random(&mut drive, spec.user_bytes, 100, 1, 20_000);
        let counts = drive.map_counts();
        let missed = (counts.misses - before.misses) as f64 / 20_000.0;
        let expected = 1.0 - f64::from(together) / 4.0;
        assert!((missed - expected).abs() < 0.02, "{together}: {missed}");
    }
}

#[test]
fn as_much_of_the_look_ups_miss_as_does_not_fit() {
    let spec = REVIEWED.spec();
    let map_bytes = spec.user_bytes / UNIT * 4;
    let mut drive = dramless(&spec, map_bytes / 4);
    let near = random(&mut drive, spec.user_bytes / 8, 100, 1, 20_000).mean_ns();
    let far = random(&mut drive, spec.user_bytes, 100, 1, 20_000).mean_ns();
    let hit_ns = lone_read_ns(&spec) as f64;
    let missed = (far - hit_ns) / miss_ns(&spec) as f64;
    println!("near {near:.0} ns, far {far:.0} ns: {missed:.3} of look-ups miss");
    assert!((missed - 0.75).abs() < 0.02);
    assert!(near < hit_ns * 1.03);
}

/// Counts of the map, and moves, since `before`.
fn since(drive: &Dramless, before: (MapCounts, u64)) -> (MapCounts, u64) {
    let (now, moved) = (drive.map_counts(), drive.ftl_counts().moved_units);
    let counts = MapCounts {
        hits: now.hits - before.0.hits,
        misses: now.misses - before.0.misses,
        completed: now.completed - before.0.completed,
        written_back: now.written_back - before.0.written_back,
    };
    (counts, moved - before.1)
}

#[test]
fn changes_here_and_there_share_a_page_as_far_as_memory_lasts() {
    let spec = REVIEWED.spec();
    let units = spec.user_bytes / UNIT;
    let pages = units.div_ceil(ON_ONE_PAGE) as f64;
    for for_each_page in [0.25, 1.0, 4.0, 16.0] {
        let changes = (for_each_page * pages) as u64;
        let mut drive = with_changes(&spec, 4096, changes);
        // What remains of the sequential data is moved in order and shares map pages, so overwrite it first.
        random(&mut drive, spec.user_bytes, 0, 8, 6 * units);
        let before = since(&drive, (MapCounts::default(), 0));
        random(&mut drive, spec.user_bytes, 0, 8, units);
        let (counts, moved) = since(&drive, before);
        // Between two of its turns a page gathers twice its mean number of changes. On average, the changes in memory are what
        // it has room for, less half of those that one turn writes. If `x` random changes are expected, none comes with
        // probability `e^-x`, and the page then has no turn. Moved data changes entries too.
        let gathered = 2.0 * changes as f64 / (pages + f64::from(READ_UNITS));
        let together = gathered / (1.0 - (-gathered).exp());
        let found = (units + moved) as f64 / counts.written_back as f64;
        println!("{for_each_page}: {found:.3} changes for a page, {together:.3} expected");
        assert!((found / together - 1.0).abs() < 0.005, "{found} {together}");
        assert!(moved > units);
        // One page is cached, and it may be the one that is written.
        assert_eq!(counts.completed, counts.written_back);
        assert_eq!(counts.misses, 0);
        // All programmed data is in full word lines, except what waits for its word line to fill.
        let lines = drive.flash_counts().programs * u64::from(spec.geometry.units_per_program());
        let programmed = drive.programmed_units();
        assert_within("in lines", lines as f64, programmed as f64, 0.001);
    }
}

#[test]
fn changes_in_order_fill_their_pages_and_none_is_read_for_them() {
    let spec = SMALL.spec();
    let mut drive = with_changes(&spec, 4096, 16 * ON_ONE_PAGE);
    let before = since(&drive, (MapCounts::default(), 0));
    let bytes = 40 * ON_ONE_PAGE * UNIT;
    sequential(&mut drive, 0, bytes);
    let (counts, _) = since(&drive, before);
    assert_eq!(counts.completed, 0);
    assert!(
        counts.written_back.abs_diff(40) <= 8,
        "{}",
        counts.written_back
    );
}

#[test]
fn a_last_page_of_fewer_entries_is_not_read_when_all_of_them_change() {
    let mut spec = SMALL.spec();
    spec.user_bytes -= ON_ONE_PAGE / 4 * UNIT;
    let pages = (spec.user_bytes / UNIT).div_ceil(ON_ONE_PAGE);
    assert!(!(spec.user_bytes / UNIT).is_multiple_of(ON_ONE_PAGE));
    let mut drive = with_changes(&spec, 4096, 16 * ON_ONE_PAGE);
    let before = since(&drive, (MapCounts::default(), 0));
    sequential(&mut drive, 0, spec.user_bytes);
    let bytes = 40 * ON_ONE_PAGE * UNIT;
    sequential(&mut drive, 0, bytes);
    let (counts, moved) = since(&drive, before);
    println!("{pages} {counts:?} {moved}");
    assert!(counts.written_back > pages);
    assert_eq!(counts.completed, 0);
}

#[test]
fn what_is_changed_again_and_again_waits_once() {
    let spec = SMALL.spec();
    let span = 64 * ON_ONE_PAGE / 4 * UNIT;
    let mut drive = with_changes(&spec, 4096, 2 * 64 * ON_ONE_PAGE / 4);
    random(&mut drive, span, 0, 8, 100_000);
    drive.wait_until(drive.idle_at());
    let before = since(&drive, (MapCounts::default(), 0));
    random(&mut drive, span, 0, 8, 1_000);
    // Reads find these entries in memory as well.
    random(&mut drive, span, 100, 8, 1_000);
    let (counts, moved) = since(&drive, before);
    assert_eq!(counts.misses, 0);
    assert!(counts.written_back <= moved / 8, "{counts:?} {moved}");
}

#[test]
fn what_is_moved_for_a_part_changes_the_map_with_it() {
    let mut spec = SMALL.spec();
    spec.power_loss_protection = false;
    // Without memory for changes, each one is written at once.
    let mut drive = with_changes(&spec, 4096, 0);
    random(&mut drive, spec.user_bytes, 0, 8, 100_000);
    let (_, moved) = since(&drive, (MapCounts::default(), 0));
    for n in 0..100 {
        let unit = n * 37 % (spec.user_bytes / UNIT);
        let done = drive.submit(drive.now(), Op::Write, unit * UNIT, 512);
        drive.wait_until(done);
        // The flush places the held unit.
        let done = drive.flush(drive.now());
        drive.wait_until(done);
        let counts = drive.ftl_counts();
        let changed = counts.host_units + counts.moved_units;
        assert_eq!(drive.map_counts().written_back, changed);
    }
    assert!(drive.ftl_counts().moved_units > moved);
}

#[test]
fn an_erased_drive_has_no_page_to_read_and_a_placed_one_has_all() {
    let spec = SMALL.spec();
    let mut drive = dramless(&spec, 4096);
    let now = drive.now();
    let erased = drive.purge(now);
    drive.wait_until(erased);
    let before = drive.map_counts();
    random(&mut drive, spec.user_bytes, 100, 1, 1_000);
    assert_eq!(drive.map_counts().misses, before.misses);
    assert!(drive.place_steady(1));
    random(&mut drive, spec.user_bytes, 100, 1, 1_000);
    assert!(drive.map_counts().misses - before.misses > 900);
}

#[test]
fn deep_reads_keep_all_dies_at_work_though_each_waits_for_its_map() {
    let spec = REVIEWED.spec();
    let mut drive = dramless(&spec, 4096);
    let found = random(&mut drive, spec.user_bytes, 100, 256, 40_000).iops();
    // Each read takes two array reads. A gap between two reads that were requested ahead may be too short for another.
    let most = f64::from(spec.geometry.dies()) / (2.0 * spec.timing.read_ns[0] as f64 / 1e9);
    println!("{found:.0} IOPS of {most:.0}");
    assert!(found > 0.75 * most && found <= 1.01 * most);
}
