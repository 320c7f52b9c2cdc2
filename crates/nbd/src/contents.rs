//! What the drive holds: the model of the drive knows which units are written, not what is in them.
//!
//! Kept contents are sparse: what was never written, or trimmed, reads as zeroes and takes no room. Seeded contents are
//! made up as they are read, from seed and offset, and writes leave no trace in them.

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
/// Locks over the pages, so that connections do not wait for each other's copies.
const SHARDS: u64 = 64;
/// Neighbouring pages under one lock: 64 KiB.
const PAGES_IN_A_ROW: u64 = 16;

/// Data of writes on its way may take so much beside what contents may: a drive that is full can be overwritten.
const ON_THE_WAY_BYTES: u64 = 64 << 20;

/// Where data comes from and goes to. Reads and writes of one page are whole: no reader sees half a write of one.
#[derive(Debug)]
pub struct Contents {
    kept: Kept,
    /// For pages, and for what is on its way and has no room of its own.
    memory: Room,
    on_the_way: Room,
}

#[derive(Debug)]
enum Kept {
    Memory(Pages),
    File(DataFile),
    /// Made up from a seed.
    Seeded(u64),
}

impl Contents {
    /// Empty contents in memory, which may take up to `memory_bytes`.
    pub fn in_memory(memory_bytes: u64) -> Self {
        Self::new(Kept::Memory(Pages::new()), memory_bytes)
    }

    /// Contents in a sparse file of `size_bytes`, which is made if there is none. Of memory only data on its way is taken.
    ///
    /// # Errors
    /// It cannot be opened, is in use, or is something else.
    pub fn in_file(path: &Path, size_bytes: u64, memory_bytes: u64) -> Result<Self, ServeError> {
        let file = DataFile::open(path, size_bytes)?;
        Ok(Self::new(Kept::File(file), memory_bytes))
    }

    /// Contents that are made up from a seed. Of memory only data on its way is taken.
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

    /// Room for the data of a write until all of it has come.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn room_for(&self, payload_bytes: u64) -> Result<Taken<'_>, Fault> {
        let beside = self.on_the_way.hold(payload_bytes);
        beside
            .or_else(|| self.memory.hold(payload_bytes))
            .ok_or(Fault::NoSpace)
    }

    /// Fills `data` with what lies at `offset`, a multiple of 8.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn read(&self, offset: u64, data: &mut [u8]) -> Result<(), Fault> {
        match &self.kept {
            Kept::Memory(pages) => pages.read(offset, data),
            Kept::File(file) => file.read(offset, data)?,
            Kept::Seeded(seed) => make_up(*seed, offset, data),
        }
        Ok(())
    }

    /// Keeps `data` at `offset`.
    ///
    /// # Errors
    /// There is no room for it, or the file could not be written.
    pub fn write(&self, offset: u64, data: &[u8]) -> Result<(), Fault> {
        match &self.kept {
            Kept::Memory(pages) => pages.write(offset, data, &self.memory),
            Kept::File(file) => file.write(offset, data),
            Kept::Seeded(_) => Ok(()),
        }
    }

    /// Lets a range read as zeroes, and gives its room back. Seeded contents stay as they are.
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

/// Pages in memory, by their number; what is not there is zeroes.
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

    /// Returns how many pages are gone.
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

/// What of a range lies in one page.
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

/// The pages at the ends of a range that it touches only in part.
fn ends(offset: u64, length: u64) -> impl Iterator<Item = Part> {
    let end = offset + length;
    [offset / PAGE, (end - 1) / PAGE]
        .into_iter()
        .map(move |page| part(page, offset, end))
        .filter(|part| part.length < PAGE_BYTES)
}

/// Eight bytes for each multiple of 8: a draw of the seed, numbered by place.
fn make_up(seed: u64, offset: u64, data: &mut [u8]) {
    for (word, n) in data.chunks_mut(8).zip(offset / 8..) {
        let drawn = mix(seed, n).to_le_bytes();
        word.copy_from_slice(&drawn[..word.len()]);
    }
}
