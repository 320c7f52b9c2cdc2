//! The parts that every drive has: link, controller, write buffer, and a medium.

use serde::{Deserialize, Serialize};

use super::Figure;

/// The protocol between host and drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// SATA: a queue of 32 commands (NCQ), and data in one direction at a time.
    Sata,
    /// AHCI over PCI Express: a queue of 32 commands.
    Ahci,
    /// NVM Express: no bound on the queue that matters.
    Nvme,
}

/// The link to the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The protocol between host and drive.
    pub protocol: Figure<Protocol>,
    /// Bandwidth in one direction after framing, in decimal megabytes per second.
    pub bandwidth_mb_s: Figure<f64>,
    /// Time of the host's software and of the command's way to the device and back, in microseconds.
    pub command_us: Figure<f64>,
    /// Link time of each command beside its data, in microseconds: the frames of SATA and AHCI. Absent: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turnaround_us: Option<Figure<f64>>,
}

/// The controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// Cores that process commands.
    pub cores: Figure<u32>,
    /// Core time of a read command, in microseconds.
    pub read_us: Figure<f64>,
    /// Core time of a write command, in microseconds.
    pub write_us: Figure<f64>,
    /// Commands that the drive holds at once; further commands wait in the host. Absent: 32 on SATA and AHCI, no bound on
    /// `NVMe`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<Figure<u32>>,
    /// Bandwidth of the data path between link, buffer and channels, in decimal megabytes per second. Host writes and moves of
    /// garbage collection share it. Absent: no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_mb_s: Option<Figure<f64>>,
    /// Core time for each 4 KiB that garbage collection moves, in microseconds. The same cores process host commands. Absent:
    /// 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub move_us: Option<Figure<f64>>,
    /// How far the drive reads ahead of a sequential stream, in KiB. Absent: it does not read ahead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_kib: Option<Figure<u32>>,
    /// Sequential streams that read-ahead follows at once; a new stream replaces the least recently used. Absent: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_streams: Option<Figure<u32>>,
}

/// The write buffer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// Size in MiB.
    pub size_mib: Figure<f64>,
    /// Whether buffered data survives a loss of power.
    pub power_loss_protection: Figure<bool>,
    /// Whether a write completes when it is in the buffer, and not only when it is in the medium. Absent: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<Figure<bool>>,
    /// Time after the program until the map entry of a durable write is safe, in microseconds. Absent: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_us: Option<Figure<f64>>,
    /// Mapping units that the buffer holds in part until the host has written them whole. A unit that must give way is
    /// completed by a read of the medium. As many streams of small sequential writes therefore cost no more than large writes.
    /// Absent: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_contexts: Option<Figure<u32>>,
}

/// The flash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flash {
    /// Generation of the dies, by its name in `generations.toml`. Absent: none of those listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nand: Option<Figure<String>>,
    /// Channels between controller and flash.
    pub channels: Figure<u32>,
    /// Dies on each channel.
    pub dies_per_channel: Figure<u32>,
    /// Planes per die.
    pub planes: Figure<u32>,
    /// Page size in KiB.
    pub page_kib: Figure<u32>,
    /// Pages per block.
    pub pages_per_block: Figure<u32>,
    /// Blocks per plane.
    pub blocks_per_plane: Figure<u32>,
    /// Bits per cell, which is also the number of pages that one program writes.
    pub bits_per_cell: Figure<u32>,
    /// Array read time of each page type in microseconds, lower page first. The last one serves further page types.
    pub read_us: Figure<Vec<f64>>,
    /// Time to program a word line of all planes in one shot, in microseconds.
    pub program_us: Figure<f64>,
    /// Time to erase a block of all planes, in milliseconds.
    pub erase_ms: Figure<f64>,
    /// Transfers per second on the bus of a channel, one byte each, in millions.
    pub bus_mt_s: Figure<f64>,
    /// Spare and parity bytes that cross the bus with the data, in percent of it.
    pub bus_overhead_pct: Figure<f64>,
    /// Bus time of a command, in microseconds.
    pub command_us: Figure<f64>,
    /// Time that a suspending read adds to a program or erase, in microseconds. Absent: the flash cannot suspend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend_us: Option<Figure<f64>>,
    /// One program pulse with its verify, in microseconds; a program is suspended between two pulses. Absent: at any time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pulse_us: Option<Figure<f64>>,
    /// Time that a suspending read adds to an erase, in microseconds. Absent: the same as for a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erase_suspend_us: Option<Figure<f64>>,
    /// Least time that a resumed operation runs before it can be suspended again, in microseconds. Absent: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_us: Option<Figure<f64>>,
    /// How often one program or erase can be suspended; after that it runs to its end. Absent: no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspends: Option<Figure<u32>>,
    /// Delay that reads may add to waiting programs and erases before those get a turn, in milliseconds.
    pub deferral_limit_ms: Figure<f64>,
}

/// Garbage collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collection {
    /// Which superblock is collected next.
    pub rule: Figure<Rule>,
    /// Share of the flash that is kept free for writing, in percent. It is only a part of the spare area.
    pub reserve_pct: Figure<f64>,
    /// Write stream of the moved data. Absent: `separate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<Figure<Streams>>,
    /// Array reads of collection that are under way at once; the next starts when the data of one has been moved. Absent: no
    /// bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_at_once: Option<Figure<u32>>,
    /// Free space between the low mark, where collection starts, and the high mark, where it rests, in KiB. Does not scale.
    /// Absent: each write owes an even share of the moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marks_kib: Option<Figure<u32>>,
    /// How much collection moves at once, before the host's next write, in KiB; only with `marks_kib`. Does not scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum_kib: Option<Figure<u32>>,
    /// Part of its even share that each write owes while collection works, in percent; only with `marks_kib`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catch_up_pct: Option<Figure<u32>>,
}

/// Write stream of the data that collection moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Streams {
    /// Superblocks of its own, so that there are two write frontiers. Long-lived data gathers there.
    Separate,
    /// The host's stream, so that there is one write frontier. Superblocks hold both kinds of data.
    Merged,
}

/// Which superblock is collected next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rule {
    /// The one with the fewest valid units.
    Greedy,
    /// The one with the fewest valid units among this many random candidates; 1 is a random choice.
    DChoices(u32),
    /// The one closed longest ago.
    Fifo,
    /// The one with the best trade-off of age and valid units (cost-benefit).
    CostBenefit,
}

/// A medium such as 3D `XPoint`, which is written in place, without erase and garbage collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Xpoint {
    /// Channels between controller and dies.
    pub channels: Figure<u32>,
    /// Dies on each channel. A unit of 4 KiB lies on one die.
    pub dies_per_channel: Figure<u32>,
    /// Size of a die in MiB.
    pub die_mib: Figure<u32>,
    /// Time to read 4 KiB, in microseconds.
    pub read_us: Figure<f64>,
    /// Time to write 4 KiB, in microseconds.
    pub write_us: Figure<f64>,
    /// Transfers per second on the bus of a channel, one byte each, in millions.
    pub bus_mt_s: Figure<f64>,
    /// Parity bytes that cross the bus with the data, in percent of it.
    pub bus_overhead_pct: Figure<f64>,
    /// Bus time of a command, in microseconds.
    pub command_us: Figure<f64>,
    /// Delay that reads may add to waiting writes before those get a turn, in milliseconds.
    pub deferral_limit_ms: Figure<f64>,
}
