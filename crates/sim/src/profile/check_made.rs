//! Checks that depend on the simulated size: whether a drive of these parts can work.

use super::check::{Check, require};
use super::spare::slc_superblocks;
use super::{Profile, ProfileError};
use crate::profile::spec::{DriveSpec, Layout, SlcSize, UNIT, UNIT_BYTES};

/// Memory for the changed entries of one page of a map in flash.
const LEAST_CHANGE_BYTES: u64 = 1024 * 8;

impl Profile {
    pub(super) fn check_spec(&self, spec: &DriveSpec) -> Check {
        let raw = spec.geometry.raw_bytes();
        require(
            raw / UNIT < u64::from(u32::MAX),
            "capacity_bytes",
            spec.user_bytes,
            "more than 16 TiB of medium, the most that is simulated: describe a part of the drive",
        )?;
        require(
            spec.user_bytes >= UNIT,
            "scale",
            format!("so great that {} bytes are left", spec.user_bytes),
            "a drive needs 4096",
        )?;
        match spec.options.layout {
            Layout::InPlace => require(
                spec.user_bytes < raw,
                "capacity_bytes",
                spec.user_bytes,
                &format!("spare below zero: the medium has {raw} bytes in all"),
            )?,
            Layout::Superblocks | Layout::Planes => self.check_space(spec)?,
        }
        self.check_map_memory(spec)?;
        self.check_buffer(spec)
    }

    /// Memory for changed entries must hold those of one map page: with less, the drive would behave differently than at scale
    /// 1.
    fn check_map_memory(&self, spec: &DriveSpec) -> Check {
        let Some(memory) = spec.options.map_memory else {
            return Ok(());
        };
        let mapping = self.mapping.as_ref();
        let stated = mapping.and_then(|mapping| mapping.changes_mib.as_ref());
        let (name, stated) = match (
            stated,
            mapping.and_then(|mapping| mapping.cache_mib.as_ref()),
        ) {
            (Some(changes), _) => ("mapping.changes_mib", changes.value),
            (None, Some(cache)) => ("mapping.cache_mib", cache.value),
            (None, None) => return Ok(()),
        };
        require(
            memory.change_bytes >= LEAST_CHANGE_BYTES,
            name,
            stated,
            &format!(
                "leaves {} bytes for changed entries at this scale: at least {LEAST_CHANGE_BYTES} are needed, those of a page of the map",
                memory.change_bytes
            ),
        )
    }

    fn check_space(&self, spec: &DriveSpec) -> Check {
        let (geometry, raw) = (&spec.geometry, spec.geometry.raw_bytes());
        let per_superblock = u64::from(geometry.units_per_superblock()) * UNIT;
        let cached = slc_superblocks(spec);
        // One superblock for each write stream, one victim, and the reserve.
        let busy = u64::from(spec.reserve) + 3;
        let usable = raw.saturating_sub(busy * per_superblock);
        let reserve = self.collection.as_ref();
        let reserve = reserve.map_or(String::new(), |collection| {
            format!(
                " (collection.reserve_pct of {} %)",
                collection.reserve_pct.value
            )
        });
        let why = format!(
            "no spare is left: of {raw} bytes of flash, {usable} can hold data besides the reserve{reserve} and the open superblocks"
        );
        require(
            spec.user_bytes < usable,
            "capacity_bytes",
            spec.user_bytes,
            &why,
        )?;
        self.check_marks(spec)?;
        let Some(slc) = &self.slc_cache else {
            return Ok(());
        };
        let cells = cached * per_superblock;
        let why = match spec.options.slc.map(|slc| slc.size) {
            Some(SlcSize::Dynamic { .. }) if cells > raw => {
                format!("its cells would hold {cells} bytes, more than the flash, which has {raw}")
            }
            Some(SlcSize::Static { .. }) if spec.user_bytes + cells >= usable => format!(
                "its cells would hold {cells} bytes, but the spare area has {} to give",
                usable - spec.user_bytes
            ),
            _ => return Ok(()),
        };
        Err(ProfileError::new(
            "slc_cache.size_gb",
            slc.size_gb.value,
            why,
        ))
    }

    /// The low mark must leave one open and one free superblock for each stream.
    fn check_marks(&self, spec: &DriveSpec) -> Check {
        let (Some(marks), Some(collection)) = (spec.options.marks, &self.collection) else {
            return Ok(());
        };
        let superblock = spec.geometry.units_per_superblock();
        let taken = (marks.apart_units / 2).div_ceil(superblock) + 4;
        let why = format!(
            "contradicts collection.reserve_pct of {}: of {} superblocks of {} KiB that are kept free it would use {taken} with those of its streams",
            collection.reserve_pct.value,
            spec.reserve,
            u64::from(superblock) * UNIT / 1024,
        );
        let field = "collection.marks_kib";
        require(
            taken <= spec.reserve,
            field,
            marks.apart_units * (UNIT_BYTES / 1024),
            &why,
        )
    }

    fn check_buffer(&self, spec: &DriveSpec) -> Check {
        let geometry = &spec.geometry;
        let word_line = u64::from(geometry.units_per_program()) * UNIT;
        let (lowest, what) = match spec.options.layout {
            // Each plane has an open word line of its own.
            Layout::Planes => (
                word_line * (u64::from(geometry.dies()) + 1),
                "a word line of every plane",
            ),
            Layout::Superblocks if spec.options.stripe_dies > 1 => (
                word_line * u64::from(spec.options.stripe_dies + 1),
                "a word line of each die of a stripe, and one more",
            ),
            Layout::Superblocks | Layout::InPlace => {
                (2 * word_line, "two word lines of all planes")
            }
        };
        require(
            spec.buffer_bytes >= lowest,
            "buffer.size_mib",
            self.buffer.size_mib.value,
            &format!("must hold {what}, {lowest} bytes"),
        )?;
        // Mapping units held in part, and one that arrives, beside the open word lines.
        let unit = u64::from(spec.options.units_together()) * UNIT;
        let contexts = spec.options.contexts();
        let with_parts = lowest - word_line + u64::from(contexts + 1) * unit;
        require(
            spec.buffer_bytes >= with_parts,
            "buffer.write_contexts",
            contexts,
            &format!(
                "contradicts buffer.size_mib of {}: with the open word lines it must hold as many mapping units of {unit} bytes and one more, {with_parts} bytes",
                self.buffer.size_mib.value
            ),
        )
    }
}
