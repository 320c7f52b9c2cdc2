//! I/Os a second of CPU: the map alone, and the whole drive in a closed loop. Arguments: GiB of flash, depth.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use sim::draw::mix;
use sim::drive::{Drive, DriveSpec};
use sim::ftl::{Flash, Ftl};
use sim::gc::Greedy;
use sim::host::HostSpec;
use sim::nand::{Geometry, Timing};
use sim::options::DriveOptions;
use sim::owner::Unattended;
use sim::runner::{Options, run};
use workload::{Op, Workload};

struct NoFlash;
impl Flash for NoFlash {
    fn program_host(&mut self, _: u32) {}
    fn read_for_move(&mut self, _: u32) {}
    fn program_moved(&mut self, _: u32) {}
    fn erase(&mut self, _: u32) {}
}

fn spec(gib: u32) -> DriveSpec {
    let geometry = Geometry {
        channels: 8,
        dies_per_channel: 4,
        planes: 2,
        page_bytes: 16384,
        pages_per_block: 48,
        bits_per_cell: 3,
        superblocks: gib * 21,
    };
    DriveSpec {
        geometry,
        timing: Timing {
            read_ns: [60_000; 4],
            program_ns: 1_700_000,
            erase_ns: 5_000_000,
            unit_transfer_ns: 5_427,
            command_ns: 300,
            suspend_ns: Some(20_000),
            deferral_limit_ns: 20_000_000,
        },
        host: HostSpec {
            queue_limit: None,
            command_ns: 6_000,
            unit_link_ns_x1024: 1_170 * 1024,
            half_duplex: false,
            cores: 4,
            read_core_ns: 1_000,
            write_core_ns: 1_000,
        },
        user_bytes: geometry.raw_bytes() / 1000 * 875 / 4096 * 4096,
        buffer_bytes: 16 << 20,
        reserve: 4,
        power_loss_protection: true,
        logical_block_bytes: 512,
        erase_every: 16,
        options: DriveOptions::default(),
    }
}

fn unit(n: u64, units: u64) -> u64 {
    ((u128::from(mix(3, n)) * u128::from(units)) >> 64) as u64
}

/// A write, with those to come asked for in time.
fn random_write(ftl: &mut Ftl<Greedy>, n: u64, units: u64) {
    ftl.map().expect_logical(unit(n + 32, units) as u32);
    ftl.map().expect_overwrite(unit(n + 16, units) as u32);
    ftl.write(unit(n, units) as u32, &mut NoFlash);
}

fn closed_loop(
    drive: &mut Drive<Ftl<Greedy>>,
    units: u64,
    op: Op,
    depth: u64,
    ios: u64,
    first: u64,
) {
    let start = drive.idle_at() + 1;
    let mut workers: BinaryHeap<_> = (0..depth).map(|w| Reverse((start, w))).collect();
    for n in first..first + ios {
        let mut top = workers.peek_mut().unwrap();
        let Reverse((now, worker)) = *top;
        drive.ftl().map().expect_logical(unit(n + 32, units) as u32);
        if op == Op::Write {
            drive
                .ftl()
                .map()
                .expect_overwrite(unit(n + 16, units) as u32);
        }
        let done = drive.submit(now, op, unit(n, units) * 4096, 4096);
        *top = Reverse((done, worker));
    }
}

/// CPU time of this thread: other work on the machine takes wall time, not this.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

#[expect(clippy::print_stdout, reason = "a bench prints")]
fn timed(what: &str, ios: u64, run: impl FnOnce()) {
    let start = cpu_seconds();
    run();
    let seconds = cpu_seconds() - start;
    println!(
        "{what}: {:.2} M/s ({:.0} ns)",
        ios as f64 / seconds / 1e6,
        seconds * 1e9 / ios as f64
    );
}

#[expect(clippy::print_stdout, reason = "a bench prints")]
fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .map(|a| a.parse::<u32>().expect("a number"));
    let gib = arguments.next().unwrap_or(64);
    let depth = u64::from(arguments.next().unwrap_or(32));
    let spec = spec(gib);
    let units = spec.user_bytes / 4096;
    let g = spec.geometry;
    let mut ftl = Ftl::new(
        units as u32,
        g.superblocks,
        g.units_per_superblock(),
        4,
        Greedy,
    );
    timed("map: sequential fill", units, || {
        (0..units).for_each(|u| {
            ftl.write(u as u32, &mut NoFlash);
        });
    });
    timed("map: random, first overwrites", 3 * units, || {
        (0..3 * units).for_each(|n| random_write(&mut ftl, n, units));
    });
    ftl.reset_counts();
    timed("map: random, steady", units, || {
        (3 * units..4 * units).for_each(|n| random_write(&mut ftl, n, units));
    });
    println!(
        "write amplification {:.3}",
        ftl.counts().write_amplification().unwrap()
    );
    drop(ftl);
    let mut drive = Drive::new(&spec, Greedy);
    timed("drive: sequential fill, 128 KiB", units / 32, || {
        let mut now = 0;
        for i in 0..units / 32 {
            now = drive.submit(now, Op::Write, i * 131_072, 131_072);
        }
    });
    closed_loop(&mut drive, units, Op::Write, depth, 3 * units, 0);
    timed("drive: random writes, steady", units, || {
        closed_loop(&mut drive, units, Op::Write, depth, units, 3 * units);
    });
    timed("drive: random reads", units, || {
        closed_loop(&mut drive, units, Op::Read, depth, units, 0);
    });
    for (what, read_pct) in [("writes", 0), ("reads", 100), ("70/30", 70)] {
        let workload = workload(units, read_pct, depth);
        timed(&format!("runner: random {what}"), units, || {
            run(&mut drive, &workload, &mut Unattended, Options::default()).expect("a run");
        });
    }
}

/// Random 4 KiB I/Os over the whole drive, one worker for each I/O in flight.
fn workload(units: u64, read_pct: u8, workers: u64) -> Workload {
    let text = json!({
        "seed": 1, "interval_ns": 1_000_000_000, "ramp_ns": 0,
        "streams": [{
            "name": "main", "ops": {"mix": {"read_pct": read_pct}}, "block": [{"bytes": 4096, "weight": 1}],
            "pattern": "uniform", "span": {"start": 0, "length": units * 4096}, "workers": workers, "depth": 1,
            "engine": "sync", "batch": null, "polled": false, "arrival": {"closed": {"think_ns": 0}},
            "compressible_pct": 0, "direct": true, "dsync": false, "flush_every": null, "cpus": [],
            "stop": {"time_ns": null, "bytes": null, "ios": units, "span_once": false}, "log_ios": false
        }]
    });
    serde_json::from_value(text).expect("a workload")
}
