//! Limits of the controller: commands held, the data path, and writes that wait for the flash.

use sim::drive::Drive;
use sim::ftl::Greedy;
use workload::Op;

use crate::drives::loops::{random, sequential};
use crate::drives::{
    SECOND, UNIT, assert_within, filled, lone_program_ns, lone_write_ns, tortured,
};
use crate::physics::with;

#[test]
fn the_data_path_carries_what_collection_moves_too() {
    let unit_ns = 8_000;
    let spec = with(|spec| spec.options.data_unit_ns_x1024 = unit_ns * 1024);
    let in_order = sequential(&mut filled(&spec), 0, 1 << 29);
    assert_within(
        "in order, MB/s",
        in_order,
        4096.0 / unit_ns as f64 * 1e3,
        0.01,
    );
    let mut drive = tortured(&spec);
    let seen = random(&mut drive, spec.user_bytes, 0, 32, 300_000);
    let cost = drive.ftl_counts().write_amplification().unwrap();
    let bound = 1e9 / (unit_ns as f64 * cost);
    assert_within("at random, IOPS", seen.steady_iops(), bound, 0.01);
}

#[test]
fn a_burst_fills_the_buffer_whatever_the_data_path_does() {
    let unit_ns = 200_000;
    let spec = with(|spec| spec.options.data_unit_ns_x1024 = unit_ns * 1024);
    let mut drive = filled(&spec);
    let begin = drive.now() + SECOND;
    let units = spec.buffer_bytes / UNIT / 2;
    let ends = (0..units).map(|unit| drive.submit(begin, Op::Write, unit * UNIT, UNIT as u32));
    let taken_ns = ends.max().unwrap() - begin;
    let cores_ns = units * spec.host.write_core_ns / u64::from(spec.host.cores);
    println!("{units} units in {taken_ns} ns");
    assert!(taken_ns < 2 * cores_ns && cores_ns < units * unit_ns / 10);
}

#[test]
fn reads_take_their_turns_on_the_data_path() {
    let (unit_ns, link_ns, read_pct) = (16_000, 10_000, 70);
    let spec = with(|spec| {
        spec.options.data_unit_ns_x1024 = unit_ns * 1024;
        spec.host.unit_link_ns_x1024 = link_ns * 1024;
    });
    let mut drive = tortured(&spec);
    let seen = random(&mut drive, spec.user_bytes, read_pct, 64, 300_000);
    let cost = drive.ftl_counts().write_amplification().unwrap();
    let share = read_pct as f64 / 100.0;
    let each_ns = share * link_ns as f64 + (1.0 - share) * unit_ns as f64 * cost;
    assert_within("IOPS", seen.steady_iops(), 1e9 / each_ns, 0.02);
}

#[test]
fn the_drive_holds_no_more_commands_than_it_can() {
    let spec = with(|spec| spec.host.queue_limit = Some(16));
    let drive = filled(&spec);
    let [inside, beyond] = [16, 64].map(|depth| {
        let drive = &mut drive.clone();
        random(drive, spec.user_bytes, 100, depth, 100_000)
    });
    assert_within("IOPS at depth 64", beyond.iops(), inside.iops(), 0.01);
    let waits = 4.0 * inside.mean_ns();
    assert_within("latency at depth 64, ns", beyond.mean_ns(), waits, 0.01);
}

#[test]
fn with_the_write_cache_off_each_write_waits_for_its_program_and_its_map_entry() {
    let spec = with(|spec| {
        spec.options.write_through = true;
        spec.options.commit_ns = 300_000;
    });
    // All else is short: the command, and one unit on link and bus. The empty rest of the word line is not transferred.
    let alone_ns = lone_write_ns(&spec) + lone_program_ns(&spec) + spec.options.commit_ns;
    let flash_ns = spec.timing.program_ns + spec.options.commit_ns;
    for depth in [1, 2, 4, 8, 16] {
        let mut drive: Drive<_> = Drive::new(&spec, Greedy);
        let got = random(&mut drive, spec.user_bytes, 0, depth, 3000).iops();
        let at = |ns: u64| f64::from(depth) / ns as f64 * 1e9;
        assert_within(&format!("IOPS at depth {depth}"), got, at(alone_ns), 0.03);
        assert_within("beside program and commit", got, at(flash_ns), 0.10);
    }
}

#[test]
fn the_cores_take_what_collection_moves_too() {
    let spec = with(|spec| {
        spec.host.cores = 1;
        spec.options.move_core_ns = 12_000;
    });
    let mut drive = tortured(&spec);
    let seen = random(&mut drive, spec.user_bytes, 0, 32, 300_000);
    let moved = drive.ftl_counts().write_amplification().unwrap() - 1.0;
    let each_ns = spec.host.write_core_ns as f64 + moved * spec.options.move_core_ns as f64;
    let bound = f64::from(spec.host.cores) * 1e9 / each_ns;
    assert_within("IOPS", seen.steady_iops(), bound, 0.02);
}

#[test]
fn collection_moves_a_page_when_the_one_before_has_been_moved() {
    let run = |at_once| {
        let spec = with(|spec| {
            spec.options.move_reads = at_once;
            spec.options.move_core_ns = 2_000;
            // Neighbouring pages of a victim lie on different dies.
            spec.options.stripe_dies = 8;
            // So short that hardly any read waits for one.
            spec.timing.program_ns = 100_000;
            spec.timing.erase_ns = 100_000;
        });
        let mut drive = tortured(&spec);
        let before = drive.flash_counts().reads;
        let seen = random(&mut drive, spec.user_bytes, 0, 32, 300_000);
        let reads = (drive.flash_counts().reads - before) as f64;
        let moved = drive.ftl_counts().moved_units as f64;
        let times = &spec.timing;
        let read_ns = (times.read_ns[0] + times.command_ns) as f64;
        let unit_ns = (times.unit_transfer_ns + spec.options.move_core_ns) as f64;
        // The cores process host commands between two pages.
        let commands_ns = 300_000.0 * spec.host.write_core_ns as f64;
        let alone = 300_000.0 / (reads * read_ns + moved * unit_ns + commands_ns) * 1e9;
        (seen, alone)
    };
    let (one, bound) = run(1);
    assert_within("IOPS with one at once", one.steady_iops(), bound, 0.06);
    // The host is slowed down evenly, and not stopped for whole pages.
    let [half] = one.quantiles_ns([0.5]);
    assert_within("p50 beside the mean", half as f64, one.mean_ns(), 0.5);
    // Four are less than four times as fast: dies work in order of request, and some of their work is for later moves.
    let (four, _) = run(4);
    let gain = four.steady_iops() / one.steady_iops();
    println!("four at once: {gain:.2} times as fast");
    assert!((2.0..=4.0).contains(&gain));
}
