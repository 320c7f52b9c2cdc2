//! I/O buffers: one bounded, page-aligned arena per stream, divided into one region per worker.
//!
//! A region has a slot for each I/O in flight. A stream that both reads and writes has a second set of slots for
//! writes. Otherwise it would write out again what it has read, and the zeroes of a trimmed range compress very well.
//!
//! The data to write is drawn once from the seed. Each write stamps a number into each 4 KiB, which costs one store. So
//! every written block differs from all others, and a drive that looks for equal blocks finds none.
#![allow(unsafe_code)]

use std::ops::Range;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use workload::Op;
use workload::random::mix;
use workload::spec::Stream;
use workload::units::HUGE_PAGE_BYTES;

use crate::error::EngineError;

/// Alignment of slots: the page size, which direct I/O and registered buffers need.
const PAGE_BYTES: usize = 4096;
/// Length of the largest buffer that the kernel registers with a ring.
const REGISTERED_BYTES: usize = 1 << 30;
/// Distance between the stamps in a written block.
const STAMP_EVERY_BYTES: usize = 4096;
/// Unit in which the compressible share holds, so that it holds for every block size.
const COMPRESSIBLE_UNIT_BYTES: usize = 512;

/// A private mapping, unmapped when the last region is dropped.
#[derive(Debug)]
struct Mapping {
    base: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping is plain memory that belongs to no thread; regions cut it into parts that do not overlap.
unsafe impl Send for Mapping {}
// SAFETY: as above; nothing but `Region` touches the memory, through `&mut self`.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: base and length are those of our own mapping, and no region is left that could reach the memory.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.length) };
    }
}

/// Layout of one worker's slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    slots: usize,
    slot_bytes: usize,
    /// Index of the first write slot: `slots` if reads have slots of their own, else 0.
    first_write: usize,
    total_slots: usize,
    /// Whether some slots are for reads.
    reads: bool,
}

/// One slot of a region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) address: *mut u8,
    /// Index of the registered piece that contains the slot.
    pub(crate) buffer: u16,
    /// Number of the slot among the slots of its operation.
    pub(crate) slot: usize,
    pub(crate) op: Op,
}

impl Shape {
    fn of(stream: &Stream) -> Self {
        let slots = stream.depth as usize;
        let both = stream.reads() && stream.writes();
        let none = !stream.reads() && !stream.writes();
        Self {
            slots,
            slot_bytes: (stream.largest_block_bytes() as usize).next_multiple_of(PAGE_BYTES),
            first_write: if both { slots } else { 0 },
            reads: stream.reads(),
            total_slots: match (none, both) {
                (true, _) => 0,
                (_, true) => 2 * slots,
                _ => slots,
            },
        }
    }

    fn bytes(&self) -> usize {
        self.total_slots * self.slot_bytes
    }
}

pub(crate) fn bytes_needed(stream: &Stream) -> u64 {
    Shape::of(stream).bytes() as u64 * u64::from(stream.workers)
}

/// Maps the buffers of a stream, one region for each worker. [`Region::fill`] later touches the pages on the worker's
/// CPU.
///
/// # Errors
/// [`EngineError::Setup`] if there is no memory; with `huge_pages`, [`EngineError::Unsupported`] if the pool has too
/// few pages.
pub(crate) fn regions(stream: &Stream, huge_pages: bool) -> Result<Vec<Region>, EngineError> {
    let shape = Shape::of(stream);
    let workers = stream.workers as usize;
    let unit = if huge_pages {
        HUGE_PAGE_BYTES
    } else {
        PAGE_BYTES
    };
    let length = (shape.bytes() * workers).next_multiple_of(unit).max(unit);
    let mapping = Arc::new(map(length, huge_pages)?);
    Ok((0..workers)
        .map(|worker| Region {
            // SAFETY: `worker * bytes` lies inside the mapping, which is at least `workers * bytes` long.
            base: unsafe { mapping.base.add(worker * shape.bytes()) },
            shape,
            stamp: 0,
            mapping: Arc::clone(&mapping),
        })
        .collect())
}

fn map(length: usize, huge_pages: bool) -> Result<Mapping, EngineError> {
    let huge = if huge_pages {
        MapFlags::HUGETLB
    } else {
        MapFlags::empty()
    };
    // SAFETY: a new private anonymous mapping at an address of the kernel's choice touches no existing memory.
    let mapped = unsafe {
        mmap_anonymous(
            std::ptr::null_mut(),
            length,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | huge,
        )
    };
    match mapped {
        Ok(base) => NonNull::new(base.cast())
            .map(|base| Mapping { base, length })
            .ok_or(EngineError::setup("mmap", rustix::io::Errno::NOMEM)),
        Err(_) if huge_pages => Err(EngineError::Unsupported {
            feature: "huge pages for I/O buffers",
            advice: "reserve some (sysctl vm.nr_hugepages), or leave them off",
        }),
        Err(e) => Err(EngineError::setup("mmap of I/O buffers", e)),
    }
}

