//! What simulating an I/O costs, of a drive in steady state and of the bare map under it.
//!
//! `speed GIB SPARE_MILLE SHRINK DEPTH` prints a JSON object per figure and round. Flash of `GIB` GiB in 21 superblocks a GiB, whose
//! blocks are `SHRINK` times smaller than those of a real drive (and their number as many times larger, so that a small drive has as
//! many as a large one); `SPARE_MILLE` thousandths of it are spare. `speed ... WHAT IOS` does only so many I/Os of one kind (`map`,
//! `fill`, `writes`, `reads`) after preparing the drive, for who counts instructions or memory.

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use sim::drive::Drive;
use sim::flash::Flash;
use sim::ftl::{Ftl, Greedy};
use sim::profile::spec::{DriveOptions, DriveSpec, Geometry, HostSpec, Pauses, Timing};
use sim::{Options, Outcome, Unattended, run};
use workload::Workload;
use workload::random::mix;

/// Flash that costs nothing.
struct NoFlash;

impl Flash for NoFlash {
    fn program_host(&mut self, _: u32, _: u32) {}
    fn read_for_move(&mut self, _: u32, _: u32) {}
    fn program_moved(&mut self, _: u32) {}
    fn erase(&mut self, _: u32) {}
}

/// What is simulated.
#[derive(Debug, Clone, Copy)]
struct Asked {
    gib: u32,
    spare_mille: u32,
    shrink: u32,
    depth: u32,
}

impl Asked {
    fn spec(self) -> DriveSpec {
        let geometry = Geometry {
            channels: 8,
            dies_per_channel: 4,
            planes: 2,
            page_bytes: 16384,
            pages_per_block: 48 / self.shrink,
            bits_per_cell: 3,
            superblocks: self.gib * 21 * self.shrink,
        };
        let kept = u64::from(1000 - self.spare_mille);
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
                pauses: Pauses::default(),
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
            user_bytes: geometry.raw_bytes() / 1000 * kept / 131_072 * 131_072,
            buffer_bytes: 16 << 20,
            reserve: 4,
            power_loss_protection: true,
            logical_block_bytes: 512,
            erase_every: 16 * self.shrink,
            options: DriveOptions::default(),
        }
    }

    /// I/Os over the whole drive in a closed loop, one worker for each in flight.
    fn workload(self, read_pct: u8, block_bytes: u32, pattern: &Value, ios: u64) -> Workload {
        let length = self.spec().user_bytes;
        let text = json!({
            "seed": 1, "interval_ns": 1_000_000_000, "ramp_ns": 0,
            "streams": [{
                "name": "main", "ops": {"mix": {"read_pct": read_pct}},
                "block": [{"bytes": block_bytes, "weight": 1}], "pattern": pattern,
                "span": {"start": 0, "length": length}, "workers": self.depth, "depth": 1,
                "engine": "sync", "batch": null, "polled": false, "arrival": {"closed": {"think_ns": 0}},
                "compressible_pct": 0, "direct": true, "dsync": false, "flush_every": null, "cpus": [],
                "stop": {"time_ns": null, "bytes": null, "ios": ios, "span_once": false}, "log_ios": false
            }]
        });
        serde_json::from_value(text).expect("a workload")
    }

    fn random(self, read_pct: u8, seed: u64, ios: u64) -> Workload {
        let mut workload = self.workload(read_pct, 4096, &json!("uniform"), ios);
        workload.seed = seed;
        workload
    }

    fn sequential(self, ios: u64) -> Workload {
        let mut one = self;
        one.depth = 1;
        one.workload(0, 131_072, &json!({"sequential": {"cursors": null}}), ios)
    }
}

fn go(drive: &mut Drive<Ftl<Greedy>>, workload: &Workload) -> Outcome {
    run(drive, workload, &mut Unattended, Options::default()).expect("a run")
}

/// A bare mapping loop: the map, its counts and the choice of victims, fed with addresses that are asked for ahead; no time passes.
struct MapLoop {
    ftl: Ftl<Greedy>,
    units: u64,
    n: u64,
}

impl MapLoop {
    fn filled(spec: &DriveSpec) -> Self {
        let units = spec.user_bytes / 4096;
        let mut ftl = Ftl::of_drive(spec, Greedy);
        for unit in 0..units {
            ftl.write(unit as u32, &mut NoFlash);
        }
        Self { ftl, units, n: 0 }
    }

