//! Changed entries of a map that lies in flash: they wait in memory and are written page by page.
//!
//! Where entries change here and there, a page that is read and written for one of them would cost more than the data. So they wait,
//! and when memory for them is short, pages take all of their own at once: the batch updates of DFTL (Gupta, Kim and Urgaonkar,
//! ASPLOS 2009) and of `LazyFTL` (Ma, Feng and Li, SIGMOD 2011). Pages have their turns in order, those together that one array read
//! brings. What had not been written when power fails is found again in the spare bytes of the data itself.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Bytes of memory for a changed entry: the unit and its new place.
pub(crate) const CHANGE_BYTES: u64 = 8;

/// The entries that are changed and not in their page yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Changes {
    /// A bit for each entry.
    #[serde(with = "crate::flash::packed")]
    changed: Vec<u64>,
    /// Of each page how many are.
    #[serde(with = "crate::flash::packed")]
    of_page: Vec<u32>,
    /// Groups of pages that are read together: those that have any, and the first that has not had its turn since number 0 had.
    waiting: BTreeSet<u32>,
    next: u32,
    count: u64,
    capacity: u64,
    /// Entries of a page, a multiple of 64, and pages that are read together.
    page_entries: u32,
    read_pages: u32,
}

impl Changes {
    /// None, of a map of so many pages, of which an array read brings `read_pages`; `bytes` of memory are for them.
    pub(crate) fn new(pages: usize, page_entries: u32, read_pages: u32, bytes: u64) -> Self {
        Self {
            changed: vec![0; pages * (page_entries / u64::BITS) as usize],
            of_page: vec![0; pages],
            waiting: BTreeSet::new(),
            next: 0,
            count: 0,
            capacity: bytes / CHANGE_BYTES,
            page_entries,
            read_pages,
        }
    }

    /// None waits any more.
    pub(crate) fn forget(&mut self) {
        self.changed.fill(0);
        self.of_page.fill(0);
        self.waiting.clear();
        self.count = 0;
    }

    /// Whether this entry waits.
    #[inline]
    pub(crate) fn has(&self, entry: u32) -> bool {
        self.changed[(entry / u64::BITS) as usize] >> (entry % u64::BITS) & 1 == 1
    }

    /// This entry is changed, whether it waits already or not.
    pub(crate) fn add(&mut self, entry: u32) {
        if self.has(entry) {
            return;
        }
        self.changed[(entry / u64::BITS) as usize] |= 1 << (entry % u64::BITS);
        let page = entry / self.page_entries;
        let of_page = &mut self.of_page[page as usize];
        if *of_page == 0 {
            self.waiting.insert(page / self.read_pages);
        }
        *of_page += 1;
        self.count += 1;
    }

    /// While more wait than there is memory for: the number of the group that has its turn, and its pages.
    pub(crate) fn next_turn(&mut self) -> Option<(u32, Range<u32>)> {
        if self.count <= self.capacity {
            return None;
        }
        let behind = self.waiting.range(self.next..).next();
        let group = *behind.or_else(|| self.waiting.first())?;
        self.waiting.remove(&group);
        self.next = group + 1;
        let first = group * self.read_pages;
        let end = (first + self.read_pages).min(self.of_page.len() as u32);
        Some((group, first..end))
    }

    /// Takes the changes of a page that has its turn. Returns how many.
    pub(crate) fn take(&mut self, page: u32) -> u32 {
        let changed = std::mem::take(&mut self.of_page[page as usize]);
        self.count -= u64::from(changed);
        let words = (self.page_entries / u64::BITS) as usize;
        let first = page as usize * words;
        self.changed[first..first + words].fill(0);
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_take_all_of_their_own_in_turn() {
        let mut changes = Changes::new(5, 64, 2, 5 * CHANGE_BYTES);
        for entry in [130, 260, 131, 260, 255, 132] {
            changes.add(entry);
        }
        assert_eq!(changes.next_turn(), None);
        changes.add(3);
        assert_eq!(changes.next_turn(), Some((0, 0..2)));
        assert_eq!([changes.take(0), changes.take(1)], [1, 0]);
        assert_eq!(changes.next_turn(), None);
        assert!(!changes.has(3) && changes.has(130) && changes.has(255));
        (0..64).for_each(|entry| changes.add(entry));
        for (group, pages, taken) in [(1, 2..4, [3, 1]), (2, 4..5, [1, 0]), (0, 0..2, [64, 0])] {
            assert_eq!(changes.next_turn(), Some((group, pages.clone())));
            for (page, taken) in pages.zip(taken) {
                assert_eq!(changes.take(page), taken);
            }
        }
        assert_eq!(changes.next_turn(), None);
    }
}
