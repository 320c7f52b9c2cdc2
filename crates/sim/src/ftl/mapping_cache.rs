//! The part of the map that a drive keeps in memory if that cannot hold all of it; the rest is in flash.
//!
//! The map is stored in *map pages* of 4 KiB, each with the entries of 1024 neighbouring mapping units. A look-up costs one
//! array read if the entry's page is not in memory. An entry that the host or collection changes waits for other changes to
//! its page; see [`Changes`].

use serde::{Deserialize, Serialize};

use crate::flash::Machine;
use crate::ftl::map_changes::Changes;
use crate::ftl::map_pages::RecentlyUsed;
use crate::profile::spec::MapMemory;

/// Entries per map page.
const ENTRIES: u32 = 1024;
const PAGE_BYTES: u64 = 4096;

/// Determines when the map entry of a unit is in memory.
pub trait MappingCache: Clone {
    /// Whether part of the map is in flash; the units that collection moves must then be reported.
    const IN_FLASH: bool;

    /// Looks up an entry at `ready`. Returns when it is in memory.
    fn look_up(&mut self, logical: u32, ready: u64, machine: &mut Machine) -> u64;

    /// Records that an entry changes.
    fn change(&mut self, logical: u32, machine: &mut Machine);

    /// Records that the entries of all units that collection has moved since the last call change.
    fn change_moved(&mut self, machine: &mut Machine);

    /// Records that all of the map is in flash, though the host wrote nothing.
    fn placed(&mut self);

    /// Forgets the map, since the drive was erased.
    fn purged(&mut self, machine: &mut Machine);

    /// Use of the map memory since the drive was made.
    fn counts(&self) -> MapCounts;
}

/// The whole map in memory. It costs nothing and is compiled away.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct WholeMap;

impl MappingCache for WholeMap {
    const IN_FLASH: bool = false;

    #[inline]
    fn look_up(&mut self, _logical: u32, ready: u64, _machine: &mut Machine) -> u64 {
        ready
    }

    #[inline]
    fn change(&mut self, _logical: u32, _machine: &mut Machine) {}

    #[inline]
    fn change_moved(&mut self, _machine: &mut Machine) {}

    fn placed(&mut self) {}

    fn purged(&mut self, _machine: &mut Machine) {}

    fn counts(&self) -> MapCounts {
        MapCounts::default()
    }
}

/// Use of the map memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapCounts {
    /// Look-ups whose entry was in memory.
    pub hits: u64,
    /// Look-ups that had to read the entry's page.
    pub misses: u64,
    /// Pages read before they could be written back, since not all of their entries were in memory.
    pub completed: u64,
    /// Pages written back with their changed entries.
    pub written_back: u64,
}

/// A map of which part is in memory: the pages used last, and the entries that have changed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PartOfMap {
    pages: RecentlyUsed,
    changes: Changes,
    /// Entries of the map.
    entries: u32,
    /// 4 KiB units that share an entry.
    together: u32,
    /// Pages per group: one array read brings a group.
    read_units: u32,
    counts: MapCounts,
}

impl PartOfMap {
    /// Creates the map of a drive with `logical_units` units. `together` units share an entry, and one array read brings
    /// `read_units` map pages.
    pub fn new(logical_units: u32, together: u32, read_units: u32, memory: MapMemory) -> Self {
        let entries = logical_units.div_ceil(together);
        let pages = entries.div_ceil(ENTRIES) as usize;
        Self {
            pages: RecentlyUsed::new(pages, (memory.page_bytes / PAGE_BYTES) as usize),
            changes: Changes::new(pages, ENTRIES, read_units, memory.change_bytes),
            entries,
            together,
            read_units,
            counts: MapCounts::default(),
        }
    }

    /// Entries on a page; the last page may have fewer than the others.
    fn entries_on(&self, page: u32) -> u32 {
        ENTRIES.min(self.entries - page * ENTRIES)
    }

    /// Writes pages back until the waiting changes fit into memory. The host does not wait for this, since some room is
    /// always left.
    fn write_surplus(&mut self, machine: &mut Machine) {
        while let Some((group, pages)) = self.changes.next_turn() {
            let (mut written, mut lacking) = (0, 0);
            let mut ready = machine.at;
            for page in pages {
                let changed = self.changes.take(page);
                if changed == 0 {
                    continue;
                }
                written += 1;
                match self.pages.at_hand(page) {
                    Some(there_at) => ready = ready.max(there_at),
                    None if changed < self.entries_on(page) && self.pages.is_stored(page) => {
                        lacking += 1;
                    }
                    None => {}
                }
                self.pages.store(page);
            }
            if lacking > 0 {
                ready = ready.max(machine.read_map(group, lacking, machine.at));
            }
            machine.write_map(group, written, ready);
            self.counts.completed += u64::from(lacking);
            self.counts.written_back += u64::from(written);
        }
    }
}

impl MappingCache for PartOfMap {
    const IN_FLASH: bool = true;

    fn look_up(&mut self, logical: u32, ready: u64, machine: &mut Machine) -> u64 {
        let entry = logical / self.together;
        let page = entry / ENTRIES;
        if self.changes.has(entry) || !self.pages.is_stored(page) {
            self.counts.hits += 1;
            return ready;
        }
        if let Some(there_at) = self.pages.take(page) {
            self.counts.hits += 1;
            return ready.max(there_at);
        }
        self.counts.misses += 1;
        let there_at = machine.read_map(page / self.read_units, 1, ready);
        self.pages.keep(page, there_at);
        there_at
    }

    fn change(&mut self, logical: u32, machine: &mut Machine) {
        self.changes.add(logical / self.together);
        self.write_surplus(machine);
    }

    fn change_moved(&mut self, machine: &mut Machine) {
        while let Some(logical) = machine.next_moved() {
            self.change(logical, machine);
        }
    }

    fn placed(&mut self) {
        self.pages.store_all();
    }

    fn purged(&mut self, machine: &mut Machine) {
        self.pages.forget();
        self.changes.forget();
        machine.forget_map();
    }

    fn counts(&self) -> MapCounts {
        self.counts
    }
}
