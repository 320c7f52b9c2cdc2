//! The map from logical to physical 4 KiB units, and what it knows of each superblock.
//!
//! A *unit* is 4 KiB. A *superblock* is one block of every plane of every die; its units are written in order and erased
//! together. The map holds no user data: 8 bytes a unit (both directions) and one validity bit.

use serde::{Deserialize, Serialize};

use crate::flash::{Divisor, NONE, Table, prefetch};
use crate::profile::spec::{DriveSpec, Layout, UNIT};

/// Validity bits of a word.
pub(crate) const WORD: u32 = u64::BITS;

/// Superblocks whose least valid count is remembered together; see [`Blocks::min_valid`].
const GROUP: usize = 64;

/// Added to the valid count of a superblock that may not be collected: it is free, open or being collected already.
const NOT_CLOSED: u32 = 1 << 31;

/// Valid counts and states of all superblocks, with the least count per group kept current.
///
/// A closed superblock only ever loses valid units, so the minimum of its group falls with it and needs a
/// fresh look only when a superblock is closed or erased. Greedy selection then reads `n / 64 + 64` counts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Blocks {
    units_per_block: u32,
    /// Valid units, [`NOT_CLOSED`] added where it applies: the largest numbers are those that nobody looks for.
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
        self.valid[block as usize] & !NOT_CLOSED
    }

    /// Whether the superblock has been written to its end and may be collected.
    pub fn is_closed(&self, block: u32) -> bool {
        self.valid[block as usize] < NOT_CLOSED
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

    /// Takes a closed superblock out of the candidates: it is being collected.
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

/// What is kept of a map: the other direction and the validity bits follow from it.
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
    /// Bytes of memory that the map of a drive takes, as [`Map`] keeps it; of one written in place, a bit for each unit.
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
    /// An empty map of `logical_units` user units over `superblocks` of `units_per_block` each.
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

    /// Asks for what moving the valid units of a word of the validity bits will change.
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

    /// The superblock of a physical unit.
    #[inline]
    pub fn block_of(&self, physical: u32) -> u32 {
        self.block_of.quotient(physical)
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

    /// The first valid unit at or after `from`; there is one before the end of the superblock.
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

    /// Takes the valid units from `from` to before `end`, at most [`WORD`] places, out of their superblock, which must not be a
    /// closed one. Returns a bit for each, the lowest for `from`: they are to be [put](Self::put) elsewhere at once.
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

    /// Puts the first `units` of those lifted at `from` on the fresh places from `to` on, in `block`. Returns those left.
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

    /// The logical units in these places.
    pub(crate) fn held_in(&self, places: std::ops::Range<u32>) -> impl Iterator<Item = u32> {
        self.physical_to_logical[places.start as usize..places.end as usize]
            .iter()
            .copied()
    }

    /// Sets the validity bits of so many units, at most a word of them.
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

/// A word with so many of its lowest bits set, at least one.
#[inline]
fn low_bits(count: u32) -> u64 {
    u64::MAX >> (WORD - count)
}
