//! Static placement: each logical page belongs to one plane permanently, and each plane collects on its own.
//!
//! Pages go to channels first, then to the dies of a channel, then to planes (channel, way, die, plane: "CWDP" in Jung and
//! Kandemir, "An evaluation of different page allocation strategies on high-speed SSDs", `HotStorage` 2012). Several
//! simulators place data this way. A closed loop with a low queue depth then waits for whichever plane is collecting.

use serde::{Deserialize, Serialize};

use crate::flash::{Flash, NONE};
use crate::ftl::layer::{Ftl, FtlCounts};
use crate::ftl::translation::Translation;
use crate::ftl::victim_rule::VictimRule;
use crate::profile::spec::{Geometry, UNIT_BYTES};

/// A translation layer with a separate [`Ftl`] for each plane.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Planes<R> {
    each: Vec<Ftl<R>>,
    page_units: u32,
    units_per_plane: u32,
    blocks_per_plane: u32,
}

/// The plane of a unit, and the unit's number within that plane.
#[derive(Debug, Clone, Copy)]
struct Local {
    plane: usize,
    unit: u32,
}

impl<R: VictimRule> Planes<R> {
    /// Creates the layer of an erased drive. Each plane keeps `reserve` blocks free and has its own copy of `rule`.
    pub fn new(user_units: u32, geometry: &Geometry, reserve: u32, rule: &R) -> Self {
        let planes = geometry.all_planes();
        let page_units = geometry.page_bytes / UNIT_BYTES;
        let blocks = geometry.superblocks;
        let logical = user_units.div_ceil(page_units).div_ceil(planes) * page_units;
        let plane = Ftl::new(
            logical,
            blocks,
            geometry.pages_per_block * page_units,
            reserve,
            rule.clone(),
        )
        .of_pages(page_units, geometry.bits_per_cell);
        Self {
            each: vec![plane; planes as usize],
            page_units,
            units_per_plane: geometry.units_per_plane(),
            blocks_per_plane: blocks,
        }
    }

    fn local(&self, logical: u32) -> Local {
        let page = logical / self.page_units;
        let planes = self.each.len() as u32;
        Local {
            plane: (page % planes) as usize,
            unit: page / planes * self.page_units + logical % self.page_units,
        }
    }

    fn on<'a, F: Flash>(&self, plane: usize, flash: &'a mut F) -> OnPlane<'a, F> {
        OnPlane {
            flash,
            first_unit: plane as u32 * self.units_per_plane,
            first_block: plane as u32 * self.blocks_per_plane,
        }
    }
}

/// The flash as one plane sees it: units and blocks are numbered from zero.
struct OnPlane<'a, F> {
    flash: &'a mut F,
    first_unit: u32,
    first_block: u32,
}

impl<F: Flash> Flash for OnPlane<'_, F> {
    fn program_host(&mut self, last: u32, units: u32) {
        self.flash.program_host(self.first_unit + last, units);
    }

    fn read_for_move(&mut self, first: u32, units: u32) {
        self.flash.read_for_move(self.first_unit + first, units);
    }

    fn program_moved(&mut self, last: u32) {
        self.flash.program_moved(self.first_unit + last);
    }

    fn erase(&mut self, block: u32) {
        self.flash.erase(self.first_block + block);
    }

    fn erase_at_once(&mut self, block: u32) {
        self.flash.erase_at_once(self.first_block + block);
    }

    fn discard(&mut self, units: u32) {
        self.flash.discard(units);
    }
}

impl<R: VictimRule> Translation for Planes<R> {
    fn write<F: Flash>(&mut self, logical: u32, flash: &mut F) {
        let at = self.local(logical);
        let mut flash = self.on(at.plane, flash);
        self.each[at.plane].write(at.unit, &mut flash);
    }

    fn physical(&self, logical: u32) -> u32 {
        let at = self.local(logical);
        match self.each[at.plane].physical(at.unit) {
            NONE => NONE,
            physical => at.plane as u32 * self.units_per_plane + physical,
        }
    }

    fn mapped(&self) -> u64 {
        self.each.iter().map(Translation::mapped).sum()
    }

    fn trim<F: Flash>(&mut self, logical: u32, flash: &mut F) -> bool {
        let at = self.local(logical);
        let mut flash = self.on(at.plane, flash);
        self.each[at.plane].trim(at.unit, &mut flash)
    }

    fn end_word_line<F: Flash>(&mut self, flash: &mut F) {
        for plane in 0..self.each.len() {
            let mut flash = self.on(plane, flash);
            self.each[plane].end_word_line(&mut flash);
        }
    }

    fn expect_logical(&self, logical: u32) {
        let at = self.local(logical);
        self.each[at.plane].expect_logical(at.unit);
    }

    fn expect_overwrite(&self, logical: u32) {
        let at = self.local(logical);
        self.each[at.plane].expect_overwrite(at.unit);
    }

    fn work_when_idle<F: Flash>(&mut self, flash: &mut F) -> bool {
        let mut any = false;
        for plane in 0..self.each.len() {
            let mut flash = self.on(plane, flash);
            any |= self.each[plane].work_when_idle(&mut flash);
        }
        any
    }

    fn purge<F: Flash>(&mut self, flash: &mut F) {
        for plane in 0..self.each.len() {
            let mut flash = self.on(plane, flash);
            self.each[plane].purge(&mut flash);
        }
    }

    fn counts(&self) -> FtlCounts {
        self.each
            .iter()
            .map(Ftl::counts)
            .fold(FtlCounts::default(), FtlCounts::plus)
    }

    fn reset_counts(&mut self) {
        self.each.iter_mut().for_each(Ftl::reset_counts);
    }

    fn effective_spare(&self) -> f64 {
        self.each.iter().map(Ftl::effective_spare).sum::<f64>() / self.each.len() as f64
    }

    fn is_in_use(&self) -> bool {
        self.each.iter().all(Ftl::is_in_use)
    }

    fn wear(&self) -> (u32, u32) {
        let wear = self.each.iter().map(Ftl::wear);
        wear.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
            .unwrap_or((0, 0))
    }
}
