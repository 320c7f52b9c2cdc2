//! The map from logical to physical 4 KiB units, and what it knows of each superblock.
//!
//! A *unit* is 4 KiB. A *superblock* is one block of every plane of every die; its units are written in order and erased
//! together. The map holds no user data: 8 bytes a unit (both directions) and one validity bit.

use serde::{Deserialize, Serialize};

use crate::memory::{prefer_huge_pages, prefetch};

/// Marks a logical unit that holds nothing, and a physical unit that belongs to nobody.
pub const NONE: u32 = u32::MAX;

/// Superblocks whose least valid count is remembered together; see [`Blocks::least_valid`].
const GROUP: usize = 64;

/// Valid counts and states of all superblocks, with the least count per group kept current.
///
/// A closed superblock only ever loses valid units, so the minimum of its group falls with it and needs a
/// fresh look only when a superblock is closed or erased. Greedy selection then reads `n / 64 + 64` counts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Blocks {
    units_per_block: u32,
    #[serde(with = "crate::packed")]
    valid: Vec<u32>,
    /// `valid` of closed superblocks, `u32::MAX` of free and open ones.
    #[serde(with = "crate::packed")]
    closed: Vec<u32>,
    #[serde(with = "crate::packed")]
    group_least: Vec<u32>,
    closed_count: u32,
    #[serde(with = "crate::packed")]
    erases: Vec<u32>,
}

impl Blocks {
    fn new(count: usize, units_per_block: u32) -> Self {
        Self {
            units_per_block,
            valid: vec![0; count],
            closed: vec![u32::MAX; count],
            group_least: vec![u32::MAX; count.div_ceil(GROUP)],
            closed_count: 0,
            erases: vec![0; count],
        }
    }

    /// Number of superblocks, in whatever state.
    pub fn count(&self) -> usize {
        self.valid.len()
    }

    /// Units in one superblock.
    pub fn units_per_block(&self) -> u32 {
        self.units_per_block
    }

    /// Units of this superblock that are still mapped.
    pub fn valid(&self, block: u32) -> u32 {
        self.valid[block as usize]
    }

    /// Whether the superblock has been written to its end and may be collected.
    pub fn is_closed(&self, block: u32) -> bool {
        self.closed[block as usize] != u32::MAX
    }

    /// How many superblocks are closed.
    pub fn closed_count(&self) -> u32 {
        self.closed_count
    }

    /// Erases of each superblock since it was made.
    pub fn erases(&self) -> &[u32] {
        &self.erases
    }

    /// The closed superblock with the fewest valid units; the lowest number wins a tie. `None` if none is closed.
    pub fn least_valid(&self) -> Option<u32> {
        let (group, least) = self
            .group_least
            .iter()
            .enumerate()
            .min_by_key(|&(i, &least)| (least, i))
            .map(|(i, &least)| (i, least))?;
        if least == u32::MAX {
            return None;
        }
        let start = group * GROUP;
        let end = (start + GROUP).min(self.closed.len());
        let within = self.closed[start..end].iter().position(|&v| v == least)?;
        Some((start + within) as u32)
    }

    fn refresh_group(&mut self, block: u32) {
        let group = block as usize / GROUP;
        let start = group * GROUP;
        let end = (start + GROUP).min(self.closed.len());
        self.group_least[group] = self.closed[start..end]
            .iter()
            .copied()
            .min()
            .unwrap_or(u32::MAX);
    }

    pub(crate) fn close(&mut self, block: u32) {
        self.closed[block as usize] = self.valid[block as usize];
        self.closed_count += 1;
        self.refresh_group(block);
    }

    /// Takes a closed superblock out of the candidates: it is being collected.
    pub(crate) fn withdraw(&mut self, block: u32) {
        debug_assert!(self.is_closed(block));
        self.closed[block as usize] = u32::MAX;
        self.closed_count -= 1;
        self.refresh_group(block);
    }

