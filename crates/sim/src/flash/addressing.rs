//! Where a physical unit lies in the machine, by how the translation layer lays out its blocks.

use serde::{Deserialize, Serialize};

use crate::flash::divisor::Divisor;
use crate::profile::spec::Geometry;

/// The page type of a word line that holds one bit a cell.
pub const ONE_BIT: u32 = 4;

/// Marks a logical unit that holds nothing, and a physical unit that belongs to nobody.
pub const NONE: u32 = u32::MAX;

/// Where a physical unit lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Die, counted so that neighbours lie on different channels.
    pub die: u32,
    /// Which page of the word line: 0 is the lower one; [`ONE_BIT`] if there is only one.
    pub page_type: u32,
    /// The array read that brings this unit: same number, same read (all planes of one page of one word line).
    pub array_read: u32,
}

/// How physical numbers follow the flash.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Addressing {
    blocks: Blocks,
    units_per_read: Divisor,
    units_per_program: Divisor,
    /// Dies over which pages alternate, and the units of their word lines together.
    stripe: Divisor,
    units_per_stripe: Divisor,
    dies: Divisor,
}

/// What a block of the translation layer is.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Blocks {
    /// Superblocks over all dies.
    Super,
    /// The same, some of which are used with one bit a cell: then only the first numbers of the superblock exist.
    Mixed {
        /// A bit for each superblock.
        one_bit: Vec<u64>,
        units_per_superblock: Divisor,
    },
    /// Blocks of one plane: plane after plane, and in each block after block.
    OfPlanes { units_per_plane: Divisor },
}

impl Addressing {
    /// For a drive of superblocks.
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

    /// The same, with pages that alternate over so many dies, a divisor of all.
    #[must_use]
    pub fn striped(mut self, dies: u32) -> Self {
        self.stripe = Divisor::new(dies);
        self.units_per_stripe = Divisor::new(dies * self.units_per_program.by());
        self
    }

    /// For a drive whose superblocks may change between many bits a cell and one.
    pub fn mixed(geometry: &Geometry) -> Self {
        Self {
            blocks: Blocks::Mixed {
                one_bit: vec![0; geometry.superblocks.div_ceil(64) as usize],
                units_per_superblock: Divisor::new(geometry.units_per_superblock()),
            },
            ..Self::superblocks(geometry)
        }
    }

    /// For planes that are written each for itself.
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

    /// The superblock is to be used with one bit a cell, or with all of them again.
    pub fn set_one_bit(&mut self, block: u32, on: bool) {
        if let Blocks::Mixed { one_bit, .. } = &mut self.blocks {
            let bit = 1 << (block % 64);
            let word = &mut one_bit[block as usize / 64];
            *word = if on { *word | bit } else { *word & !bit };
        }
    }

    /// Whether a plane has blocks of its own; else they lie over all planes of all dies.
    pub fn is_of_planes(&self) -> bool {
        matches!(self.blocks, Blocks::OfPlanes { .. })
    }

    /// The die, page type and array read of a physical unit.
    #[inline]
    pub fn place(&self, physical: u32) -> Place {
        match &self.blocks {
            Blocks::Super => self.many_bit_place(physical),
            Blocks::Mixed { .. } | Blocks::OfPlanes { .. } => self.other_place(physical),
        }
    }

    /// Word lines follow each other over the dies, a stripe of them at a time, whose pages alternate.
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

    /// Planes are counted so that neighbours lie on different channels, then ways, then dies: see `planes.rs`.
    fn plane_place(&self, plane: u32, physical: u32) -> Place {
        let within = self.units_per_program.rest(physical);
        Place {
            die: self.dies.rest(plane),
            page_type: self.units_per_read.quotient(within),
            array_read: self.array_read(physical),
        }
    }

    /// Which word line of its block, over all dies, holds a page of the block.
    pub fn word_line(&self, page: u32, one_bit: bool) -> u32 {
        if one_bit {
            return page;
        }
        let dies = self.stripe.by();
        let pages = self.units_per_stripe.by() / self.units_per_read.by();
        page / pages * dies + page % pages % dies
    }

    /// The array read that brings a physical unit: same number, same read.
    #[inline]
    pub fn array_read(&self, physical: u32) -> u32 {
        self.units_per_read.quotient(physical)
    }

    /// Units that one array read brings.
    #[inline]
    pub fn units_per_read(&self) -> u32 {
        self.units_per_read.by()
    }

    /// Units that one program takes where all bits of a cell are used.
    #[inline]
    pub fn units_per_program(&self) -> u32 {
        self.units_per_program.by()
    }
}
