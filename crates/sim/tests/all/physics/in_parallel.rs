//! Large reads: pages spread over several dies, and read-ahead.

use sim::drive::{Device, Drive};
use sim::ftl::{Ftl, Greedy};
use sim::profile::spec::{DriveSpec, ReadAheadSpec};
use workload::Op;
use workload::random::mix;

use crate::drives::loops::{below, in_order, random, sequential};
use crate::drives::{UNIT, assert_within, filled};
use crate::physics::with;

const BLOCK: u64 = 131_072;

fn striped(change: impl FnOnce(&mut DriveSpec)) -> DriveSpec {
    with(|spec| {
        spec.options.stripe_dies = spec.geometry.channels;
        change(spec);
    })
}

/// MB/s of random reads of 128 KiB at depth 1.
fn at_random(drive: &mut Drive<Ftl<Greedy>>) -> f64 {
    let (begin, blocks) = (drive.now(), drive.user_bytes() / BLOCK);
    for n in 0..5000 {
        let block = below(mix(7, n), blocks);
        let done = drive.submit(drive.now(), Op::Read, block * BLOCK, BLOCK as u32);
        drive.wait_until(done);
    }
    5000.0 * BLOCK as f64 / (drive.now() - begin) as f64 * 1e3
}

/// The same from the sum of its parts: pages come from different dies and channels at once, and cross the link one after
/// another.
fn alone_mb_s(spec: &DriveSpec) -> f64 {
    let (host, timing) = (&spec.host, &spec.timing);
    let page_units = u64::from(spec.geometry.units_per_read());
    let page_ns = timing.command_ns + page_units * timing.unit_transfer_ns;
    let link_ns = BLOCK / UNIT * host.unit_link_ns_x1024 / 1024;
    let fixed_ns = host.command_ns + host.read_core_ns + spec.options.turnaround_ns;
    BLOCK as f64 / (fixed_ns + timing.read_ns[0] + page_ns + link_ns) as f64 * 1e3
}

#[test]
fn the_pages_of_a_large_read_are_read_together() {
    let spec = striped(|_| {});
    let got = at_random(&mut filled(&spec));
    assert_within("128 KiB at random, MB/s", got, alone_mb_s(&spec), 0.10);
    // A word line of all planes holds 96 KiB: without a stripe, three of four pages wait for the same die.
    let one_die = at_random(&mut filled(&with(|_| {})));
    assert!(one_die < 0.75 * got, "{one_die} MB/s of one die");
}

#[test]
fn a_stripe_is_written_as_fast_as_word_lines_one_by_one() {
    let one_by_one = sequential(&mut filled(&with(|_| {})), 0, 1 << 29);
    let together = sequential(&mut filled(&striped(|_| {})), 0, 1 << 29);
    assert_within("MB/s written", together, one_by_one, 0.02);
}

/// A striped drive behind a SATA link that reads ahead of `streams` streams.
fn ahead(streams: u32) -> DriveSpec {
    striped(|spec| {
        spec.host.half_duplex = true;
        spec.host.unit_link_ns_x1024 = 7_300 * 1024;
        spec.options.turnaround_ns = 10_000;
        let units = 64;
        spec.options.read_ahead = Some(ReadAheadSpec { units, streams });
    })
}

#[test]
fn in_order_the_flash_is_read_before_it_is_asked() {
    let spec = ahead(4);
    let random = at_random(&mut filled(&spec));
    let got = in_order(&mut filled(&spec), Op::Read, 0, 1 << 28, 1);
    assert_within("at random, MB/s", random, alone_mb_s(&spec), 0.10);
    let link_ns = BLOCK / UNIT * spec.host.unit_link_ns_x1024 / 1024;
    let link = BLOCK as f64 / (link_ns + spec.options.turnaround_ns) as f64 * 1e3;
    println!("{random:.0} MB/s at random, {got:.0} in order, link {link:.0}");
    assert!(got > 1.1 * random && got <= link);
}

/// MB/s of sequential reads of 128 KiB at depth 1, from `streams` streams in turn.
fn in_turn(drive: &mut impl Device, streams: u64) -> f64 {
    let (begin, blocks) = (drive.now(), 2000);
    for n in 0..blocks * streams {
        let at = n % streams * (200 << 20) + n / streams % 1000 * BLOCK;
        let done = drive.submit(drive.now(), Op::Read, at, BLOCK as u32);
        drive.wait_until(done);
    }
    (blocks * streams * BLOCK) as f64 / (drive.now() - begin) as f64 * 1e3
}

#[test]
fn more_streams_than_the_drive_follows_cost_what_random_reads_cost() {
    let spec = ahead(4);
    let random = at_random(&mut filled(&spec));
    let drive = filled(&spec);
    let one = in_turn(&mut drive.clone(), 1);
    let (four, five) = (
        in_turn(&mut drive.clone(), 4),
        in_turn(&mut drive.clone(), 5),
    );
    assert_within("four streams, MB/s", four, one, 0.02);
    assert_within("five streams, MB/s", five, random, 0.02);
}

/// MB/s of sequential reads of 128 KiB, the next one from a random stream.
fn drawn(drive: &mut impl Device, streams: u64) -> f64 {
    let (begin, blocks) = (drive.now(), 20_000);
    let mut read = vec![0; streams as usize];
    for n in 0..blocks {
        let stream = below(mix(11, n), streams);
        let at = stream * (20 << 20) + read[stream as usize] % 160 * BLOCK;
        read[stream as usize] += 1;
        let done = drive.submit(drive.now(), Op::Read, at, BLOCK as u32);
        drive.wait_until(done);
    }
    (blocks * BLOCK) as f64 / (drive.now() - begin) as f64 * 1e3
}

#[test]
fn streams_that_find_their_place_by_chance_are_no_slower_than_random_reads() {
    let spec = ahead(32);
    let random = at_random(&mut filled(&spec));
    let drive = filled(&spec);
    for streams in [36, 40, 48, 64] {
        let got = drawn(&mut drive.clone(), streams);
        println!("{streams} streams {got:.0} MB/s, at random {random:.0}");
        assert!(got > 0.95 * random, "{streams} streams");
    }
}

/// IOPS of random reads of 4 KiB at depth 32 in the first `span` bytes.
fn within(spec: &DriveSpec, span: u64) -> f64 {
    random(&mut filled(spec), span, 100, 32, 50_000).steady_iops()
}

#[test]
fn reads_that_are_neighbours_by_chance_are_no_streams() {
    let without = striped(|_| {});
    let with_ahead = striped(|spec| {
        let (units, streams) = (128, 32);
        spec.options.read_ahead = Some(ReadAheadSpec { units, streams });
    });
    for span in [1 << 18, 1 << 20, 1 << 24] {
        let (plain, ahead) = (within(&without, span), within(&with_ahead, span));
        println!("{span} bytes: {ahead:.0} IOPS, without reading ahead {plain:.0}");
        // In the smallest span, every other read happens to continue where an earlier one ended.
        assert!(ahead > 0.8 * plain, "{span}");
    }
}