    fn unit(&self, n: u64) -> u32 {
        ((u128::from(mix(3, n)) * u128::from(self.units)) >> 64) as u32
    }

    fn overwrite(&mut self, ios: u64) {
        for n in self.n..self.n + ios {
            self.ftl.map().expect_logical(self.unit(n + 32));
            self.ftl.map().expect_overwrite(self.unit(n + 16));
            self.ftl.write(self.unit(n), &mut NoFlash);
        }
        self.n += ios;
    }
}

/// CPU time of this thread: other work on the machine takes wall time, not this.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Most memory that this process has had, in bytes.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a process has a status");
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    kib.and_then(|kib| kib.parse::<u64>().ok())
        .map_or(0, |kib| kib * 1024)
}

#[expect(clippy::print_stdout, reason = "a bench prints")]
fn tell(what: &str, ios: u64, facts: &Value, work: impl FnOnce() -> Option<f64>) {
    let start = cpu_seconds();
    let amplification = work();
    let seconds = cpu_seconds() - start;
    let line = json!({
        "what": what, "ios": ios, "cpu_s": seconds, "ios_per_cpu_s": ios as f64 / seconds,
        "write_amplification": amplification, "drive": facts,
    });
    println!("{line}");
}

/// Overwrites of the whole drive after which collection is in its steady state.
const OVERWRITES: u64 = 3;
/// The figures are taken so often, in turns.
const ROUNDS: u32 = 7;

/// A drive in steady state.
fn overwritten(asked: Asked) -> Drive<Ftl<Greedy>> {
    let units = asked.spec().user_bytes / 4096;
    let mut drive = Drive::new(&asked.spec(), Greedy);
    go(&mut drive, &asked.sequential(units / 32));
    go(&mut drive, &asked.random(0, 1, OVERWRITES * units));
    drive
}

/// Rates of the bare map and of the drive in turns, so that the machine's moods hit all alike.
fn rates(asked: Asked) {
    let spec = asked.spec();
    let units = spec.user_bytes / 4096;
    let facts = json!({"user_units": units, "raw_units": spec.geometry.raw_bytes() / 4096});
    let mut map = MapLoop::filled(&spec);
    map.overwrite(OVERWRITES * units);
    let mut drive = overwritten(asked);
    let ios = units / 4;
    for round in 0..ROUNDS {
        map.ftl.reset_counts();
        tell("map", ios, &facts, || {
            map.overwrite(ios);
            map.ftl.counts().write_amplification()
        });
        for (what, read_pct) in [("writes", 0), ("reads", 100), ("70/30", 70)] {
            drive.reset_counts();
            // No run goes where another went.
            let seed = u64::from(round) * 256 + u64::from(read_pct) + 2;
            let workload = asked.random(read_pct, seed, ios);
            tell(what, ios, &facts, || {
                go(&mut drive, &workload);
                drive.ftl_counts().write_amplification()
            });
        }
    }
}

/// So many I/Os of one kind on a drive in steady state.
fn only(asked: Asked, what: &str, ios: u64) {
    let spec = asked.spec();
    let units = spec.user_bytes / 4096;
    match what {
        "map" => MapLoop::filled(&spec).overwrite(OVERWRITES * units + ios),
        "fill" => {
            go(&mut Drive::new(&spec, Greedy), &asked.sequential(ios));
        }
        "reads" => {
            let mut drive = Drive::new(&spec, Greedy);
            go(&mut drive, &asked.sequential(units / 32));
            go(&mut drive, &asked.random(100, 2, ios));
        }
        _ => {
            go(&mut overwritten(asked), &asked.random(0, 2, ios));
        }
    }
}

#[expect(clippy::print_stdout, reason = "a bench prints")]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: u32| {
        arguments
            .get(i)
            .map_or(default, |text| text.parse().expect("a number"))
    };
    let asked = Asked {
        gib: number(0, 64),
        spare_mille: number(1, 125),
        shrink: number(2, 1),
        depth: number(3, 32),
    };
    match arguments.get(4) {
        Some(what) => only(asked, what, number(5, 1).into()),
        None => rates(asked),
    }
    let raw_units = asked.spec().geometry.raw_bytes() / 4096;
    println!(
        "{}",
        json!({"what": "peak", "bytes": peak_bytes(), "raw_units": raw_units})
    );
}
