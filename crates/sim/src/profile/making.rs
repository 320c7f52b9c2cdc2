//! From a profile, in the units that people use, to the parts of a drive, in integers.

use super::{
    Figure, Flash, Graded, Housekeeping, Idle, IdleState, Medium, Placement, Power, Profile,
    ProfileError, Protocol, Size, SlcCache, SlcMode, SlcWhenFull, Spread, Streams, Thermal,
    Throttle, Xpoint,
};
use crate::profile::spec::{
    self, DriveOptions, DriveSpec, Geometry, GradedLimit, HostSpec, HousekeepingSpec, Layout,
    MapMemory, Pauses, PowerSpec, ReadAheadSpec, RestSpec, SlcSize, SlcSpec, SpreadSpec,
    ThermalSpec, ThrottlePoint, Timing, TrimRule, UNIT_BYTES, WearRule, WhenFull,
};

/// Commands that a SATA or AHCI device holds at once.
pub(super) const COMMAND_SLOTS: u32 = 32;
/// Blocks into which the geometry divides each die of a medium without blocks.
const PARTS_OF_DIE: u32 = 256;

impl Profile {
    /// Makes the parts of a drive at a size, without a check that they are possible.
    pub(super) fn make(&self, size: Size) -> Result<DriveSpec, ProfileError> {
        let medium = self.medium()?;
        let scaled = self.scaled(size)?;
        let timing = match medium {
            Medium::Flash(flash, _) => flash_timing(flash),
            Medium::Xpoint(xpoint) => xpoint_timing(xpoint),
        };
        Ok(DriveSpec {
            geometry: scaled.geometry,
            timing,
            host: self.host(),
            user_bytes: scaled.user_bytes,
            buffer_bytes: mib(self.buffer.size_mib.value),
            reserve: scaled.reserve,
            power_loss_protection: self.buffer.power_loss_protection.value,
            logical_block_bytes: self.logical_block_bytes.value,
            erase_every: scaled.erase_every,
            options: self.options(size.scale, scaled.geometry.superblocks),
        })
    }

    /// Returns the geometry of the medium before any scaling.
    ///
    /// # Errors
    /// The profile has no medium, or two.
    pub fn geometry(&self) -> Result<Geometry, ProfileError> {
        Ok(match self.medium()? {
            Medium::Flash(flash, _) => Geometry {
                channels: flash.channels.value,
                dies_per_channel: flash.dies_per_channel.value,
                planes: flash.planes.value,
                page_bytes: flash.page_kib.value * 1024,
                pages_per_block: flash.pages_per_block.value,
                bits_per_cell: flash.bits_per_cell.value,
                superblocks: flash.blocks_per_plane.value,
            },
            Medium::Xpoint(xpoint) => Geometry {
                channels: xpoint.channels.value,
                dies_per_channel: xpoint.dies_per_channel.value,
                planes: 1,
                page_bytes: UNIT_BYTES,
                pages_per_block: xpoint.die_mib.value,
                bits_per_cell: 1,
                superblocks: PARTS_OF_DIE,
            },
        })
    }

    fn host(&self) -> HostSpec {
        let protocol = self.link.protocol.value;
        let unit_us = f64::from(UNIT_BYTES) / self.link.bandwidth_mb_s.value;
        HostSpec {
            queue_limit: match &self.controller.commands {
                Some(commands) => Some(commands.value),
                None => (protocol != Protocol::Nvme).then_some(COMMAND_SLOTS),
            },
            command_ns: ns(self.link.command_us.value, 1e3),
            unit_link_ns_x1024: ns(unit_us, 1e3 * 1024.0),
            half_duplex: protocol == Protocol::Sata,
            cores: self.controller.cores.value,
            read_core_ns: ns(self.controller.read_us.value, 1e3),
            write_core_ns: ns(self.controller.write_us.value, 1e3),
        }
    }

    /// The marks of garbage collection, and how it works between them.
    pub(super) fn marks(&self) -> Option<spec::Marks> {
        let collection = self.collection.as_ref()?;
        let units = |kib: &Figure<u32>| kib.value / (UNIT_BYTES / 1024);
        Some(spec::Marks {
            apart_units: units(collection.marks_kib.as_ref()?),
            quantum_units: units(collection.quantum_kib.as_ref()?),
            catch_up_pct: collection.catch_up_pct.as_ref()?.value,
        })
    }

