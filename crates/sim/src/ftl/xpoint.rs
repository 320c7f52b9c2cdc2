//! A medium that is overwritten in place, without erases or collection, such as 3D `XPoint`.
//!
//! It is described as flash with pages of one unit and one bit per cell. A unit's number determines its die, each write of a
//! unit is one program, and nothing is ever moved.

use serde::{Deserialize, Serialize};

use crate::flash::{Flash, NONE};
use crate::ftl::layer::FtlCounts;
use crate::ftl::translation::Translation;

/// A translation layer in which every unit lies at its own number.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct InPlace {
    #[serde(with = "crate::flash::packed")]
    written: Vec<u64>,
    units: u32,
    raw_units: u64,
    counts: FtlCounts,
}

impl InPlace {
    /// Creates the layer of a new medium with `raw_units` units, of which the host can address `units`.
    pub fn new(units: u32, raw_units: u64) -> Self {
        Self {
            written: vec![0; units.div_ceil(64) as usize],
            units,
            raw_units,
            counts: FtlCounts::default(),
        }
    }

    fn is_written(&self, logical: u32) -> bool {
        self.written[logical as usize / 64] >> (logical % 64) & 1 == 1
    }
}

impl Translation for InPlace {
    fn write<F: Flash>(&mut self, logical: u32, flash: &mut F) {
        self.written[logical as usize / 64] |= 1 << (logical % 64);
        self.counts.host_units += 1;
        flash.program_host(logical, 1);
    }

    fn physical(&self, logical: u32) -> u32 {
        if self.is_written(logical) {
            logical
        } else {
            NONE
        }
    }

    fn mapped(&self) -> u64 {
        let ones = |word: &u64| u64::from(word.count_ones());
        self.written.iter().map(ones).sum()
    }

    fn trim<F: Flash>(&mut self, logical: u32, _flash: &mut F) -> bool {
        let held = self.is_written(logical);
        self.written[logical as usize / 64] &= !(1 << (logical % 64));
        held
    }

    fn end_word_line<F: Flash>(&mut self, _flash: &mut F) {}

    fn expect_logical(&self, _logical: u32) {}

    fn expect_overwrite(&self, _logical: u32) {}

    fn work_when_idle<F: Flash>(&mut self, _flash: &mut F) -> bool {
        false
    }

    fn purge<F: Flash>(&mut self, _flash: &mut F) {
        self.written.fill(0);
    }

    fn counts(&self) -> FtlCounts {
        self.counts
    }

    fn reset_counts(&mut self) {
        self.counts = FtlCounts::default();
    }

    fn effective_spare(&self) -> f64 {
        1.0 - f64::from(self.units) / self.raw_units as f64
    }

    fn is_in_use(&self) -> bool {
        true
    }

    fn wear(&self) -> (u32, u32) {
        (0, 0)
    }
}
