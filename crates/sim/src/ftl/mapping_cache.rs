//! The part of the map that a drive without enough memory keeps at hand; the rest is in flash.
//!
//! The map is kept in *map pages* of 4 KiB, each with the entries of 1024 neighbouring mapping units. One whose page is not at hand
//! costs one array read; a page that was changed is written back when it gives way to another.

use serde::{Deserialize, Serialize};

use crate::flash::{Machine, NONE};

/// Map entries of one map page.
const ENTRIES: u32 = 1024;
/// The place of a page that is not at hand and was never written to flash.
const FRESH: u32 = NONE - 1;

/// Says when the map entry of a unit is at hand.
pub trait MappingCache: Clone {
    /// The entry is wanted at `ready`. Returns when it is there.
    fn look_up(&mut self, logical: u32, ready: u64, machine: &mut Machine) -> u64;

    /// The entry is to be changed at `ready`. Returns when it is there.
    fn change(&mut self, logical: u32, ready: u64, machine: &mut Machine) -> u64;

    /// Use since the drive was made.
    fn counts(&self) -> MapCounts;
}

/// The whole map is in memory: costs nothing, and is compiled away.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct WholeMap;

impl MappingCache for WholeMap {
    #[inline]
    fn look_up(&mut self, _logical: u32, ready: u64, _machine: &mut Machine) -> u64 {
        ready
    }

    #[inline]
    fn change(&mut self, _logical: u32, ready: u64, _machine: &mut Machine) -> u64 {
        ready
    }

    fn counts(&self) -> MapCounts {
        MapCounts::default()
    }
}

/// How a mapping cache has been used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapCounts {
    /// Entries that were at hand.
    pub hits: u64,
    /// Entries whose page had to be read.
    pub misses: u64,
    /// Changed pages that gave way and were written back.
    pub written_back: u64,
}

/// A page at hand, in a list from the one used last to the one used longest ago.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Held {
    page: u32,
    newer: u32,
    older: u32,
    changed: bool,
    /// Whether flash has the page, maybe as it was before it changed.
    stored: bool,
    /// When its read has ended.
    there_at: u64,
}

/// The pages used last.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RecentlyUsed {
    /// For each map page its place among `held`, or [`NONE`] or [`FRESH`].
    #[serde(with = "crate::flash::packed")]
    place: Vec<u32>,
    held: Vec<Held>,
    /// Units whose entries one page holds.
    page_units: u32,
    capacity: usize,
    newest: u32,
    oldest: u32,
    counts: MapCounts,
}

impl RecentlyUsed {
    /// For a drive of so many units, `together` of which have one entry; `bytes` of memory hold map pages, at least one.
    pub fn new(logical_units: u32, together: u32, bytes: u64) -> Self {
        let page_units = ENTRIES * together;
        let pages = logical_units.div_ceil(page_units) as usize;
        Self {
            place: vec![FRESH; pages],
            held: Vec::new(),
            page_units,
            capacity: ((bytes / u64::from(ENTRIES * 4)) as usize).clamp(1, pages),
            newest: NONE,
            oldest: NONE,
            counts: MapCounts::default(),
        }
    }

    fn unlink(&mut self, place: u32) {
        let Held { newer, older, .. } = self.held[place as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.held[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.held[older as usize].newer = newer,
        }
    }

    fn link_newest(&mut self, place: u32) {
        let held = &mut self.held[place as usize];
        held.newer = NONE;
        held.older = self.newest;
        match self.newest {
            NONE => self.oldest = place,
            newest => self.held[newest as usize].newer = place,
        }
        self.newest = place;
    }

    /// Makes room for a page. Returns its place.
    fn make_room(&mut self, ready: u64, machine: &mut Machine) -> u32 {
        if self.held.len() < self.capacity {
            self.held.push(Held {
                page: NONE,
                newer: NONE,
                older: NONE,
                changed: false,
                stored: false,
                there_at: 0,
            });
            return self.held.len() as u32 - 1;
        }
        let place = self.oldest;
        self.unlink(place);
        let gone = self.held[place as usize];
        let stored = gone.stored || gone.changed;
        self.place[gone.page as usize] = if stored { NONE } else { FRESH };
        if gone.changed {
            self.counts.written_back += 1;
            machine.write_map_page(gone.page, ready);
        }
        place
    }

    fn fetch(&mut self, logical: u32, ready: u64, change: bool, machine: &mut Machine) -> u64 {
        let page = logical / self.page_units;
        let mut place = self.place[page as usize];
        if place >= FRESH {
            let stored = place == NONE;
            place = self.make_room(ready, machine);
            self.place[page as usize] = place;
            let held = &mut self.held[place as usize];
            held.page = page;
            held.changed = false;
            held.stored = stored;
            held.there_at = ready;
            if stored {
                self.counts.misses += 1;
                held.there_at = machine.read_map_page(page, ready);
            } else {
                self.counts.hits += 1;
            }
        } else {
            self.counts.hits += 1;
            if place == self.newest {
                self.held[place as usize].changed |= change;
                return ready.max(self.held[place as usize].there_at);
            }
            self.unlink(place);
        }
        self.link_newest(place);
        let held = &mut self.held[place as usize];
        held.changed |= change;
        ready.max(held.there_at)
    }
}

impl MappingCache for RecentlyUsed {
    fn look_up(&mut self, logical: u32, ready: u64, machine: &mut Machine) -> u64 {
        self.fetch(logical, ready, false, machine)
    }

    fn change(&mut self, logical: u32, ready: u64, machine: &mut Machine) -> u64 {
        self.fetch(logical, ready, true, machine)
    }

    fn counts(&self) -> MapCounts {
        self.counts
    }
}