    /// Dies over which the pages of a stream alternate.
    fn stripe_dies(&self) -> u32 {
        let mapping = self.mapping.as_ref();
        mapping
            .and_then(|mapping| mapping.stripe_dies.as_ref())
            .map_or(1, |dies| dies.value)
    }

    /// Data of one map entry.
    pub(super) fn mapping_unit_bytes(&self) -> u32 {
        let mapping = self.mapping.as_ref();
        mapping
            .and_then(|mapping| mapping.unit_kib.as_ref())
            .map_or(UNIT_BYTES, |kib| kib.value.saturating_mul(1024))
    }

    /// Memory for a map that lies in flash, divided into room for pages and room for changed entries.
    fn map_memory(&self, scale: u32) -> Option<MapMemory> {
        let mapping = self.mapping.as_ref()?;
        let all_mib = mapping.cache_mib.as_ref()?.value;
        let changes = mapping.changes_mib.as_ref();
        let changes_mib = changes.map_or(all_mib / 2.0, |size| size.value);
        let scaled = |size_mib| mib(size_mib) / u64::from(scale.max(1));
        Some(MapMemory {
            page_bytes: scaled(all_mib - changes_mib),
            change_bytes: scaled(changes_mib),
        })
    }

    /// Whether collection writes to the host's stream.
    pub(super) fn merged_streams(&self) -> bool {
        let collection = self.collection.as_ref();
        let streams = collection.and_then(|collection| collection.streams.as_ref());
        streams.is_some_and(|streams| streams.value == Streams::Merged)
    }

    fn options(&self, scale: u32, superblocks: u32) -> DriveOptions {
        let mapping = self.mapping.as_ref();
        let placement = mapping.and_then(|mapping| mapping.placement.as_ref());
        let idle = self.idle.as_ref();
        DriveOptions {
            trim: self.trim.as_ref().map_or(TrimRule::Honoured, |t| t.value),
            write_through: self.buffer.write_cache.as_ref().is_some_and(|on| !on.value),
            commit_ns: self
                .buffer
                .commit_us
                .as_ref()
                .map_or(0, |us| ns(us.value, 1e3)),
            wear: self.wear.as_ref().map_or_else(WearRule::default, |wear| {
                let resting = wear.static_after_erases.as_ref();
                WearRule {
                    coldest_first: wear.dynamic.value,
                    move_resting_after: resting.map(|erases| erases.value),
                }
            }),
            idle_after_ns: idle.map(|idle| ns(idle.after_ms.value, 1e6)),
            idle_free_superblocks: idle.map_or(0, |idle| free_superblocks(idle, superblocks)),
            slc: self.slc_cache.as_ref().map(|slc| slc_cache(slc, scale)),
            spread: self.spread.as_ref().map(spread),
            housekeeping: self.housekeeping.as_ref().map(housekeeping),
            power: self
                .power
                .as_ref()
                .map(|power| power_spec(power, self.thermal.as_ref())),
            layout: match placement.map(|placement| placement.value) {
                _ if self.xpoint.is_some() => Layout::InPlace,
                None | Some(Placement::Dynamic) => Layout::Superblocks,
                Some(Placement::StaticCwdp) => Layout::Planes,
            },
            map_memory: self.map_memory(scale),
            stripe_dies: self.stripe_dies(),
            merged_streams: self.merged_streams(),
            parity_lines: self.parity_lines(),
            mapping_units: self.mapping_unit_bytes() / UNIT_BYTES,
            write_contexts: self.buffer.write_contexts.as_ref().map_or(1, |n| n.value),
            marks: self.marks(),
            move_reads: self
                .collection
                .as_ref()
                .and_then(|collection| collection.reads_at_once.as_ref())
                .map_or(0, |reads| reads.value),
            move_core_ns: self
                .controller
                .move_us
                .as_ref()
                .map_or(0, |us| ns(us.value, 1e3)),
            turnaround_ns: self
                .link
                .turnaround_us
                .as_ref()
                .map_or(0, |us| ns(us.value, 1e3)),
            data_unit_ns_x1024: self.controller.data_mb_s.as_ref().map_or(0, |mb_s| {
                ns(f64::from(UNIT_BYTES) / mb_s.value, 1e3 * 1024.0)
            }),
            read_ahead: self
                .controller
                .read_ahead_kib
                .as_ref()
                .map(|kib| ReadAheadSpec {
                    units: kib.value * 1024 / UNIT_BYTES,
                    streams: self.controller.read_streams.as_ref().map_or(1, |n| n.value),
                }),
        }
    }
}

