//! The map pages that were used last, and which map pages are in flash.

use serde::{Deserialize, Serialize};

use crate::flash::NONE;

/// Marks a map page that was never written to flash.
const FRESH: u32 = NONE - 1;

/// A map page in memory, linked into a list in order of last use.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Held {
    page: u32,
    newer: u32,
    older: u32,
    /// When the read that brings it ends.
    there_at: u64,
}

/// The map pages that were used last: each has the contents that flash has, with later changes applied.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RecentlyUsed {
    /// For each map page its index in `held`; [`NONE`] if only flash has it, [`FRESH`] if not even flash has it.
    #[serde(with = "crate::flash::packed")]
    place: Vec<u32>,
    held: Vec<Held>,
    capacity: usize,
    newest: u32,
    oldest: u32,
}

impl RecentlyUsed {
    /// Creates a cache for a map of `pages` pages, none of them in flash yet. Memory holds up to `held` of them, at least
    /// one.
    pub(crate) fn new(pages: usize, held: usize) -> Self {
        Self {
            place: vec![FRESH; pages],
            held: Vec::new(),
            capacity: held.clamp(1, pages),
            newest: NONE,
            oldest: NONE,
        }
    }

    /// Whether flash has the page, possibly without its latest changes.
    #[inline]
    pub(crate) fn is_stored(&self, page: u32) -> bool {
        self.place[page as usize] != FRESH
    }

    /// Records that the page is written to flash.
    pub(crate) fn store(&mut self, page: u32) {
        let place = &mut self.place[page as usize];
        if *place == FRESH {
            *place = NONE;
        }
    }

    /// Records that all pages are in flash.
    pub(crate) fn store_all(&mut self) {
        (0..self.place.len() as u32).for_each(|page| self.store(page));
    }

    /// Forgets all pages: none is in memory or in flash.
    pub(crate) fn forget(&mut self) {
        *self = Self::new(self.place.len(), self.capacity);
    }

    /// Returns when the page is in memory, if it is there or has been requested.
    pub(crate) fn at_hand(&self, page: u32) -> Option<u64> {
        let held = self.held.get(self.place[page as usize] as usize);
        held.map(|held| held.there_at)
    }

    /// As [`at_hand`](Self::at_hand), and marks the page as the most recently used.
    pub(crate) fn take(&mut self, page: u32) -> Option<u64> {
        let there_at = self.at_hand(page)?;
        let place = self.place[page as usize];
        if place != self.newest {
            self.unlink(place);
            self.link_newest(place);
        }
        Some(there_at)
    }

    /// Adds a page that arrives in memory at `there_at`. The least recently used page gives way if there is no room.
    pub(crate) fn keep(&mut self, page: u32, there_at: u64) {
        let place = self.make_room();
        let held = &mut self.held[place as usize];
        (held.page, held.there_at) = (page, there_at);
        self.place[page as usize] = place;
        self.link_newest(place);
    }

    /// Makes room for a page. Returns its index in `held`.
    fn make_room(&mut self) -> u32 {
        if self.held.len() < self.capacity {
            self.held.push(Held {
                page: NONE,
                newer: NONE,
                older: NONE,
                there_at: 0,
            });
            return self.held.len() as u32 - 1;
        }
        let place = self.oldest;
        self.unlink(place);
        let gone = self.held[place as usize];
        self.place[gone.page as usize] = NONE;
        place
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_used_longest_ago_gives_way() {
        let mut pages = RecentlyUsed::new(5, 2);
        pages.store_all();
        pages.keep(3, 10);
        pages.keep(1, 20);
        assert_eq!((pages.take(3), pages.take(0)), (Some(10), None));
        pages.keep(0, 30);
        let at_hand = [0, 1, 2, 3, 4].map(|page| pages.at_hand(page));
        assert_eq!(at_hand, [Some(30), None, None, Some(10), None]);
    }

    #[test]
    fn a_page_is_in_flash_when_it_was_written() {
        let mut pages = RecentlyUsed::new(2, 1);
        assert!(!pages.is_stored(0) && pages.at_hand(0).is_none());
        pages.store(0);
        assert!(pages.is_stored(0) && !pages.is_stored(1));
    }
}