/// The buffers of one worker.
#[derive(Debug)]
pub(crate) struct Region {
    base: NonNull<u8>,
    shape: Shape,
    stamp: u64,
    mapping: Arc<Mapping>,
}

// SAFETY: a region owns its part of the mapping alone.
unsafe impl Send for Region {}

impl Region {
    /// Fills the region with data drawn from `seed`, which touches all pages. Stamps then count up from `first_stamp`.
    pub(crate) fn fill(&mut self, seed: u64, compressible_pct: u8, first_stamp: u64) {
        self.stamp = first_stamp;
        let bytes = self.shape.bytes();
        // SAFETY: the region is `bytes` long, mapped, and reached by nobody else while `self` is borrowed mutably.
        let all = unsafe { slice::from_raw_parts_mut(self.base.as_ptr(), bytes) };
        fill(all, seed, compressible_pct);
    }

    /// Returns the first `length` bytes of a read slot.
    pub(crate) fn read_slot(&mut self, slot: usize, length: usize) -> &mut [u8] {
        let range = self.range(slot, length);
        self.slice(range)
    }

    /// Stamps the first `length` bytes of a write slot.
    #[inline]
    pub(crate) fn stamp(&mut self, slot: usize, length: usize) {
        let range = self.range(self.shape.first_write + slot, length);
        let mut stamp = self.stamp;
        for stretch in self.slice(range).chunks_mut(STAMP_EVERY_BYTES) {
            // A tail of less than 8 bytes, which only buffered I/O can have, gets no stamp.
            if let Some(first) = stretch.first_chunk_mut() {
                *first = stamp.to_le_bytes();
            }
            stamp = stamp.wrapping_add(1);
        }
        self.stamp = stamp;
    }

    /// Returns the first `length` bytes of a write slot.
    #[inline]
    pub(crate) fn written(&mut self, slot: usize, length: usize) -> &[u8] {
        let range = self.range(self.shape.first_write + slot, length);
        self.slice(range)
    }

    /// Returns address and length of the pieces that make up the region. Each piece holds whole slots and at most
    /// [`REGISTERED_BYTES`].
    pub(crate) fn pieces(&self) -> Vec<(*mut u8, usize)> {
        let per_piece = self.slots_per_piece() * self.shape.slot_bytes;
        let all = self.shape.bytes();
        (0..all)
            .step_by(per_piece)
            .map(|start| {
                let address = self.base.as_ptr().wrapping_add(start);
                (address, per_piece.min(all - start))
            })
            .collect()
    }

    /// Returns all slots: first those for reads, then those for writes.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place> {
        let (base, shape, per_piece) = (self.base, self.shape, self.slots_per_piece());
        // A trim needs no memory, but it needs a slot.
        (0..shape.total_slots.max(shape.slots)).map(move |index| Place {
            address: base.as_ptr().wrapping_add(index * shape.slot_bytes),
            buffer: (index / per_piece) as u16,
            slot: index % shape.slots,
            op: match (shape.total_slots, shape.reads && index < shape.slots) {
                (0, _) => Op::Trim,
                (_, true) => Op::Read,
                (_, false) => Op::Write,
            },
        })
    }

    /// Returns the index of the first write slot among [`Region::places`].
    pub(crate) fn first_write(&self) -> usize {
        self.shape.first_write
    }

    /// Leaks the memory, because the kernel may still write into it.
    pub(crate) fn abandon(&self) {
        std::mem::forget(Arc::clone(&self.mapping));
    }

    fn slots_per_piece(&self) -> usize {
        (REGISTERED_BYTES / self.shape.slot_bytes).max(1)
    }

    fn range(&self, slot: usize, length: usize) -> Range<usize> {
        assert!(slot < self.shape.total_slots && length <= self.shape.slot_bytes);
        let start = slot * self.shape.slot_bytes;
        start..start + length
    }

    fn slice(&mut self, range: Range<usize>) -> &mut [u8] {
        // SAFETY: `range` was checked to lie inside the region, which nobody else can reach.
        unsafe { slice::from_raw_parts_mut(self.base.as_ptr().add(range.start), range.len()) }
    }
}

/// Fills `data` with words drawn from `seed`; the last `compressible_pct` percent of each 512 bytes are zeroes.
fn fill(data: &mut [u8], seed: u64, compressible_pct: u8) {
    let zeroes = COMPRESSIBLE_UNIT_BYTES * usize::from(compressible_pct) / 100;
    let drawn = (COMPRESSIBLE_UNIT_BYTES - zeroes) & !7;
    let mut words = (0..).map(|n| mix(seed, n));
    for unit in data.chunks_mut(COMPRESSIBLE_UNIT_BYTES) {
        let (random, rest) = unit.split_at_mut(drawn.min(unit.len()));
        for (bytes, word) in random.chunks_exact_mut(8).zip(&mut words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        rest.fill(0);
    }
}
