//! Small drives for tests, and loops of I/Os on them.
#![allow(dead_code, reason = "each test file takes what it needs")]
// Tests print the figures that they check.
#![allow(clippy::print_stdout)]

pub mod frontiers;
pub mod loops;
pub mod theory;
pub mod workloads;

use sim::drive::Drive;
use sim::ftl::{Ftl, Greedy};
use sim::profile::spec::{
    DriveOptions, DriveSpec, Geometry, HostSpec, Pauses, PowerSpec, RestSpec, Timing,
};

use loops::{random, sequential};

pub const MS: u64 = 1_000_000;
pub const SECOND: u64 = 1000 * MS;
pub const MIB: u64 = 1 << 20;
pub const UNIT: u64 = 4096;
/// User bytes are a multiple of this, so that sequential passes cover all of them.
const ROUND: u64 = MIB;

/// The amount of flash; all else is the same in all tests.
#[derive(Debug, Clone, Copy)]
pub struct Flash {
    pub channels: u32,
    pub dies_per_channel: u32,
    pub pages_per_block: u32,
    pub superblocks: u32,
    /// Part of the flash that the user can address, in percent.
    pub user_pct: u64,
}

/// 8 dies with 1.2 GiB of flash.
pub const SMALL: Flash = Flash {
    channels: 2,
    dies_per_channel: 4,
    pages_per_block: 6,
    superblocks: 800,
    user_pct: 87,
};

/// 16 dies with 2.3 GiB of flash.
pub const REVIEWED: Flash = Flash {
    channels: 4,
    dies_per_channel: 4,
    pages_per_block: 6,
    superblocks: 800,
    user_pct: 87,
};

impl Flash {
    /// A TLC drive with this flash on four lanes of `PCIe` 3; its blocks have a sixteenth of the real size.
    pub fn spec(self) -> DriveSpec {
        let geometry = Geometry {
            channels: self.channels,
            dies_per_channel: self.dies_per_channel,
            planes: 2,
            page_bytes: 16384,
            pages_per_block: self.pages_per_block,
            bits_per_cell: 3,
            superblocks: self.superblocks,
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
                pauses: Pauses::default(),
            },
            host: HostSpec {
                queue_limit: None,
                command_ns: 6_000,
                unit_link_ns_x1024: 1_170 * 1024,
                half_duplex: false,
                cores: 4,
                read_core_ns: 3_000,
                write_core_ns: 4_000,
            },
            user_bytes: geometry.raw_bytes() / 100 * self.user_pct / ROUND * ROUND,
            buffer_bytes: 8 * MIB,
            reserve: 4,
            power_loss_protection: true,
            logical_block_bytes: 512,
            erase_every: 16,
            options: DriveOptions::default(),
        }
    }
}

/// Power of such drives, in windows of 1 ms and without a limit.
pub const POWER: PowerSpec = PowerSpec {
    limit_windows: 1,
    window_ns: MS,
    idle_mw: 1_500,
    active_mw: 0,
    read_mw: 120,
    program_mw: 200,
    erase_mw: 100,
    unit_transfer_pj: 600_000,
    command_pj: 1_500_000,
    link_byte_pj: 120,
    cap_mw: None,
    thermal: None,
    rests: [None; RestSpec::MOST],
};

/// An erased drive of the reviewed kind, with `change` applied.
pub fn reviewed(change: impl FnOnce(&mut DriveSpec)) -> Drive<Ftl<Greedy>> {
    let mut spec = REVIEWED.spec();
    change(&mut spec);
    Drive::new(&spec, Greedy)
}

/// A drive with every unit written once, and nothing left in the buffer.
pub fn filled(spec: &DriveSpec) -> Drive<Ftl<Greedy>> {
    let mut drive = Drive::new(spec, Greedy);
    sequential(&mut drive, 0, spec.user_bytes);
    drive.wait_until(drive.idle_at());
    drive
}

/// A filled drive, overwritten at random until collection is in its steady state.
pub fn tortured(spec: &DriveSpec) -> Drive<Ftl<Greedy>> {
    let mut drive = filled(spec);
    random(
        &mut drive,
        spec.user_bytes,
        0,
        32,
        3 * spec.user_bytes / UNIT,
    );
    drive.reset_counts();
    drive
}

/// Latency of a read of one unit on an idle drive with the map in memory: the sum of its parts.
pub fn lone_read_ns(spec: &DriveSpec) -> u64 {
    let (host, timing) = (&spec.host, &spec.timing);
    let bus = timing.command_ns + timing.unit_transfer_ns;
    host.command_ns + host.read_core_ns + timing.read_ns[0] + bus + host.unit_link_ns_x1024 / 1024
}

/// Latency of a write of one unit at depth 1 while the buffer has room.
pub fn lone_write_ns(spec: &DriveSpec) -> u64 {
    let host = &spec.host;
    host.command_ns + host.write_core_ns + host.unit_link_ns_x1024 / 1024
}

/// Time to bring one unit to flash at once: its transfer, and the program of its word line as it is.
pub fn lone_program_ns(spec: &DriveSpec) -> u64 {
    let timing = &spec.timing;
    timing.command_ns + timing.unit_transfer_ns + timing.program_ns
}

/// Prints a figure beside the expected one, and fails if they differ by more than `share` of it.
pub fn assert_within(what: &str, got: f64, expected: f64, share: f64) {
    let off = got / expected - 1.0;
    println!(
        "{what}: {got:.4}, expected {expected:.4} ({:+.3} %)",
        off * 100.0
    );
    assert!(off.abs() <= share, "{what}: {got}, expected {expected}");
}
