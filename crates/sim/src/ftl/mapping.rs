//! The map between logical and physical 4 KiB units, and the state of each superblock.
//!
//! A *unit* is 4 KiB. A *superblock* is one block of every plane of every die; its units are written in order and erased
//! together. The map holds no user data: it takes 8 bytes per unit (both directions) and one validity bit.

use serde::{Deserialize, Serialize};

use crate::flash::{Divisor, NONE, Table, prefetch};
use crate::profile::spec::{DriveSpec, Layout, UNIT};

/// Validity bits per word.
pub(crate) const WORD: u32 = u64::BITS;

/// Superblocks that share one remembered minimum; see [`Blocks::min_valid`].
const GROUP: usize = 64;

/// Flag in the valid count of a superblock that may not be collected: it is free, open or already being collected.
const NOT_CLOSED: u32 = 1 << 31;

/// Valid counts and states of all superblocks, with the lowest count per group kept up to date.
///
/// A closed superblock only ever loses valid units, so the minimum of its group falls with it. It must be determined anew
/// only when a superblock is closed or withdrawn. Greedy selection then reads `n / 64 + 64` counts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Blocks {
    units_per_block: u32,
    /// Valid units, with [`NOT_CLOSED`] set where it applies, so that a search for the minimum never finds these.
    #[serde(with = "crate::flash::packed")]
    valid: Vec<u32>,
    #[serde(with = "crate::flash::packed")]
    group_min: Vec<u32>,
    closed_count: u32,
    #[serde(with = "crate::flash::packed")]
    erases: Vec<u32>,
}

impl Blocks {
    fn new(count: usize, units_per_block: u32) -> Self {
        Self {
            units_per_block,
            valid: vec![NOT_CLOSED; count],
            group_min: vec![NOT_CLOSED; count.div_ceil(GROUP)],
            closed_count: 0,
            erases: vec![0; count],
        }
    }

    /// Number of superblocks in any state.
    pub fn count(&self) -> usize {
        self.valid.len()
    }

    /// Units per superblock.
    pub fn units_per_block(&self) -> u32 {
        self.units_per_block
    }

    /// Units of this superblock that are still mapped.
    pub fn valid(&self, block: u32) -> u32 {
        self.valid[block as usize] & !NOT_CLOSED
    }

    /// Whether the superblock has been written to its end and may be collected.
    pub fn is_closed(&self, block: u32) -> bool {
        self.valid[block as usize] < NOT_CLOSED
    }

    /// Number of closed superblocks.
    pub fn closed_count(&self) -> u32 {
        self.closed_count
    }

    /// Erases of each superblock since the drive was made.
    pub fn erases(&self) -> &[u32] {
        &self.erases
    }

    /// The closed superblock with the fewest valid units; the lowest number wins a tie. `None` if none is closed.
    pub fn min_valid(&self) -> Option<u32> {
        let groups = self.group_min.iter().enumerate();
        let (group, &lowest) = groups.min_by_key(|&(i, &lowest)| (lowest, i))?;
        if lowest >= NOT_CLOSED {
            return None;
        }
        let start = group * GROUP;
        let end = (start + GROUP).min(self.valid.len());
        let within = self.valid[start..end].iter().position(|&v| v == lowest)?;
        Some((start + within) as u32)
    }

    fn refresh_group(&mut self, block: u32) {
        let group = block as usize / GROUP;
        let start = group * GROUP;
        let end = (start + GROUP).min(self.valid.len());
        let lowest = self.valid[start..end].iter().min();
        self.group_min[group] = lowest.copied().unwrap_or(NOT_CLOSED).min(NOT_CLOSED);
    }

    pub(crate) fn close(&mut self, block: u32) {
        self.valid[block as usize] &= !NOT_CLOSED;
        self.closed_count += 1;
        self.refresh_group(block);
    }

