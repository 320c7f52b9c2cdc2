//! A drive at another size: with less flash and everything else the same, or with another spare share.
//!
//! The steady state of a drive depends on its spare share, its dies and (if there are few) its superblocks, not on its
//! capacity. A drive at scale S has 1/S of the word lines in each block, so that all of these stay. The erase of a real block
//! is charged once for as many small blocks as make it up. A drive with few superblocks gets smaller ones even at scale 1.

use super::{Medium, Profile, ProfileError};
use crate::profile::spec::{Geometry, UNIT};

/// With this many superblocks, more of them make no visible difference.
const ENOUGH_SUPERBLOCKS: u32 = 2000;
/// With this many units in a superblock, more of them change steady writes by less than 1 %. Valid counts of smaller
/// superblocks vary more, so the victim of collection has fewer valid units.
const ENOUGH_UNITS: u32 = 1024;
/// Superblocks that suffice where `ENOUGH_SUPERBLOCKS` would have too few units each.
const FEW_SUPERBLOCKS: u32 = 1000;
/// Fewest superblocks kept free: one for each write stream, and two for collection.
const MIN_RESERVE: u32 = 4;

/// The size at which a profile is simulated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    /// How many times smaller the simulated drive is; 1: its full size.
    pub scale: u32,
    /// Share of the flash that the user cannot address, from 0 to below 1; `None`: the profile's own.
    pub spare: Option<f64>,
}

impl Default for Size {
    fn default() -> Self {
        Self {
            scale: 1,
            spare: None,
        }
    }
}

/// The parameters that depend on the size.
pub(super) struct Scaled {
    pub(super) geometry: Geometry,
    pub(super) user_bytes: u64,
    pub(super) reserve: u32,
    pub(super) erase_every: u32,
}

impl Profile {
    pub(super) fn scaled(&self, size: Size) -> Result<Scaled, ProfileError> {
        let real = self.geometry()?;
        let (geometry, erase_every, reserve_pct) = match self.medium()? {
            Medium::Flash(_, collection) => {
                let (geometry, erase_every) = smaller_blocks(real, size.scale)?;
                (geometry, erase_every, Some(collection.reserve_pct.value))
            }
            Medium::Xpoint(_) => (smaller_dies(real, size.scale)?, 1, None),
        };
        let geometry = self.without_parity(geometry);
        let user_bytes = match size.spare {
            None => self.capacity_bytes.value / u64::from(size.scale),
            Some(spare) if (0.0..1.0).contains(&spare) => {
                (geometry.raw_bytes() as f64 * (1.0 - spare)) as u64
            }
            Some(spare) => {
                let why = "must be a share of the flash, at least 0 and below 1";
                return Err(ProfileError::new("spare", spare, why));
            }
        };
        let reserve = |pct: f64| (f64::from(geometry.superblocks) * pct / 100.0).round() as u32;
        Ok(Scaled {
            geometry,
            user_bytes: user_bytes / UNIT * UNIT,
            reserve: reserve_pct.map_or(0, |pct| reserve(pct).max(MIN_RESERVE)),
            erase_every,
        })
    }
}

impl Profile {
    /// Word lines of a stripe, one of which holds the parity of the others; 0: no parity.
    pub(super) fn parity_lines(&self) -> u32 {
        let mapping = self.mapping.as_ref();
        mapping
            .and_then(|mapping| mapping.parity_dies.as_ref())
            .map_or(0, |dies| dies.value)
    }

    /// Flash without the superblocks that parity takes.
    fn without_parity(&self, flash: Geometry) -> Geometry {
        let of = u64::from(self.parity_lines().max(1));
        let parity = u64::from(self.parity_lines().min(1));
        Geometry {
            superblocks: (u64::from(flash.superblocks) * (of - parity) / of) as u32,
            ..flash
        }
    }
}

/// Divides the word lines of a block by `scale`, and further if there are few superblocks. Returns for how many of the smaller
/// blocks one erase is charged, too.
fn smaller_blocks(real: Geometry, scale: u32) -> Result<(Geometry, u32), ProfileError> {
    let word_lines = real.pages_per_block / real.bits_per_cell;
    let split = split(&real, scale).ok_or_else(|| {
        let highest = (1..=word_lines)
            .rev()
            .find(|&scale| split(&real, scale).is_some());
        let why = match highest {
            Some(highest) => format!(
                "must divide the {word_lines} word lines of a block and leave at least {ENOUGH_SUPERBLOCKS} superblocks; the largest that does is {highest}"
            ),
            None => format!("this profile has too little flash for {ENOUGH_SUPERBLOCKS} superblocks"),
        };
        ProfileError::new("scale", scale, why)
    })?;
    let geometry = Geometry {
        pages_per_block: real.pages_per_block / (split * scale),
        superblocks: real.superblocks * split,
        ..real
    };
    Ok((geometry, split * scale))
}

/// Divides the dies of a medium without blocks by `scale`.
fn smaller_dies(real: Geometry, scale: u32) -> Result<Geometry, ProfileError> {
    let mib = real.pages_per_block;
    if scale == 0 || !mib.is_multiple_of(scale) {
        let why = format!("must divide the {mib} MiB of a die");
        return Err(ProfileError::new("scale", scale, why));
    }
    Ok(Geometry {
        pages_per_block: mib / scale,
        ..real
    })
}

/// Into how many superblocks each one is cut, after scaling, so that there are enough of them.
fn split(real: &Geometry, scale: u32) -> Option<u32> {
    let word_lines = real.pages_per_block / real.bits_per_cell;
    if scale == 0 || !word_lines.is_multiple_of(scale) {
        return None;
    }
    let left = word_lines / scale;
    let superblocks = |split: u32| real.superblocks.saturating_mul(split);
    let has_enough_units = |split: u32| {
        let parts = u64::from(split) * u64::from(scale);
        u64::from(real.units_per_superblock()) / parts >= u64::from(ENOUGH_UNITS)
    };
    let splits = || (1..=left).filter(|&split| left.is_multiple_of(split));
    let found = splits().find(|&split| superblocks(split) >= ENOUGH_SUPERBLOCKS)?;
    if has_enough_units(found) {
        return Some(found);
    }
    // The most parts that leave enough units; if none do, the fewest parts that make `FEW_SUPERBLOCKS`.
    let larger = splits()
        .take_while(|&split| split < found)
        .filter(|&split| superblocks(split) >= FEW_SUPERBLOCKS);
    let enough = larger.clone().filter(|&split| has_enough_units(split));
    enough.last().or(larger.clone().next()).or(Some(found))
}
