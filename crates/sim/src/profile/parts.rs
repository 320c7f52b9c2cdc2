//! The parts that every drive has: link, controller, buffer, and a medium with its way of winning space back.

use serde::{Deserialize, Serialize};

use super::Figure;

/// How the host talks to the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Native command queuing of 32, data one way at a time.
    Sata,
    /// AHCI over PCI Express: 32 commands.
    Ahci,
    /// NVM Express: as many commands as matter.
    Nvme,
}

/// The way to the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// How the host talks to the drive.
    pub protocol: Figure<Protocol>,
    /// What the link carries in one direction after its framing, in decimal megabytes a second.
    pub bandwidth_mb_s: Figure<f64>,
    /// The host's software and the command's way to the device and back, in microseconds.
    pub command_us: Figure<f64>,
    /// What each command takes of the link beside its data, in microseconds: frames to and fro on SATA and AHCI. Absent: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turnaround_us: Option<Figure<f64>>,
}

/// The controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// Cores that take commands.
    pub cores: Figure<u32>,
    /// Core time of a read command, in microseconds.
    pub read_us: Figure<f64>,
    /// Core time of a write command, in microseconds.
    pub write_us: Figure<f64>,
    /// Commands that the drive holds at once; others wait in the host. Absent: 32 on SATA and AHCI, no bound on `NVMe`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<Figure<u32>>,
    /// What crosses the controller between link, buffer and channels in decimal megabytes a second: data that the host writes
    /// and data that collection moves. Absent: no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_mb_s: Option<Figure<f64>>,
    /// Core time of each unit of 4 KiB that collection moves, in microseconds: the same cores take the host's commands. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub move_us: Option<Figure<f64>>,
    /// How far it reads ahead of a stream that is read in order, in KiB. Absent: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_kib: Option<Figure<u32>>,
    /// Streams that it follows at once to read ahead; with others the one used longest ago is forgotten. Absent: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_streams: Option<Figure<u32>>,
}

/// The write buffer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// Size in MiB.
    pub size_mib: Figure<f64>,
    /// Whether what it holds survives a loss of power.
    pub power_loss_protection: Figure<bool>,
    /// Whether a write is complete when it is in the buffer; else when it is in the medium. Absent: it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<Figure<bool>>,
    /// What a write that must be in the medium waits for its map entry to be safe after its program, in microseconds. Absent: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_us: Option<Figure<f64>>,
    /// Mapping units that it holds in part until the host has written the rest of them; of others the rest is read from the medium. So
    /// many streams of small writes in order cost what large writes do. Absent: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_contexts: Option<Figure<u32>>,
}

/// The flash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flash {
    /// Generation of its dies, by its name in the table (`generations.toml`). Absent: of none that is listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nand: Option<Figure<String>>,
    /// Channels between controller and flash.
    pub channels: Figure<u32>,
    /// Dies on each channel.
    pub dies_per_channel: Figure<u32>,
    /// Planes of a die.
    pub planes: Figure<u32>,
    /// Size of a page in KiB.
    pub page_kib: Figure<u32>,
    /// Pages of a block.
    pub pages_per_block: Figure<u32>,
    /// Blocks of a plane.
    pub blocks_per_plane: Figure<u32>,
    /// Bits of a cell; so many pages are programmed in one shot.
    pub bits_per_cell: Figure<u32>,
    /// Array read of each page type in microseconds, lower first; the last serves those beyond.
    pub read_us: Figure<Vec<f64>>,
    /// One-shot program of a word line of all planes, in microseconds.
    pub program_us: Figure<f64>,
    /// Erase of a block of all planes, in milliseconds.
    pub erase_ms: Figure<f64>,
    /// Transfers a second on the bus of a channel, one byte each, in millions.
    pub bus_mt_s: Figure<f64>,
    /// Spare and check bytes that travel with the data, in percent.
    pub bus_overhead_pct: Figure<f64>,
    /// Bus time of a command, in microseconds.
    pub command_us: Figure<f64>,
    /// What a read adds when it interrupts a program or erase, in microseconds; absent if the flash cannot suspend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend_us: Option<Figure<f64>>,
    /// One pulse of a program with its verify, in microseconds: a program is suspended between two. Absent: anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pulse_us: Option<Figure<f64>>,
    /// What a read adds when it interrupts an erase, in microseconds. Absent: as a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erase_suspend_us: Option<Figure<f64>>,
    /// How long what was suspended runs before it can be again, in microseconds. Absent: no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_us: Option<Figure<f64>>,
    /// How often one program or erase can be suspended; then it runs to its end. Absent: as often as reads come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspends: Option<Figure<u32>>,
    /// By how much reads may push programs and erases out before these get a turn, in milliseconds.
    pub deferral_limit_ms: Figure<f64>,
}

/// How space is won back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collection {
    /// Which superblock is collected next.
    pub rule: Figure<Rule>,
    /// Share of the flash that is kept free for writing, in percent; what the user cannot address is not all spare.
    pub reserve_pct: Figure<f64>,
    /// Where it writes what it moves. Absent: `separate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<Figure<Streams>>,
    /// Array reads that are under way at once: the next is begun when what one brought has been moved. Absent: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_at_once: Option<Figure<u32>>,
    /// Free space between its low mark, where it begins to work, and its high mark, where it rests, in KiB. Not scaled. Absent: it
    /// moves evenly what each write owes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marks_kib: Option<Figure<u32>>,
    /// What it moves at once, in front of what the host writes, in KiB; with `marks_kib` only. Not scaled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum_kib: Option<Figure<u32>>,
    /// What it moves of what each write owes while it works, in percent; with `marks_kib` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catch_up_pct: Option<Figure<u32>>,
}

/// Where collection writes what it moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Streams {
    /// To superblocks of its own, two write frontiers: data that lasts gathers there.
    Separate,
    /// Behind what the host writes, one write frontier: superblocks hold both.
    Merged,
}

/// Which superblock is collected next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rule {
    /// The one with the fewest valid units.
    Greedy,
    /// The best of so many drawn at random; 1 is random.
    DChoices(u32),
    /// The one closed longest ago.
    Fifo,
    /// By age and valid share.
    CostBenefit,
}

/// A medium that is written where it is, without erase and collection, as 3D `XPoint`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Xpoint {
    /// Channels between controller and dies.
    pub channels: Figure<u32>,
    /// Dies on each channel; 4 KiB lie on one die.
    pub dies_per_channel: Figure<u32>,
    /// Size of a die in MiB.
    pub die_mib: Figure<u32>,
    /// Reading 4 KiB, in microseconds.
    pub read_us: Figure<f64>,
    /// Writing 4 KiB, in microseconds.
    pub write_us: Figure<f64>,
    /// Transfers a second on the bus of a channel, one byte each, in millions.
    pub bus_mt_s: Figure<f64>,
    /// Check bytes that travel with the data, in percent.
    pub bus_overhead_pct: Figure<f64>,
    /// Bus time of a command, in microseconds.
    pub command_us: Figure<f64>,
    /// By how much reads may push writes out before these get a turn, in milliseconds.
    pub deferral_limit_ms: Figure<f64>,
}