    /// Removes a closed superblock from the candidates, since it is to be collected or erased.
    pub(crate) fn withdraw(&mut self, block: u32) {
        debug_assert!(self.is_closed(block));
        self.valid[block as usize] |= NOT_CLOSED;
        self.closed_count -= 1;
        self.refresh_group(block);
    }

    /// The closed superblock with the fewest erases; the lowest number wins a tie. `None` if none is closed.
    pub fn min_erased(&self) -> Option<u32> {
        (0..self.count() as u32)
            .filter(|&block| self.is_closed(block))
            .min_by_key(|&block| self.erases[block as usize])
    }

    pub(crate) fn erase(&mut self, block: u32) {
        debug_assert_eq!(
            self.valid[block as usize], NOT_CLOSED,
            "erasing a superblock that holds data"
        );
        self.erases[block as usize] += 1;
    }

    #[inline]
    fn lose(&mut self, block: u32) {
        let valid = &mut self.valid[block as usize];
        *valid -= 1;
        let lowest = &mut self.group_min[block as usize / GROUP];
        *lowest = (*lowest).min(*valid);
    }
}

/// The two-way map, the validity bits and the superblocks.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Kept")]
pub struct Map {
    #[serde(serialize_with = "crate::flash::packed::serialize")]
    logical_to_physical: Table<u32>,
    #[serde(skip)]
    physical_to_logical: Table<u32>,
    #[serde(skip)]
    valid_bits: Table<u64>,
    /// Superblock counts and states.
    pub blocks: Blocks,
    #[serde(skip)]
    block_of: Divisor,
    mapped: u64,
}

/// The serialised form of a map: the reverse direction and the validity bits are rebuilt from it.
#[derive(Deserialize)]
struct Kept {
    #[serde(with = "crate::flash::packed")]
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
            physical_to_logical: Table::filled(physical, NONE),
            valid_bits: Table::filled(physical.div_ceil(64), 0),
            block_of: Divisor::new(per_block),
            logical_to_physical: Table::from(&*kept.logical_to_physical),
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

impl DriveSpec {
    /// Bytes of memory that the [`Map`] of such a drive takes; a drive that is written in place takes one bit per unit.
    pub fn map_bytes(&self) -> u64 {
        let logical = self.user_bytes / UNIT;
        if self.options.layout == Layout::InPlace {
            return logical / 8;
        }
        let physical = self.geometry.raw_bytes() / UNIT;
        (logical + physical) * size_of::<u32>() as u64 + physical / 8
    }
}

impl Map {
    /// Creates an empty map of `logical_units` user units over `superblocks` superblocks of `units_per_block` units each.
    pub fn new(logical_units: u32, superblocks: u32, units_per_block: u32) -> Self {
        let physical = superblocks as usize * units_per_block as usize;
        Self {
            logical_to_physical: Table::filled(logical_units as usize, NONE),
            physical_to_logical: Table::filled(physical, NONE),
            valid_bits: Table::filled(physical.div_ceil(64), 0),
            blocks: Blocks::new(superblocks as usize, units_per_block),
            block_of: Divisor::new(units_per_block),
            mapped: 0,
        }
    }

    /// Prefetches what a write or read of `logical` looks up first.
    #[inline]
    pub fn expect_logical(&self, logical: u32) {
        prefetch(&self.logical_to_physical, logical as usize);
    }

    /// Prefetches what a write of `logical` changes. Call it when the entry that [`expect_logical`](Self::expect_logical)
    /// prefetches has had time to arrive.
    #[inline]
    pub fn expect_overwrite(&self, logical: u32) {
        if let Some(&physical) = self.logical_to_physical.get(logical as usize) {
            prefetch(&self.valid_bits, physical as usize / 64);
        }
    }

