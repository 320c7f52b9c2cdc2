//! What of a drive is spare, and what of it does not get smaller with it.

use super::Profile;
use crate::profile::spec::{DriveSpec, Layout, SlcSize, UNIT, UNIT_BYTES, WhenFull};

impl DriveSpec {
    /// Share of the medium that the user cannot address.
    pub fn spare(&self) -> f64 {
        1.0 - self.user_bytes as f64 / self.geometry.raw_bytes() as f64
    }

    /// Share of the usable medium that holds no user data when the drive is full and in its steady state: what is kept free, the
    /// open superblocks and a static cache are spare, but collection has nothing of them.
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
        // A victim is chosen when one less is free than is to be, the next of a stream just open. While that one is written the victim
        // wins as much; the other stream's is half written in the mean, as the victim is half moved. Of one stream no other is.
        let idle = u64::from(self.reserve) + cached;
        let one_stream = u64::from(self.options.merged_streams);
        let unwritten = idle * per_superblock - one_stream * per_superblock / 2;
        let usable = self.geometry.raw_bytes() - unwritten;
        1.0 - (self.user_bytes as f64 - cached_bytes(self)) / usable as f64
    }
}

impl Profile {
    /// The figures of this profile that stay what they are when a drive is made smaller: a method whose amounts or times are
    /// absolute sees another drive then, and of dies that differ one whose amounts are shares: they fall apart in the same seconds.
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

/// User data that lies in a static cache under random writes, in the mean.
///
/// One that all writes pass is full but for one superblock: half of that which is written, and half of that which is folded. One that
/// writes go past is written anew when the last unit in a superblock was overwritten, and units live for one overwrite in the mean.
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
            // The last of so many units is overwritten after as many overwrites as the harmonic number says.
            let last: f64 = (1..=units).map(|unit| 1.0 / f64::from(unit)).sum();
            superblocks / last
        }
    };
    held * f64::from(units) * f64::from(UNIT_BYTES)
}

/// Superblocks that the cache takes, or a dynamic one at most.
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