    /// The closed superblock with the fewest erases; the lowest number wins a tie. `None` if none is closed.
    pub fn least_erased(&self) -> Option<u32> {
        (0..self.count() as u32)
            .filter(|&block| self.is_closed(block))
            .min_by_key(|&block| self.erases[block as usize])
    }

    pub(crate) fn erase(&mut self, block: u32) {
        debug_assert_eq!(
            self.valid[block as usize], 0,
            "erasing a superblock that holds data"
        );
        self.erases[block as usize] += 1;
    }

    #[inline]
    fn lose(&mut self, block: u32) {
        let b = block as usize;
        self.valid[b] -= 1;
        if self.closed[b] != u32::MAX {
            self.closed[b] -= 1;
            let least = &mut self.group_least[b / GROUP];
            *least = (*least).min(self.closed[b]);
        }
    }
}

/// Finds the superblock of a physical unit: by a shift where it can be.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct UnitsToBlock {
    units_per_block: u32,
    shift: Option<u32>,
}

impl UnitsToBlock {
    /// For superblocks of so many units.
    pub fn new(units_per_block: u32) -> Self {
        Self {
            units_per_block,
            shift: units_per_block
                .is_power_of_two()
                .then(|| units_per_block.trailing_zeros()),
        }
    }

    /// The superblock of a unit.
    #[inline]
    pub fn block(self, physical: u32) -> u32 {
        match self.shift {
            Some(shift) => physical >> shift,
            None => physical / self.units_per_block,
        }
    }
}

/// The two-way map, the validity bits and the superblocks.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Kept")]
pub struct Map {
    #[serde(with = "crate::packed")]
    logical_to_physical: Vec<u32>,
    #[serde(skip)]
    physical_to_logical: Vec<u32>,
    #[serde(skip)]
    valid_bits: Vec<u64>,
    /// Superblock counts and states.
    pub blocks: Blocks,
    #[serde(skip)]
    block_of: UnitsToBlock,
    mapped: u64,
}

/// What is kept of a map: the other direction and the validity bits follow from it.
#[derive(Deserialize)]
struct Kept {
    #[serde(with = "crate::packed")]
    logical_to_physical: Vec<u32>,
    blocks: Blocks,
    mapped: u64,
}

impl TryFrom<Kept> for Map {
    type Error = &'static str;

    fn try_from(kept: Kept) -> Result<Self, Self::Error> {
        let blocks = kept.blocks;
        let per_block = blocks.units_per_block;
        let physical = blocks.count() * per_block as usize;
        let mut map = Self {
            physical_to_logical: table(physical),
            valid_bits: vec![0; physical.div_ceil(64)],
            block_of: UnitsToBlock::new(per_block),
            logical_to_physical: kept.logical_to_physical,
            blocks,
            mapped: kept.mapped,
        };
        let mut mapped = 0;
        for (&unit, logical) in map.logical_to_physical.iter().zip(0..) {
            if unit == NONE {
                continue;
            }
            let place = map.physical_to_logical.get_mut(unit as usize);
            *place.ok_or("a unit lies beyond the flash")? = logical;
            map.valid_bits[unit as usize / 64] |= 1 << (unit % 64);
            mapped += 1;
        }
        if mapped == map.mapped {
            Ok(map)
        } else {
            Err("the units mapped are not those counted")
        }
    }
}

impl Map {
    /// An empty map of `logical_units` user units over `superblocks` of `units_per_block` each.
    pub fn new(logical_units: u32, superblocks: u32, units_per_block: u32) -> Self {
        let physical = superblocks as usize * units_per_block as usize;
        Self {
            logical_to_physical: table(logical_units as usize),
            physical_to_logical: table(physical),
            valid_bits: vec![0; physical.div_ceil(64)],
            blocks: Blocks::new(superblocks as usize, units_per_block),
            block_of: UnitsToBlock::new(units_per_block),
            mapped: 0,
        }
    }