    /// Prefetches what a move of the valid units of one word of validity bits changes.
    #[inline]
    pub(crate) fn expect_moves(&self, word: u32) {
        let word = word as usize;
        let Some(&valid) = self.valid_bits.get(word) else {
            return;
        };
        let mut left = valid;
        while left != 0 {
            let unit = word * WORD as usize + left.trailing_zeros() as usize;
            let logical = self.physical_to_logical[unit];
            prefetch(&self.logical_to_physical, logical as usize);
            left &= left - 1;
        }
    }

    /// User units that the host can address.
    pub fn logical_units(&self) -> u32 {
        self.logical_to_physical.len() as u32
    }

    /// User units that hold data.
    pub fn mapped(&self) -> u64 {
        self.mapped
    }

    /// Returns the physical unit of `logical`, or [`NONE`].
    #[inline]
    pub fn lookup(&self, logical: u32) -> u32 {
        self.logical_to_physical[logical as usize]
    }

    /// The superblock of a physical unit.
    #[inline]
    pub fn block_of(&self, physical: u32) -> u32 {
        self.block_of.quotient(physical)
    }

    /// Maps `logical` to `physical`, which must be unwritten. The unit's previous position becomes invalid.
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

    /// Returns the first valid unit at or after `from`. The superblock must have one there.
    #[inline]
    pub(crate) fn next_valid(&self, from: u32) -> u32 {
        let mut word = (from / WORD) as usize;
        let mut bits = self.valid_bits[word] & u64::MAX << (from % WORD);
        while bits == 0 {
            word += 1;
            bits = self.valid_bits[word];
        }
        word as u32 * WORD + bits.trailing_zeros()
    }

    /// Takes the valid units in `from..end`, at most [`WORD`] positions, out of their superblock, which must not be closed.
    /// Returns one bit for each unit, the lowest for `from`. The caller must [put](Self::put) the units elsewhere at once.
    #[inline]
    pub(crate) fn lift(&mut self, block: u32, from: u32, end: u32) -> u64 {
        let (word, within) = ((from / WORD) as usize, from % WORD);
        let mut lifted = self.valid_bits[word] >> within & low_bits(end - from);
        self.valid_bits[word] &= !(lifted << within);
        if within + (end - from) > WORD {
            let rest = self.valid_bits[word + 1] & low_bits(within + (end - from) - WORD);
            self.valid_bits[word + 1] &= !rest;
            lifted |= rest << (WORD - within);
        }
        self.blocks.valid[block as usize] -= lifted.count_ones();
        lifted
    }

    /// Puts the first `units` of the units lifted at `from` on the unwritten positions from `to` on, in `block`. Returns the
    /// units that are still lifted.
    #[inline]
    pub(crate) fn put(&mut self, lifted: u64, from: u32, block: u32, to: u32, units: u32) -> u64 {
        let mut left = lifted;
        for place in to..to + units {
            let logical = self.physical_to_logical[(from + left.trailing_zeros()) as usize];
            left &= left - 1;
            self.logical_to_physical[logical as usize] = place;
            self.physical_to_logical[place as usize] = logical;
        }
        self.set_valid(to, units);
        self.blocks.valid[block as usize] += units;
        left
    }

    /// Returns the logical units at these positions.
    pub(crate) fn held_in(&self, places: std::ops::Range<u32>) -> impl Iterator<Item = u32> {
        self.physical_to_logical[places.start as usize..places.end as usize]
            .iter()
            .copied()
    }

    /// Sets the validity bits of `units` units, at most [`WORD`], from `from` on.
    #[inline]
    fn set_valid(&mut self, from: u32, units: u32) {
        let (word, within) = ((from / WORD) as usize, from % WORD);
        let bits = low_bits(units);
        self.valid_bits[word] |= bits << within;
        if within + units > WORD {
            self.valid_bits[word + 1] |= bits >> (WORD - within);
        }
    }
}

/// Returns a word with its lowest `count` bits set; `count` must be at least 1.
#[inline]
fn low_bits(count: u32) -> u64 {
    u64::MAX >> (WORD - count)
}
