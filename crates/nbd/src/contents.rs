//! The data on the drive. The drive model knows which mapping units are written, but not their data.
//!
//! Kept contents are sparse: data that was never written or that was trimmed reads as zeroes and takes no room. Seeded
//! contents are generated from seed and offset when they are read; writes do not change them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use workload::random::mix;

use crate::data_file::DataFile;
use crate::error::ServeError;
use crate::protocol::Fault;
use crate::room::{Room, Taken};

const PAGE_BYTES: usize = 4096;
const PAGE: u64 = PAGE_BYTES as u64;
/// Number of locks over the pages, so that connections do not wait for each other's copies.
const SHARDS: u64 = 64;
/// Neighbouring pages under one lock: 64 KiB.
const PAGES_IN_A_ROW: u64 = 16;

/// Memory for the data of writes in transit, in addition to the memory for contents: a full drive can still be overwritten.
const ON_THE_WAY_BYTES: u64 = 64 << 20;

/// Store of the drive's data. Accesses to one page are atomic: no reader sees half of a write to a page.
#[derive(Debug)]
pub struct Contents {
    kept: Kept,
    /// Memory for pages, and for data in transit that does not fit into `on_the_way`.
    memory: Room,
    on_the_way: Room,
}

#[derive(Debug)]
enum Kept {
    Memory(Pages),
    File(DataFile),
    Seeded(u64),
}

impl Contents {
    /// Returns empty contents in memory, which may take up to `memory_bytes`.
    pub fn in_memory(memory_bytes: u64) -> Self {
        Self::new(Kept::Memory(Pages::new()), memory_bytes)
    }

    /// Opens contents in a sparse file of `size_bytes`, which is created if there is none. Only data in transit takes memory.
    ///
    /// # Errors
    /// The file cannot be opened, is in use, or is not a regular file of `size_bytes`.
    pub fn in_file(path: &Path, size_bytes: u64, memory_bytes: u64) -> Result<Self, ServeError> {
        let file = DataFile::open(path, size_bytes)?;
        Ok(Self::new(Kept::File(file), memory_bytes))
    }

    /// Returns contents that are generated from a seed. Only data in transit takes memory.
    pub fn seeded(seed: u64, memory_bytes: u64) -> Self {
        Self::new(Kept::Seeded(seed), memory_bytes)
    }

    fn new(kept: Kept, memory_bytes: u64) -> Self {
        Self {
            kept,
            memory: Room::new(memory_bytes),
            on_the_way: Room::new(ON_THE_WAY_BYTES),
        }
    }

    /// Reserves memory for the data of a write until all of it has arrived.
    ///
    /// # Errors
    /// [`Fault::NoSpace`] if too little memory is left.
    pub(crate) fn room_for(&self, payload_bytes: u64) -> Result<Taken<'_>, Fault> {
        let beside = self.on_the_way.hold(payload_bytes);
        beside
            .or_else(|| self.memory.hold(payload_bytes))
            .ok_or(Fault::NoSpace)
    }

    /// Fills `data` with the contents at `offset`, a multiple of 8.
    ///
    /// # Errors
    /// [`Fault::Io`] if the file could not be read.
    pub fn read(&self, offset: u64, data: &mut [u8]) -> Result<(), Fault> {
        match &self.kept {
            Kept::Memory(pages) => pages.read(offset, data),
            Kept::File(file) => file.read(offset, data)?,
            Kept::Seeded(seed) => make_up(*seed, offset, data),
        }
        Ok(())
    }

    /// Stores `data` at `offset`. Seeded contents do not change.
    ///
    /// # Errors
    /// [`Fault::NoSpace`] if there is no room for the data; [`Fault::Io`] if the file could not be written.
    pub fn write(&self, offset: u64, data: &[u8]) -> Result<(), Fault> {
        match &self.kept {
            Kept::Memory(pages) => pages.write(offset, data, &self.memory),
            Kept::File(file) => file.write(offset, data),
            Kept::Seeded(_) => Ok(()),
        }
    }

    /// Makes a range read as zeroes and frees its room. Seeded contents do not change.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn zero(&self, offset: u64, length: u64) -> Result<(), Fault> {
        match &self.kept {
            Kept::Memory(pages) => {
                self.memory.give(pages.zero(offset, length) * PAGE);
                Ok(())
            }
            Kept::File(file) => file.zero(offset, length),
            Kept::Seeded(_) => Ok(()),
        }
    }
}