    /// Asks for what a write or read of `logical` will look up first.
    #[inline]
    pub fn expect_logical(&self, logical: u32) {
        prefetch(&self.logical_to_physical, logical as usize);
    }

    /// Asks for what a write of `logical` will change: call it when [`expect_logical`](Self::expect_logical) has had time to work.
    #[inline]
    pub fn expect_overwrite(&self, logical: u32) {
        if let Some(&physical) = self.logical_to_physical.get(logical as usize) {
            prefetch(&self.valid_bits, physical as usize / 64);
        }
    }

    /// Asks for what moving the valid units of the 64 that `physical` lies in will look up.
    #[inline]
    pub fn expect_moves(&self, physical: u32) {
        let word = physical as usize / 64;
        let mut bits = self.valid_bits.get(word).copied().unwrap_or(0);
        while bits != 0 {
            let unit = word * 64 + bits.trailing_zeros() as usize;
            prefetch(
                &self.logical_to_physical,
                self.physical_to_logical[unit] as usize,
            );
            bits &= bits - 1;
        }
    }

    /// User units that can be addressed.
    pub fn logical_units(&self) -> u32 {
        self.logical_to_physical.len() as u32
    }

    /// User units that hold data.
    pub fn mapped(&self) -> u64 {
        self.mapped
    }

    /// Where a logical unit lies, or [`NONE`].
    #[inline]
    pub fn lookup(&self, logical: u32) -> u32 {
        self.logical_to_physical[logical as usize]
    }

    /// Whose data a physical unit holds, if it is valid.
    #[inline]
    pub fn owner(&self, physical: u32) -> Option<u32> {
        let bit = self.valid_bits[physical as usize / 64] >> (physical % 64) & 1;
        (bit == 1).then(|| self.physical_to_logical[physical as usize])
    }

    /// The superblock of a physical unit.
    #[inline]
    pub fn block_of(&self, physical: u32) -> u32 {
        self.block_of.block(physical)
    }

    /// Maps `logical` to `physical`, which must be fresh; what it held before becomes invalid.
    #[inline]
    pub fn place(&mut self, logical: u32, physical: u32) {
        let old = std::mem::replace(&mut self.logical_to_physical[logical as usize], physical);
        if old == NONE {
            self.mapped += 1;
        } else {
            self.invalidate(old);
        }
        self.physical_to_logical[physical as usize] = logical;
        self.valid_bits[physical as usize / 64] |= 1 << (physical % 64);
        let block = self.block_of(physical);
        self.blocks.valid[block as usize] += 1;
    }

    /// Forgets what `logical` holds. Returns whether it held anything.
    pub fn unmap(&mut self, logical: u32) -> bool {
        let old = std::mem::replace(&mut self.logical_to_physical[logical as usize], NONE);
        if old == NONE {
            return false;
        }
        self.invalidate(old);
        self.mapped -= 1;
        true
    }

    #[inline]
    fn invalidate(&mut self, physical: u32) {
        self.valid_bits[physical as usize / 64] &= !(1 << (physical % 64));
        let block = self.block_of(physical);
        self.blocks.lose(block);
    }

    /// The first valid unit at or after `from` and before `end`, found a word of 64 at a time.
    #[inline]
    pub fn next_valid(&self, from: u32, end: u32) -> Option<u32> {
        let mut word = from as usize / 64;
        let mut bits = *self.valid_bits.get(word)? & (u64::MAX << (from % 64));
        loop {
            if bits != 0 {
                let unit = word as u32 * 64 + bits.trailing_zeros();
                return (unit < end).then_some(unit);
            }
            word += 1;
            if word * 64 >= end as usize {
                return None;
            }
            bits = self.valid_bits[word];
        }
    }
}

/// A table of so many empty entries, on huge pages where they help.
fn table(entries: usize) -> Vec<u32> {
    let mut table: Vec<u32> = Vec::with_capacity(entries);
    prefer_huge_pages(table.spare_capacity_mut());
    table.resize(entries, NONE);
    table
}
