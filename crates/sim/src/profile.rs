//! What a drive is made of, as a TOML file: physical parameters only, each with its unit in the key and its source beside it.
//!
//! ```
//! use sim::profile::{Profile, Size};
//! # let text = include_str!("../../../python/ssdlab/profiles/tiny-test.toml");
//! let profile = Profile::parse(text)?;
//! let spec = profile.spec(Size::default())?;
//! assert_eq!(spec.user_bytes, 16 << 30);
//! # Ok::<(), sim::profile::ProfileError>(())
//! ```

mod check;
mod scaling;

use serde::{Deserialize, Serialize};

use crate::drive::DriveSpec;
use crate::host::HostSpec;
use crate::nand::{Geometry, Timing, UNIT_BYTES};
use crate::options::DriveOptions;

pub use scaling::Size;

/// A profile that cannot be, with the field and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {value}: {why}")]
pub struct ProfileError {
    /// The field, with the tables it is in: `flash.planes`.
    pub field: String,
    /// Its value.
    pub value: String,
    /// What is wrong with it.
    pub why: String,
}

impl ProfileError {
    pub(crate) fn new(field: &str, value: impl std::fmt::Display, why: impl Into<String>) -> Self {
        Self {
            field: field.to_owned(),
            value: value.to_string(),
            why: why.into(),
        }
    }
}

/// Where a figure comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The vendor says so.
    DataSheet,
    /// Somebody measured it on the drive.
    Measurement,
    /// It follows from how the thing works.
    Physics,
    /// Remembered, not looked up.
    Recalled,
    /// Chosen so that the model meets something else that is known.
    Fitted,
}

/// A figure and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure<T> {
    /// In the unit that the key ends with.
    pub value: T,
    /// Where it comes from.
    pub source: Source,
    /// More about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A drive's profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Name by which it is asked for; carries the capacity unless it is a generic one.
    pub name: String,
    /// Other, shorter names.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// One line on what it stands for.
    pub about: String,
    /// Bytes that the user can address.
    pub capacity_bytes: Figure<u64>,
    /// Unit of offsets and lengths.
    pub logical_block_bytes: Figure<u32>,
    /// The way to the host.
    pub link: Link,
    /// The controller.
    pub controller: Controller,
    /// The write buffer.
    pub buffer: Buffer,
    /// The flash.
    pub flash: Flash,
    /// How space is won back.
    pub collection: Collection,
}

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
}

/// The write buffer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// Size in MiB.
    pub size_mib: Figure<f64>,
    /// Whether what it holds survives a loss of power.
    pub power_loss_protection: Figure<bool>,
}

/// The flash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flash {
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

/// Commands that a SATA or AHCI device holds at once.
const COMMAND_SLOTS: u32 = 32;

impl Profile {
    /// Reads a profile and checks it at its own size.
    ///
    /// # Errors
    /// TOML that is none, an unknown or missing key, a value that cannot be.
    pub fn parse(text: &str) -> Result<Self, ProfileError> {
        let profile: Self = toml::from_str(text).map_err(|error| of_toml(text, &error))?;
        profile.spec(Size::default())?;
        Ok(profile)
    }

    /// The parts of a drive of this profile at a size.
    ///
    /// # Errors
    /// A value that cannot be, or a size that this profile cannot have.
    pub fn spec(&self, size: Size) -> Result<DriveSpec, ProfileError> {
        self.check()?;
        let scaled = self.scaled(size)?;
        let spec = DriveSpec {
            geometry: scaled.geometry,
            timing: self.timing(),
            host: self.host(),
            user_bytes: scaled.user_bytes,
            buffer_bytes: (self.buffer.size_mib.value * f64::from(1 << 20)) as u64,
            reserve: scaled.reserve,
            power_loss_protection: self.buffer.power_loss_protection.value,
            logical_block_bytes: self.logical_block_bytes.value,
            erase_every: scaled.erase_every,
            options: DriveOptions::default(),
        };
        self.check_spec(&spec)?;
        Ok(spec)
    }

    /// The flash as it is in the drive, before any scaling.
    pub fn geometry(&self) -> Geometry {
        let flash = &self.flash;
        Geometry {
            channels: flash.channels.value,
            dies_per_channel: flash.dies_per_channel.value,
            planes: flash.planes.value,
            page_bytes: flash.page_kib.value * 1024,
            pages_per_block: flash.pages_per_block.value,
            bits_per_cell: flash.bits_per_cell.value,
            superblocks: flash.blocks_per_plane.value,
        }
    }

    fn timing(&self) -> Timing {
        let flash = &self.flash;
        let reads = &flash.read_us.value;
        let bus_bytes = f64::from(UNIT_BYTES) * (1.0 + flash.bus_overhead_pct.value / 100.0);
        Timing {
            read_ns: std::array::from_fn(|page| ns(reads[page.min(reads.len() - 1)], 1e3)),
            program_ns: ns(flash.program_us.value, 1e3),
            erase_ns: ns(flash.erase_ms.value, 1e6),
            unit_transfer_ns: ns(bus_bytes / flash.bus_mt_s.value, 1e3),
            command_ns: ns(flash.command_us.value, 1e3),
            suspend_ns: flash.suspend_us.as_ref().map(|us| ns(us.value, 1e3)),
            deferral_limit_ns: ns(flash.deferral_limit_ms.value, 1e6),
        }
    }

    fn host(&self) -> HostSpec {
        let protocol = self.link.protocol.value;
        let unit_us = f64::from(UNIT_BYTES) / self.link.bandwidth_mb_s.value;
        HostSpec {
            queue_limit: (protocol != Protocol::Nvme).then_some(COMMAND_SLOTS),
            command_ns: ns(self.link.command_us.value, 1e3),
            unit_link_ns_x1024: ns(unit_us, 1e3 * 1024.0),
            half_duplex: protocol == Protocol::Sata,
            cores: self.controller.cores.value,
            read_core_ns: ns(self.controller.read_us.value, 1e3),
            write_core_ns: ns(self.controller.write_us.value, 1e3),
        }
    }
}

/// A time in whole ns. Addition, multiplication and rounding of IEEE numbers only: the same on every machine.
fn ns(value: f64, ns_per_unit: f64) -> u64 {
    (value * ns_per_unit).round() as u64
}

fn of_toml(text: &str, error: &toml::de::Error) -> ProfileError {
    let line = error
        .span()
        .map_or(0, |span| text[..span.start].matches('\n').count() + 1);
    ProfileError::new("profile", format!("not one (line {line})"), error.message())
}
