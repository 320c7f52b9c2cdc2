//! Pairs of figures that cannot both be true of one drive. Such a profile is refused, and the error names both.

use super::check::Check;
use super::making::COMMAND_SLOTS;
use super::{
    Flash, Medium, Power, Profile, ProfileError, Protocol, SlcCache, SlcMode, Thermal, Xpoint,
};
use crate::profile::spec::UNIT_BYTES;

/// A figure with its field and its unit, for an error message.
struct Named<'a> {
    field: &'a str,
    value: f64,
    unit: &'a str,
}

fn named<'a>(field: &'a str, value: f64, unit: &'a str) -> Named<'a> {
    Named { field, value, unit }
}

/// Bandwidth of 6 Gb/s after 8b/10b coding.
const SATA_MB_S: f64 = 600.0;
/// Sixteen lanes of PCI Express 7.0 at 128 GT/s, before framing.
const PCIE_MB_S: f64 = 256_000.0;
/// The fastest mode of ONFI 6.0 and Toggle 6.0.
const BUS_MT_S: f64 = 4_800.0;
/// How many times the read time of a page may exceed that of one above it: codings sense one page of a word line at up to three
/// levels, and another at two.
const PAGE_RATIO: f64 = 2.0;

/// Smaller numbers are written with an exponent.
const LEAST_WITHOUT_EXPONENT: f64 = 1e-4;

/// Formats a number with three decimals, or with enough for about three significant digits if it is small.
fn short(value: f64) -> String {
    let size = value.abs();
    if size > 0.0 && size < LEAST_WITHOUT_EXPONENT {
        let text = format!("{value:.2e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", without_zeros(digits));
    }
    let places = if size > 0.0 && size < 0.1 { 6 } else { 3 };
    without_zeros(&format!("{value:.places$}")).to_owned()
}

fn without_zeros(text: &str) -> &str {
    text.trim_end_matches('0').trim_end_matches('.')
}

/// Checks that one figure is at most another, in the same unit.
fn at_most(low: &Named<'_>, high: &Named<'_>, why: &str) -> Check {
    if low.value <= high.value {
        return Ok(());
    }
    let (mut less, mut more) = (short(high.value), short(low.value));
    if less == more {
        (less, more) = (high.value.to_string(), low.value.to_string());
    }
    let (limit, unit) = (high.field, high.unit);
    let why = format!("contradicts {limit} of {less} {unit}: {why}");
    Err(ProfileError::new(
        low.field,
        format!("{more} {}", low.unit),
        why,
    ))
}

impl Profile {
    pub(super) fn check_contradictions(&self) -> Check {
        match self.medium()? {
            Medium::Flash(flash, _) => {
                flash.check_against_itself()?;
                self.check_space_against_flash(flash)?;
                flash.check_generation()?;
            }
            Medium::Xpoint(xpoint) => xpoint.check_against_itself()?,
        }
        self.check_link()?;
        self.check_commands()?;
        self.check_memory()?;
        self.check_parity()?;
        if let (Some(power), Some(thermal)) = (&self.power, &self.thermal) {
            power.check_against_heat(thermal)?;
        }
        Ok(())
    }

    /// A link carries at least the bandwidth of one die. SATA carries no more than its bit rate allows.
    fn check_link(&self) -> Check {
        let link = named(
            "link.bandwidth_mb_s",
            self.link.bandwidth_mb_s.value,
            "MB/s",
        );
        let (carried, why) = match self.link.protocol.value {
            Protocol::Sata => (
                named("link.protocol", SATA_MB_S, "MB/s (of sata)"),
                "6 Gb/s after 8b/10b coding are no more",
            ),
            Protocol::Ahci | Protocol::Nvme => (
                named("link.protocol", PCIE_MB_S, "MB/s (of PCI Express)"),
                "16 lanes of PCIe 7.0 are no more",
            ),
        };
        at_most(&link, &carried, why)?;
        let (field, bus_mt_s) = match self.medium()? {
            Medium::Flash(flash, _) => ("flash.bus_mt_s", &flash.bus_mt_s),
            Medium::Xpoint(xpoint) => ("xpoint.bus_mt_s", &xpoint.bus_mt_s),
        };
        at_most(
            &named(field, bus_mt_s.value, "MT/s"),
            &named("the fastest bus", BUS_MT_S, "MT/s"),
            "ONFI 6.0 and Toggle 6.0 are no faster",
        )?;
        let one_die = match self.medium()? {
            Medium::Flash(flash, _) => flash.programmed_mb_s(),
            Medium::Xpoint(xpoint) => f64::from(UNIT_BYTES) / xpoint.write_us.value,
        };
        at_most(
            &named("the rate at which one die is programmed", one_die, "MB/s"),
            &link,
            "dies beside each other would be of no use",
        )
    }

