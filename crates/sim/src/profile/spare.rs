//! Spare area, and the figures that do not shrink with the drive.

use super::Profile;
use crate::profile::spec::{DriveSpec, Layout, SlcSize, UNIT, UNIT_BYTES, WhenFull};

impl DriveSpec {
    /// Returns the share of the medium that the user cannot address.
    pub fn spare(&self) -> f64 {
        1.0 - self.user_bytes as f64 / self.geometry.raw_bytes() as f64
    }

    /// Returns the share of the usable medium that holds no user data, on a full drive in its steady state. The reserve, the
    /// open superblocks and a static cache do not count as usable: collection gains nothing from them.
    pub fn effective_spare(&self) -> f64 {
        if self.options.layout == Layout::InPlace {
            return self.spare();
        }
        let units = u64::from(self.geometry.units_per_superblock());
        let per_superblock = units * UNIT;
        let cached = match self.options.slc.map(|slc| slc.size) {
            Some(SlcSize::Static { .. }) => slc_superblocks(self),
            Some(SlcSize::Dynamic { .. }) | None => 0,
        };
        // A victim is chosen when one superblock less than the reserve is free, because a stream has just opened the next one.
        // While that one fills, the victim yields as much space. The other stream's open superblock is half written on average,
        // and the victim is half moved. Merged streams have no other open superblock.
        let idle = u64::from(self.reserve) + cached;
        let one_stream = u64::from(self.options.merged_streams);
        let unwritten = idle * per_superblock - one_stream * per_superblock / 2;
        let usable = self.geometry.raw_bytes() - unwritten;
        1.0 - (self.user_bytes as f64 - cached_bytes(self)) / usable as f64
    }
}

impl Profile {
    /// Returns the figures that stay the same when the drive is made smaller. A method with absolute amounts or times therefore
    /// sees another drive at a smaller scale. Where dies differ, so does a method with relative amounts: such dies drift apart
    /// in the same seconds at any scale.
    pub fn unscaled(&self) -> Vec<&'static str> {
        let spread = self.spread.as_ref();
        let unlike = spread.is_some_and(|spread| spread.die_sigma_pct.value > 0.0);
        let figures = [
            ("buffer.size_mib", true),
            ("collection.marks_kib", self.marks().is_some()),
            ("collection.quantum_kib", self.marks().is_some()),
            ("housekeeping.every_mib", self.housekeeping.is_some()),
            ("housekeeping.pause_ms", self.housekeeping.is_some()),
            ("idle.after_ms", self.idle.is_some()),
            ("power.window_ms", self.power.is_some()),
            ("power.limit_ms", self.power.is_some()),
            ("spread.die_sigma_pct", unlike),
            ("thermal.time_constant_s", self.thermal.is_some()),
        ];
        let kept = figures.into_iter().filter(|&(_, present)| present);
        kept.map(|(name, _)| name).collect()
    }
}

/// Mean user data in a static cache under random writes.
///
/// A cache that every write passes through (`Fold`) is full, except for half of the superblock being written and half of the
/// one being folded. A cache that writes bypass when it is full (`Direct`) reuses a superblock once its last unit has been
/// overwritten. A unit lives for one overwrite of the drive on average.
fn cached_bytes(spec: &DriveSpec) -> f64 {
    let Some(slc) = spec.options.slc else {
        return 0.0;
    };
    let SlcSize::Static { .. } = slc.size else {
        return 0.0;
    };
    let units = spec.geometry.units_per_superblock() / spec.geometry.bits_per_cell;
    let superblocks = slc_superblocks(spec) as f64;
    let held = match slc.when_full {
        WhenFull::Fold => superblocks - 1.0,
        WhenFull::Direct => {
            // The last of `units` units is overwritten after as many mean lifetimes as the harmonic number of `units`.
            let last: f64 = (1..=units).map(|unit| 1.0 / f64::from(unit)).sum();
            superblocks / last
        }
    };
    held * f64::from(units) * f64::from(UNIT_BYTES)
}

/// Superblocks of the cache; for a dynamic cache, the most that it takes.
pub(super) fn slc_superblocks(spec: &DriveSpec) -> u64 {
    let Some(slc) = spec.options.slc else {
        return 0;
    };
    let (SlcSize::Static { bytes }
    | SlcSize::Dynamic {
        bytes_at_most: bytes,
        ..
    }) = slc.size;
    let units = spec.geometry.units_per_superblock() / spec.geometry.bits_per_cell;
    bytes.div_ceil(u64::from(units) * UNIT)
}
