//! Maps physical units to dies and pages, for each way in which the translation layer lays out its blocks.

use serde::{Deserialize, Serialize};

use crate::flash::divisor::Divisor;
use crate::profile::spec::Geometry;

/// Page type of a word line with one bit per cell.
pub const ONE_BIT: u32 = 4;

/// Marks a logical unit without data, and a physical unit without an owner.
pub const NONE: u32 = u32::MAX;

/// The location of a physical unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The die. Dies with neighbouring numbers are on different channels.
    pub die: u32,
    /// Page of the word line: 0 is the lower page; [`ONE_BIT`] if the word line has only one page.
    pub page_type: u32,
    /// Number of the array read that brings this unit: one page of one word line on all planes. Units with the same
    /// number come with the same read.
    pub array_read: u32,
}

/// The layout of physical unit numbers on the flash.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Addressing {
    blocks: Blocks,
    units_per_read: Divisor,
    units_per_program: Divisor,
    /// Dies over which pages alternate. `units_per_stripe` counts the units of one word line on each of these dies.
    stripe: Divisor,
    units_per_stripe: Divisor,
    dies: Divisor,
}

/// The kind of block that the translation layer writes and erases.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Blocks {
    /// Superblocks over all dies.
    Super,
    /// Superblocks over all dies, some of them with one bit per cell. Those use only their first unit numbers.
    Mixed {
        /// A bit for each superblock: whether it has one bit per cell.
        one_bit: Vec<u64>,
        units_per_superblock: Divisor,
    },
    /// Blocks of one plane each. Unit numbers count plane by plane, and block by block within a plane.
    OfPlanes { units_per_plane: Divisor },
}

impl Addressing {
    /// Creates the addressing of a drive with superblocks.
    pub fn superblocks(geometry: &Geometry) -> Self {
        Self {
            blocks: Blocks::Super,
            units_per_read: Divisor::new(geometry.units_per_read()),
            units_per_program: Divisor::new(geometry.units_per_program()),
            stripe: Divisor::new(1),
            units_per_stripe: Divisor::new(geometry.units_per_program()),
            dies: Divisor::new(geometry.dies()),
        }
    }

    /// Lets pages alternate over `dies` dies, a divisor of the number of all dies.
    #[must_use]
    pub fn striped(mut self, dies: u32) -> Self {
        self.stripe = Divisor::new(dies);
        self.units_per_stripe = Divisor::new(dies * self.units_per_program.by());
        self
    }

    /// Creates the addressing of a drive whose superblocks can switch between all bits per cell and one.
    pub fn mixed(geometry: &Geometry) -> Self {
        Self {
            blocks: Blocks::Mixed {
                one_bit: vec![0; geometry.superblocks.div_ceil(64) as usize],
                units_per_superblock: Divisor::new(geometry.units_per_superblock()),
            },
            ..Self::superblocks(geometry)
        }
    }

    /// Creates the addressing of planes that are written independently.
    pub fn planes(geometry: &Geometry) -> Self {
        let page_units = geometry.units_per_read() / geometry.planes;
        Self {
            blocks: Blocks::OfPlanes {
                units_per_plane: Divisor::new(geometry.units_per_plane()),
            },
            units_per_read: Divisor::new(page_units),
            units_per_program: Divisor::new(page_units * geometry.bits_per_cell),
            stripe: Divisor::new(1),
            units_per_stripe: Divisor::new(page_units * geometry.bits_per_cell),
            dies: Divisor::new(geometry.dies()),
        }
    }

    /// Switches a superblock to one bit per cell (`on`), or back to all bits. Only a [`mixed`](Self::mixed) layout does so.
    pub fn set_one_bit(&mut self, block: u32, on: bool) {
        if let Blocks::Mixed { one_bit, .. } = &mut self.blocks {
            let bit = 1 << (block % 64);
            let word = &mut one_bit[block as usize / 64];
            *word = if on { *word | bit } else { *word & !bit };
        }
    }

    /// Returns whether each block belongs to one plane; otherwise a block spans all planes of all dies.
    pub fn is_of_planes(&self) -> bool {
        matches!(self.blocks, Blocks::OfPlanes { .. })
    }

    /// Returns the die, page type and array read of a physical unit.
    #[inline]
    pub fn place(&self, physical: u32) -> Place {
        match &self.blocks {
            Blocks::Super => self.many_bit_place(physical),
            Blocks::Mixed { .. } | Blocks::OfPlanes { .. } => self.other_place(physical),
        }
    }

    /// Stripes of word lines follow each other over the dies. Within a stripe, pages alternate over its dies.
    #[inline]
    fn many_bit_place(&self, physical: u32) -> Place {
        let stripe = self.units_per_stripe.quotient(physical);
        let within = physical - stripe * self.units_per_stripe.by();
        let page = self.units_per_read.quotient(within);
        let page_type = self.stripe.quotient(page);
        let word_line = stripe * self.stripe.by() + page - page_type * self.stripe.by();
        Place {
            die: self.dies.rest(word_line),
            page_type,
            array_read: self.array_read(physical),
        }
    }

    #[cold]
    fn other_place(&self, physical: u32) -> Place {
        match &self.blocks {
            Blocks::Super => self.many_bit_place(physical),
            Blocks::Mixed {
                one_bit,
                units_per_superblock,
            } => {
                let block = units_per_superblock.quotient(physical);
                if one_bit[block as usize / 64] >> (block % 64) & 1 == 1 {
                    self.one_bit_place(physical)
                } else {
                    self.many_bit_place(physical)
                }
            }
            Blocks::OfPlanes { units_per_plane } => {
                self.plane_place(units_per_plane.quotient(physical), physical)
            }
        }
    }

    fn one_bit_place(&self, physical: u32) -> Place {
        let word_line = self.array_read(physical);
        Place {
            die: self.dies.rest(word_line),
            page_type: ONE_BIT,
            array_read: word_line,
        }
    }

    /// Planes are numbered so that neighbours differ in channel first, then in way, then in die: see `planes.rs`.
    fn plane_place(&self, plane: u32, physical: u32) -> Place {
        let within = self.units_per_program.rest(physical);
        Place {
            die: self.dies.rest(plane),
            page_type: self.units_per_read.quotient(within),
            array_read: self.array_read(physical),
        }
    }

    /// Returns the word line that holds `page`, both counted over all dies of the block.
    pub fn word_line(&self, page: u32, one_bit: bool) -> u32 {
        if one_bit {
            return page;
        }
        let dies = self.stripe.by();
        let pages = self.units_per_stripe.by() / self.units_per_read.by();
        page / pages * dies + page % pages % dies
    }

    /// Returns the number of the array read that brings a physical unit. Units with the same number come with the same read.
    #[inline]
    pub fn array_read(&self, physical: u32) -> u32 {
        self.units_per_read.quotient(physical)
    }

    /// Units of one array read.
    #[inline]
    pub fn units_per_read(&self) -> u32 {
        self.units_per_read.by()
    }

    /// Units of one program that uses all bits of a cell.
    #[inline]
    pub fn units_per_program(&self) -> u32 {
        self.units_per_program.by()
    }
}