    /// The queue of SATA or AHCI has only this many tags.
    fn check_commands(&self) -> Check {
        let held = self.controller.commands.as_ref();
        let Some(held) = held.filter(|_| self.link.protocol.value != Protocol::Nvme) else {
            return Ok(());
        };
        at_most(
            &named("controller.commands", f64::from(held.value), "commands"),
            &named(
                "link.protocol",
                f64::from(COMMAND_SLOTS),
                "commands (of sata and ahci)",
            ),
            "it has a tag for each",
        )
    }

    fn check_parity(&self) -> Check {
        let mapping = self.mapping.as_ref();
        let Some(dies) = mapping.and_then(|mapping| mapping.parity_dies.as_ref()) else {
            return Ok(());
        };
        let name = "mapping.parity_dies";
        at_most(
            &named(name, f64::from(dies.value), "dies"),
            &named(
                "flash.channels and dies_per_channel",
                f64::from(self.geometry()?.dies()),
                "dies",
            ),
            "each word line of a stripe lies on another die",
        )?;
        let least = dies.value >= 3;
        super::check::require(
            least,
            name,
            dies.value,
            "must be 3 or more: data, and its parity",
        )
    }

    /// The buffer is smaller than the drive, and the cached part of the map smaller than the map.
    fn check_memory(&self) -> Check {
        let mib = f64::from(1 << 20);
        let capacity = self.capacity_bytes.value as f64;
        let buffer = named("buffer.size_mib", self.buffer.size_mib.value, "MiB");
        let drive = named("capacity_bytes", capacity / mib, "MiB");
        at_most(&buffer, &drive, "a buffer is smaller than its drive")?;
        let mapping = self.mapping.as_ref();
        let changes = mapping.and_then(|m| m.changes_mib.as_ref());
        let Some(cached) = mapping.and_then(|m| m.cache_mib.as_ref()) else {
            return changes.map_or(Ok(()), |changes| {
                let why =
                    "is a part of mapping.cache_mib, which is missing: all of the map is in memory";
                Err(ProfileError::new("mapping.changes_mib", changes.value, why))
            });
        };
        let unit = self.mapping_unit_bytes();
        let map_mib = capacity / f64::from(unit) * 4.0 / mib;
        let cached = named("mapping.cache_mib", cached.value, "MiB");
        let of = match unit {
            UNIT_BYTES => "a map (of capacity_bytes)",
            _ => "a map (of capacity_bytes and mapping.unit_kib)",
        };
        let map = named(of, map_mib, "MiB");
        at_most(
            &cached,
            &map,
            "no part of the map is in flash: leave [mapping] out",
        )?;
        self.check_room_for_map(capacity / f64::from(unit) * 4.0)?;
        let Some(changes) = changes else {
            return Ok(());
        };
        let changes = named("mapping.changes_mib", changes.value, "MiB");
        at_most(&changes, &cached, "it is a part of that memory")
    }

