//! Drives without memory for the whole map.

use sim::drive::Drive;
use sim::ftl::{Ftl, Greedy, RecentlyUsed};
use sim::profile::spec::DriveSpec;
use workload::Op;

use crate::drives::loops::{random, sequential};
use crate::drives::{REVIEWED, SMALL, UNIT, lone_program_ns, lone_read_ns, lone_write_ns};

type Dramless = Drive<Ftl<Greedy>, RecentlyUsed>;

/// Units whose entries are on one page of the map.
const ON_ONE_PAGE: u64 = 1024;

/// A filled drive with memory for so many bytes of its map.
fn dramless(spec: &DriveSpec, map_bytes: u64) -> Dramless {
    let cache = RecentlyUsed::new((spec.user_bytes / UNIT) as u32, 1, map_bytes);
    let mut drive = Drive::assemble(spec, Ftl::of_drive(spec, Greedy), cache);
    sequential(&mut drive, 0, spec.user_bytes);
    drive.wait_until(drive.idle_at());
    drive
}

/// What a page of the map takes: an array read and its way over the bus.
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
    // Memory for one page of the map.
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
fn a_write_does_not_wait_for_its_entry_but_the_rest_of_a_part_does() {
    let mut spec = SMALL.spec();
    spec.power_loss_protection = false;
    let mut drive = dramless(&spec, 4096);
    let write_ns = lone_write_ns(&spec);
    assert_eq!(alone_ns(&mut drive, Op::Write, 0, 4096), write_ns);
    // Where the rest of the unit lies is on a page of the map that must be read first.
    let part = 50 * ON_ONE_PAGE * UNIT;
    let link_ns = |bytes: u64| bytes * spec.host.unit_link_ns_x1024 / (4096 * 1024);
    let commands_ns = write_ns - link_ns(4096) + link_ns(512);
    assert_eq!(alone_ns(&mut drive, Op::Write, part, 512), commands_ns);
    drive.wait_until(drive.idle_at());
    let reads = drive.flash_counts().reads;
    let rest_ns = miss_ns(&spec);
    let now = drive.now();
    // Both of them, and then the program.
    let durable_ns = drive.durable_at(now) - now;
    assert_eq!(drive.flash_counts().reads - reads, 2);
    // The word line holds the whole unit, too.
    let program_ns = lone_program_ns(&spec) + spec.timing.unit_transfer_ns;
    assert_eq!(durable_ns, miss_ns(&spec) + rest_ns + program_ns);
}

#[test]
fn a_larger_unit_has_a_smaller_map() {
    let spec = REVIEWED.spec();
    for together in [1, 4] {
        // Memory for all of the map where four units have one entry.
        let map_bytes = spec.user_bytes / UNIT;
        let units = (spec.user_bytes / UNIT) as u32;
        let cache = RecentlyUsed::new(units, together, map_bytes);
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
