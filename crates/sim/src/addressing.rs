//! Where a physical unit lies in the machine, by how the translation layer lays out its blocks.

use serde::{Deserialize, Serialize};

use crate::mapping::UnitsToBlock;
use crate::nand::{Geometry, Place};

/// The page type of a word line that holds one bit a cell.
pub const ONE_BIT: u32 = 4;

/// How physical numbers follow the flash.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Addressing {
    /// Superblocks over all dies.
    Superblocks,
    /// The same, some of which are used with one bit a cell: then only the first numbers of the superblock exist.
    Mixed {
        /// A bit for each superblock.
        one_bit: Vec<u64>,
        /// Finds the superblock of a unit.
        block_of: UnitsToBlock,
    },
    /// Blocks of one plane: plane after plane, and in each block after block.
    Planes {
        /// Units of one plane.
        units_per_plane: u32,
    },
}

impl Addressing {
    /// For a drive whose superblocks may change between many bits a cell and one.
    pub fn mixed(geometry: &Geometry) -> Self {
        Self::Mixed {
            one_bit: vec![0; geometry.superblocks.div_ceil(64) as usize],
            block_of: UnitsToBlock::new(geometry.units_per_superblock()),
        }
    }

    /// For planes that are written each for itself.
    pub fn planes(geometry: &Geometry) -> Self {
        Self::Planes {
            units_per_plane: geometry.units_per_plane(),
        }
    }

    /// The superblock is to be used with one bit a cell, or with all of them again.
    pub fn set_one_bit(&mut self, block: u32, on: bool) {
        if let Self::Mixed { one_bit, .. } = self {
            let bit = 1 << (block % 64);
            let word = &mut one_bit[block as usize / 64];
            *word = if on { *word | bit } else { *word & !bit };
        }
    }

    /// The die, page type and array read of a physical unit.
    #[inline]
    pub fn place(&self, geometry: &Geometry, physical: u32) -> Place {
        match self {
            Self::Superblocks => geometry.place(physical),
            Self::Mixed { .. } | Self::Planes { .. } => self.other_place(geometry, physical),
        }
    }

    #[cold]
    fn other_place(&self, geometry: &Geometry, physical: u32) -> Place {
        match self {
            Self::Superblocks => geometry.place(physical),
            Self::Mixed { one_bit, block_of } => {
                let block = block_of.block(physical);
                if one_bit[block as usize / 64] >> (block % 64) & 1 == 1 {
                    one_bit_place(geometry, physical)
                } else {
                    geometry.place(physical)
                }
            }
            Self::Planes { units_per_plane } => plane_place(geometry, *units_per_plane, physical),
        }
    }

    /// The array read that brings a physical unit: same number, same read.
    #[inline]
    pub fn array_read(&self, geometry: &Geometry, physical: u32) -> u32 {
        match self {
            Self::Planes { .. } => physical / (geometry.units_per_read() / geometry.planes),
            _ => geometry.array_read(physical),
        }
    }

    /// Units that one program takes where all bits of a cell are used.
    #[inline]
    pub fn units_per_program(&self, geometry: &Geometry) -> u32 {
        match self {
            Self::Planes { .. } => geometry.units_per_program() / geometry.planes,
            _ => geometry.units_per_program(),
        }
    }
}

fn one_bit_place(geometry: &Geometry, physical: u32) -> Place {
    let word_line = geometry.array_read(physical);
    Place {
        die: word_line % geometry.dies(),
        page_type: ONE_BIT,
        array_read: word_line,
    }
}

/// Planes are counted so that neighbours lie on different channels, then ways, then dies: see `planes.rs`.
fn plane_place(geometry: &Geometry, units_per_plane: u32, physical: u32) -> Place {
    let page_units = geometry.units_per_read() / geometry.planes;
    let plane = physical / units_per_plane;
    let page = physical / page_units;
    Place {
        die: plane % geometry.dies(),
        page_type: page % geometry.bits_per_cell,
        array_read: page,
    }
}