    /// The reserve must have room for a map in flash, which lies where no data does.
    fn check_room_for_map(&self, map_bytes: f64) -> Check {
        let Some(collection) = &self.collection else {
            return Ok(());
        };
        let map_pct = 100.0 * map_bytes / self.geometry()?.raw_bytes() as f64;
        let reserve = collection.reserve_pct.value;
        if reserve >= map_pct {
            return Ok(());
        }
        let map = short(map_pct);
        let why = format!(
            "contradicts mapping.cache_mib: the map, {map} % of the flash, lies in superblocks that are kept free of data"
        );
        Err(ProfileError::new("collection.reserve_pct", reserve, why))
    }

    fn check_space_against_flash(&self, flash: &Flash) -> Check {
        let raw = self.geometry()?.raw_bytes() as f64;
        if let Some(slc) = &self.slc_cache {
            self.check_cache(slc, flash, raw)?;
        }
        let spare_pct = 100.0 * (1.0 - self.capacity_bytes.value as f64 / raw);
        let marks_kib = self.marks().map_or(0, |marks| 4 * marks.apart_units);
        at_most(
            &named("collection.marks_kib", f64::from(marks_kib), "KiB"),
            &named(
                "buffer.size_mib, in all",
                self.buffer.size_mib.value * 1024.0,
                "KiB",
            ),
            "what comes in while collection works up to its high mark waits in the buffer",
        )?;
        let quantum_kib = self.marks().map_or(0, |marks| 4 * marks.quantum_units);
        at_most(
            &named("collection.quantum_kib", f64::from(quantum_kib), "KiB"),
            &named("collection.marks_kib", f64::from(marks_kib), "KiB"),
            "one quantum would pass the high mark from below the low one",
        )?;
        let Some(idle) = &self.idle else {
            return Ok(());
        };
        at_most(
            &named("idle.free_pct", idle.free_pct.value, "%"),
            &named("the spare (of capacity_bytes)", spare_pct, "%"),
            "a full drive never has so much free",
        )
    }

    fn check_cache(&self, slc: &SlcCache, flash: &Flash, raw: f64) -> Check {
        let size = named("slc_cache.size_gb", slc.size_gb.value, "GB");
        let capacity = self.capacity_bytes.value as f64 / 1e9;
        let drive = named("capacity_bytes", capacity, "GB");
        at_most(&size, &drive, "a cache is smaller than its drive")?;
        if let (SlcMode::Dynamic, Some(pct)) = (slc.mode.value, &slc.pct_of_empty) {
            let bits = f64::from(flash.bits_per_cell.value);
            let most = raw / bits * f64::from(pct.value) / 100.0 / 1e9;
            let empty = named("slc_cache.pct_of_empty of an empty drive", most, "GB");
            at_most(&size, &empty, "the cache never gets so large")?;
        }
        at_most(
            &named("slc_cache.program_us", slc.program_us.value, "us"),
            &named("flash.program_us", flash.program_us.value, "us"),
            "one bit a cell is programmed no slower than all of them",
        )?;
        at_most(
            &named("slc_cache.read_us", slc.read_us.value, "us"),
            &named("flash.read_us", flash.slowest_read_us(), "us"),
            "one bit a cell is read no slower than all of them",
        )?;
        at_most(
            &named("slc_cache.read_us", slc.read_us.value, "us"),
            &named("slc_cache.program_us", slc.program_us.value, "us"),
            "a program reads what it has written, more than once",
        )?;
        at_most(
            &named(
                "the transfer of a page of all planes",
                flash.transfer_us(1),
                "us",
            ),
            &named("slc_cache.program_us", slc.program_us.value, "us"),
            "a program is not faster than its transfer (flash.bus_mt_s)",
        )
    }
}