fn flash_timing(flash: &Flash) -> Timing {
    let reads = &flash.read_us.value;
    let last = reads.len().saturating_sub(1);
    let read_us = |page: usize| reads.get(page.min(last)).copied().unwrap_or(0.0);
    Timing {
        read_ns: std::array::from_fn(|page| ns(read_us(page), 1e3)),
        program_ns: ns(flash.program_us.value, 1e3),
        erase_ns: ns(flash.erase_ms.value, 1e6),
        unit_transfer_ns: unit_transfer_ns(flash.bus_mt_s.value, flash.bus_overhead_pct.value),
        command_ns: ns(flash.command_us.value, 1e3),
        suspend_ns: flash.suspend_us.as_ref().map(|us| ns(us.value, 1e3)),
        deferral_limit_ns: ns(flash.deferral_limit_ms.value, 1e6),
        pauses: Pauses {
            pulse_ns: flash.pulse_us.as_ref().map_or(0, |us| ns(us.value, 1e3)),
            erase_suspend_ns: flash.erase_suspend_us.as_ref().map(|us| ns(us.value, 1e3)),
            resume_ns: flash.resume_us.as_ref().map_or(0, |us| ns(us.value, 1e3)),
            at_most: flash.suspends.as_ref().map(|most| most.value),
        },
    }
}

fn xpoint_timing(xpoint: &Xpoint) -> Timing {
    Timing {
        read_ns: [ns(xpoint.read_us.value, 1e3); 4],
        program_ns: ns(xpoint.write_us.value, 1e3),
        erase_ns: 0,
        unit_transfer_ns: unit_transfer_ns(xpoint.bus_mt_s.value, xpoint.bus_overhead_pct.value),
        command_ns: ns(xpoint.command_us.value, 1e3),
        suspend_ns: None,
        deferral_limit_ns: ns(xpoint.deferral_limit_ms.value, 1e6),
        pauses: Pauses::default(),
    }
}

fn unit_transfer_ns(bus_mt_s: f64, overhead_pct: f64) -> u64 {
    let bus_bytes = f64::from(UNIT_BYTES) * (1.0 + overhead_pct / 100.0);
    ns(bus_bytes / bus_mt_s, 1e3)
}

fn free_superblocks(idle: &Idle, superblocks: u32) -> u32 {
    (f64::from(superblocks) * idle.free_pct.value / 100.0).round() as u32
}

fn slc_cache(slc: &SlcCache, scale: u32) -> SlcSpec {
    let bytes = (slc.size_gb.value * 1e9) as u64 / u64::from(scale.max(1));
    SlcSpec {
        size: match slc.mode.value {
            SlcMode::Static => SlcSize::Static { bytes },
            SlcMode::Dynamic => SlcSize::Dynamic {
                bytes_at_most: bytes,
                pct_of_empty: slc.pct_of_empty.as_ref().map_or(0, |pct| pct.value),
            },
        },
        when_full: match slc.when_full.value {
            SlcWhenFull::Direct => WhenFull::Direct,
            SlcWhenFull::Fold => WhenFull::Fold,
        },
        read_ns: ns(slc.read_us.value, 1e3),
        program_ns: ns(slc.program_us.value, 1e3),
    }
}

