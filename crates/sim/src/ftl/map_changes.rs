//! Changed entries of a map in flash: they wait in memory and are written page by page.
//!
//! Reading and writing a map page for a single scattered change would cost more than the data itself. Changes therefore wait.
//! When memory for them runs short, map pages are written in turn, and each takes all of its waiting changes at once. Pages
//! that one array read brings take their turn together. These are the batch updates of DFTL (Gupta, Kim and Urgaonkar, ASPLOS
//! 2009) and of `LazyFTL` (Ma, Feng and Li, SIGMOD 2011). Changes that are lost with power are recovered from the spare bytes
//! of the data pages.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Bytes of memory for a changed entry: the unit and its new position.
pub(crate) const CHANGE_BYTES: u64 = 8;

/// The entries that have changed and are not in their map page yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Changes {
    /// One bit for each entry, set if it has changed.
    #[serde(with = "crate::flash::packed")]
    changed: Vec<u64>,
    /// Changed entries of each page.
    #[serde(with = "crate::flash::packed")]
    of_page: Vec<u32>,
    /// Groups of pages with changed entries; a group is what one array read brings.
    waiting: BTreeSet<u32>,
    /// The group from which the search for the next turn starts.
    next: u32,
    count: u64,
    capacity: u64,
    /// Entries per page, a multiple of 64.
    page_entries: u32,
    /// Pages per group.
    read_pages: u32,
}

impl Changes {
    /// Creates an empty set for a map of `pages` pages, of which one array read brings `read_pages`. `bytes` is the memory
    /// for changes.
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

    /// Forgets all changes.
    pub(crate) fn forget(&mut self) {
        self.changed.fill(0);
        self.of_page.fill(0);
        self.waiting.clear();
        self.count = 0;
    }

    /// Whether a change of this entry waits.
    #[inline]
    pub(crate) fn has(&self, entry: u32) -> bool {
        self.changed[(entry / u64::BITS) as usize] >> (entry % u64::BITS) & 1 == 1
    }

    /// Records a change of this entry, unless one waits already.
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

    /// While more changes wait than fit into memory, returns the group whose turn it is, and its pages.
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

    /// Takes the changes of a page whose turn it is. Returns how many there were.
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