impl Flash {
    fn check_against_itself(&self) -> Check {
        let program = named("flash.program_us", self.program_us.value, "us");
        let bits = self.bits_per_cell.value;
        at_most(
            &named(
                "the transfer of a word line of all planes",
                self.transfer_us(bits),
                "us",
            ),
            &program,
            "a program is not faster than its transfer (flash.bus_mt_s)",
        )?;
        at_most(
            &named("flash.read_us", self.slowest_read_us(), "us"),
            &program,
            "a program reads what it has written, more than once",
        )?;
        let pages = named(
            "flash.read_us",
            self.read_us.value.len() as f64,
            "page types",
        );
        let bits = named("flash.bits_per_cell", f64::from(bits), "bits");
        at_most(&pages, &bits, "a word line has one page for each bit")?;
        if self.read_us.value.len() > 1 {
            at_most(&bits, &pages, "name one for each, or one for all")?;
        }
        self.check_page_order()?;
        let erase = named("flash.erase_ms", self.erase_ms.value * 1e3, "us");
        let why = "an erase takes a whole block through all its levels, a program one word line";
        at_most(&program, &erase, why)?;
        let Some(suspend) = &self.suspend_us else {
            return Ok(());
        };
        let suspend = named("flash.suspend_us", suspend.value, "us");
        at_most(&suspend, &program, "to wait for its end would be faster")?;
        let own = |us: f64| named("flash.erase_suspend_us", us, "us");
        let of_erase = self.erase_suspend_us.as_ref().map(|us| own(us.value));
        let of_erase = of_erase.as_ref().unwrap_or(&suspend);
        at_most(of_erase, &erase, "to wait for its end would be faster")?;
        if let Some(pulse) = &self.pulse_us {
            let pulse = named("flash.pulse_us", pulse.value, "us");
            at_most(&pulse, &program, "a program has at least one pulse")?;
        }
        if let Some(resume) = &self.resume_us {
            let resume = named("flash.resume_us", resume.value, "us");
            at_most(&resume, &program, "it would never be suspended twice")?;
        }
        let limit = named(
            "flash.deferral_limit_ms",
            self.deferral_limit_ms.value * 1e3,
            "us",
        );
        at_most(&suspend, &limit, "no read could ever suspend anything")
    }

    fn check_page_order(&self) -> Check {
        let mut slowest = 0.0_f64;
        for &us in &self.read_us.value {
            at_most(
                &named("flash.read_us of a lower page", slowest, "us"),
                &named(
                    "twice flash.read_us of a page above it",
                    PAGE_RATIO * us,
                    "us",
                ),
                "the lower page comes first",
            )?;
            slowest = slowest.max(us);
        }
        Ok(())
    }

    fn slowest_read_us(&self) -> f64 {
        self.read_us.value.iter().copied().fold(0.0, f64::max)
    }

    /// Program bandwidth: bytes of a word line of all planes in its program time, in MB/s.
    fn programmed_mb_s(&self) -> f64 {
        let pages = self.bits_per_cell.value * self.planes.value;
        f64::from(pages * self.page_kib.value * 1024) / self.program_us.value
    }

    /// Bus time of pages of all planes, in us.
    fn transfer_us(&self, pages: u32) -> f64 {
        let bytes = f64::from(pages * self.planes.value * self.page_kib.value * 1024);
        bytes * (1.0 + self.bus_overhead_pct.value / 100.0) / self.bus_mt_s.value
    }
}

impl Xpoint {
    fn check_against_itself(&self) -> Check {
        let overhead = 1.0 + self.bus_overhead_pct.value / 100.0;
        let transfer = f64::from(UNIT_BYTES) * overhead / self.bus_mt_s.value;
        at_most(
            &named("the transfer of 4 KiB", transfer, "us"),
            &named("xpoint.write_us", self.write_us.value, "us"),
            "a write is not faster than its transfer (xpoint.bus_mt_s)",
        )
    }
}

impl Power {
    fn check_against_heat(&self, thermal: &Thermal) -> Check {
        let Some(&highest) = self.states_w.as_ref().and_then(|s| s.value.first()) else {
            return Ok(());
        };
        let limit = named("power.states_w", highest, "W");
        let why = "a hot drive is allowed no more than a cool one";
        thermal.throttle.iter().try_for_each(|point| {
            let cap = named("thermal.throttle.cap_w", point.cap_w.value, "W");
            at_most(&cap, &limit, why)
        })?;
        thermal.graded.iter().try_for_each(|graded| {
            let most = named("thermal.graded.from_w", graded.from_w.value, "W");
            at_most(&most, &limit, why)
        })
    }
}
