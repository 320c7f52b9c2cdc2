//! Drives without memory for the whole map.

use sim::drive::Drive;
use sim::ftl::{Ftl, Greedy, RecentlyUsed};
use sim::profile::spec::DriveSpec;
use workload::Op;

use crate::drives::loops::{random, sequential};
use crate::drives::{REVIEWED, SMALL, UNIT, lone_read_ns, lone_write_ns};

type Dramless = Drive<Ftl<Greedy>, RecentlyUsed>;

/// Units whose entries are on one page of the map.
const ON_ONE_PAGE: u64 = 1024;

/// A filled drive with memory for so many bytes of its map.
fn dramless(spec: &DriveSpec, map_bytes: u64) -> Dramless {
    let cache = RecentlyUsed::new((spec.user_bytes / UNIT) as u32, map_bytes);
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
fn a_write_does_not_wait_for_its_entry_but_a_part_of_a_unit_does() {
    let spec = SMALL.spec();
    let mut drive = dramless(&spec, 4096);
    let write_ns = lone_write_ns(&spec);
    assert_eq!(alone_ns(&mut drive, Op::Write, 0, 4096), write_ns);
    // Where the rest of the unit lies is on a page of the map that must be read first.
    let part = 50 * ON_ONE_PAGE * UNIT;
    let waited_ns = alone_ns(&mut drive, Op::Write, part, 512);
    let link_ns = |bytes: u64| bytes * spec.host.unit_link_ns_x1024 / (4096 * 1024);
    let rest_ns = miss_ns(&spec);
    let commands_ns = write_ns - link_ns(4096) + link_ns(512);
    assert_eq!(waited_ns, commands_ns + miss_ns(&spec) + rest_ns);
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