/// The seed is set later, for each drive; see [`AnyDrive`](crate::drive::AnyDrive).
fn spread(spread: &Spread) -> SpreadSpec {
    let milli = |pct: f64| (pct * 10.0).round() as u32;
    let retry = spread.retry.as_ref();
    let worn = retry.and_then(|retry| retry.per_million_per_1000_erases.as_ref());
    SpreadSpec {
        seed: 0,
        block_sigma_milli: milli(spread.block_sigma_pct.value),
        die_sigma_milli: milli(spread.die_sigma_pct.value),
        retry_ppm: retry.map_or(0, |retry| retry.per_million.value),
        retry_ppm_per_kilo_erase: worn.map_or(0, |worn| worn.value),
        retries_at_most: retry.map_or(0, |retry| retry.at_most.value),
        retry_pct: retry.map_or(0, |retry| retry.first_pct.value),
        retry_step_pct: retry.map_or(0, |retry| retry.step_pct.value),
    }
}

fn housekeeping(housekeeping: &Housekeeping) -> HousekeepingSpec {
    let units = housekeeping.every_mib.value * f64::from(1 << 20) / f64::from(UNIT_BYTES);
    HousekeepingSpec {
        seed: 0,
        every_units: units.round() as u32,
        pause_ns: ns(housekeeping.pause_ms.value, 1e6),
    }
}

fn power_spec(power: &Power, thermal: Option<&Thermal>) -> PowerSpec {
    let states_w = power.states_w.as_ref();
    PowerSpec {
        window_ns: ns(power.window_ms.value, 1e6),
        // The quotient of two decimals may be slightly below a whole number.
        limit_windows: (power.limit_ms() / power.window_ms.value + 1e-9) as u64,
        idle_mw: power.idle_mw.value.into(),
        active_mw: power.active_mw().into(),
        read_mw: power.die_read_mw.value.into(),
        program_mw: power.die_program_mw.value.into(),
        erase_mw: power.die_erase_mw.value.into(),
        unit_transfer_pj: ns(power.transfer_nj.value, 1e3),
        command_pj: ns(power.command_uj.value, 1e6),
        link_byte_pj: ns(power.link_pj_per_byte.value, 1.0),
        cap_mw: states_w
            .and_then(|states| states.value.first())
            .map(|&watts| milli(watts) as u64),
        thermal: thermal.map(thermal_spec),
        rests: std::array::from_fn(|i| power.idle_states.get(i).map(rest_spec)),
    }
}

fn rest_spec(state: &IdleState) -> RestSpec {
    RestSpec {
        mw: state.mw.value.into(),
        entry_ns: ns(state.entry_us.value, 1e3),
        exit_ns: ns(state.exit_us.value, 1e3),
        after_ns: ns(state.after_ms.value, 1e6),
    }
}

fn thermal_spec(thermal: &Thermal) -> ThermalSpec {
    let point = |at: &Throttle| ThrottlePoint {
        above_mc: milli(at.above_c.value),
        until_mc: milli(at.until_c.value),
        cap_mw: milli(at.cap_w.value) as u64,
    };
    ThermalSpec {
        ambient_mc: milli(thermal.ambient_c.value),
        resistance_mk_per_w: milli(thermal.resistance_k_per_w.value),
        time_constant_ns: ns(thermal.time_constant_s.value, 1e9),
        throttle: std::array::from_fn(|i| thermal.throttle.get(i).map(point)),
        graded: thermal.graded.as_ref().map(graded_limit),
    }
}

fn graded_limit(graded: &Graded) -> GradedLimit {
    GradedLimit {
        from_mc: milli(graded.from_c.value),
        from_mw: milli(graded.from_w.value) as u64,
        to_mc: milli(graded.to_c.value),
        to_mw: milli(graded.to_w.value) as u64,
    }
}

/// Converts a time to whole ns, or another amount to whole small units. Multiplication and rounding of IEEE numbers give the
/// same result on every machine.
fn ns(value: f64, ns_per_unit: f64) -> u64 {
    (value * ns_per_unit).round() as u64
}

/// Converts to thousandths, such as W to mW.
pub(super) fn milli(value: f64) -> i64 {
    (value * 1e3).round() as i64
}

fn mib(value: f64) -> u64 {
    (value * f64::from(1 << 20)) as u64
}