type Shard = HashMap<u64, Box<[u8; PAGE_BYTES]>>;

/// Pages in memory by page number; a missing page reads as zeroes.
#[derive(Debug)]
struct Pages {
    shards: Vec<Mutex<Shard>>,
    stored: AtomicU64,
}

impl Pages {
    fn new() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            stored: AtomicU64::new(0),
        }
    }

    fn shard(&self, page: u64) -> MutexGuard<'_, Shard> {
        let shard = (page / PAGES_IN_A_ROW % SHARDS) as usize;
        self.shards[shard]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, offset: u64, data: &mut [u8]) {
        for part in parts(offset, data.len() as u64) {
            let into = &mut data[part.in_data..part.in_data + part.length];
            match self.shard(part.page).get(&part.page) {
                Some(page) => into.copy_from_slice(&page[part.in_page..][..part.length]),
                None => into.fill(0),
            }
        }
    }

    fn write(&self, offset: u64, data: &[u8], memory: &Room) -> Result<(), Fault> {
        for part in parts(offset, data.len() as u64) {
            let mut shard = self.shard(part.page);
            let page = match shard.entry(part.page) {
                Entry::Occupied(there) => there.into_mut(),
                Entry::Vacant(free) => {
                    if !memory.take(PAGE) {
                        return Err(Fault::NoSpace);
                    }
                    self.stored.fetch_add(1, Ordering::Relaxed);
                    free.insert(Box::new([0; PAGE_BYTES]))
                }
            };
            let from = &data[part.in_data..][..part.length];
            page[part.in_page..][..part.length].copy_from_slice(from);
        }
        Ok(())
    }

    /// Zeroes a range. Returns the number of pages that were removed.
    fn zero(&self, offset: u64, length: u64) -> u64 {
        let mut gone = 0;
        for part in ends(offset, length) {
            self.clear_part(&part);
        }
        let whole = offset.div_ceil(PAGE)..(offset + length) / PAGE;
        if whole.end.saturating_sub(whole.start) > self.stored.load(Ordering::Relaxed) {
            for shard in &self.shards {
                let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
                let before = shard.len();
                shard.retain(|page, _| !whole.contains(page));
                gone += (before - shard.len()) as u64;
            }
        } else {
            for page in whole {
                gone += u64::from(self.shard(page).remove(&page).is_some());
            }
        }
        self.stored.fetch_sub(gone, Ordering::Relaxed);
        gone
    }

    fn clear_part(&self, part: &Part) {
        if let Some(page) = self.shard(part.page).get_mut(&part.page) {
            page[part.in_page..][..part.length].fill(0);
        }
    }
}

/// The part of a range that lies in one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    page: u64,
    in_page: usize,
    in_data: usize,
    length: usize,
}

fn parts(offset: u64, length: u64) -> impl Iterator<Item = Part> {
    let end = offset + length;
    (offset / PAGE..end.div_ceil(PAGE)).map(move |page| part(page, offset, end))
}

fn part(page: u64, offset: u64, end: u64) -> Part {
    let from = (page * PAGE).max(offset);
    Part {
        page,
        in_page: (from % PAGE) as usize,
        in_data: (from - offset) as usize,
        length: (((page + 1) * PAGE).min(end) - from) as usize,
    }
}

/// Returns the parts of the first and the last page of a range, if the range covers them only partly.
fn ends(offset: u64, length: u64) -> impl Iterator<Item = Part> {
    let end = offset + length;
    [offset / PAGE, (end - 1) / PAGE]
        .into_iter()
        .map(move |page| part(page, offset, end))
        .filter(|part| part.length < PAGE_BYTES)
}

/// Fills `data` with eight bytes for each multiple of 8: a draw from the seed, numbered by its offset.
fn make_up(seed: u64, offset: u64, data: &mut [u8]) {
    for (word, n) in data.chunks_mut(8).zip(offset / 8..) {
        let drawn = mix(seed, n).to_le_bytes();
        word.copy_from_slice(&drawn[..word.len()]);
    }
}
