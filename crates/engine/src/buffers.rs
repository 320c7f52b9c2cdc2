//! The memory that I/O goes to and comes from: one bounded, page-aligned arena per stream, cut into a region per worker.
//!
//! A region has a slot for each I/O in flight, and a second set for writes where a stream also reads, because what a
//! read brings in would otherwise be written out again (zeroes of a trimmed range compress very well). Written data is
//! drawn once from the seed; a number stamped into each 4 KiB makes every block written unlike all others, so that a
//! drive that looks for equal blocks finds none, for the price of one store.
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

/// Slots begin on multiples of this, the page size that direct I/O and registered buffers want.
const PAGE_BYTES: usize = 4096;
/// The kernel registers buffers of at most this length with a ring.
const REGISTERED_BYTES: usize = 1 << 30;
/// Each stretch of this length in a written block carries its own number.
const STAMP_EVERY_BYTES: usize = 4096;
/// The compressible share is kept within each stretch of this length, so it holds for every block size.
const COMPRESSIBLE_UNIT_BYTES: usize = 512;

/// A private mapping, given back when the last region is dropped.
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
        // SAFETY: base and length are those of our own mapping, and no region is left that could reach it.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.length) };
    }
}

/// How the slots of one worker lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    slots: usize,
    slot_bytes: usize,
    /// Index of the first write slot; equal to `slots` if reads have slots of their own, else 0.
    first_write: usize,
    total_slots: usize,
    /// Some slots are for reads.
    reads: bool,
}

/// One slot of a region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) address: *mut u8,
    /// Index of the piece that it lies in.
    pub(crate) buffer: u16,
    /// Its number among the slots of its operation.
    pub(crate) slot: usize,
    /// What it is for.
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

/// Bytes of buffers that a stream needs.
pub(crate) fn bytes_needed(stream: &Stream) -> u64 {
    Shape::of(stream).bytes() as u64 * u64::from(stream.workers)
}

/// Maps the buffers of a stream, a region for each worker. Pages are touched by [`Region::fill`], on the worker's CPU.
///
/// # Errors
/// [`EngineError::Setup`] if there is no memory; with `huge_pages`, [`EngineError::Unsupported`] if the pool has none.
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
            // SAFETY: `worker * bytes` lies inside the mapping, which is `workers * bytes` long at least.
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
    /// Draws the data to be written from `seed` and touches all pages; stamps then count up from `first_stamp`.
    pub(crate) fn fill(&mut self, seed: u64, compressible_pct: u8, first_stamp: u64) {
        self.stamp = first_stamp;
        let bytes = self.shape.bytes();
        // SAFETY: the region is `bytes` long, mapped, and reached by nobody else while `self` is borrowed mutably.
        let all = unsafe { slice::from_raw_parts_mut(self.base.as_ptr(), bytes) };
        fill(all, seed, compressible_pct);
    }

    /// The slot that a read of `length` bytes goes to.
    pub(crate) fn read_slot(&mut self, slot: usize, length: usize) -> &mut [u8] {
        let range = self.range(slot, length);
        self.slice(range)
    }

    /// Stamps the first `length` bytes of a slot that is to be written.
    #[inline]
    pub(crate) fn stamp(&mut self, slot: usize, length: usize) {
        let range = self.range(self.shape.first_write + slot, length);
        let mut stamp = self.stamp;
        for stretch in self.slice(range).chunks_mut(STAMP_EVERY_BYTES) {
            // A rest of a few bytes, as only buffered I/O has them, goes without.
            if let Some(first) = stretch.first_chunk_mut() {
                *first = stamp.to_le_bytes();
            }
            stamp = stamp.wrapping_add(1);
        }
        self.stamp = stamp;
    }

    /// The first `length` bytes of a slot that is written.
    #[inline]
    pub(crate) fn written(&mut self, slot: usize, length: usize) -> &[u8] {
        let range = self.range(self.shape.first_write + slot, length);
        self.slice(range)
    }

    /// The region in pieces of at most [`REGISTERED_BYTES`] that each hold whole slots: address and length.
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

    /// All slots; those for reads first, then those for writes.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place> {
        let (base, shape, per_piece) = (self.base, self.shape, self.slots_per_piece());
        // A trim has no memory, but a slot all the same.
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

    /// Index among [`Region::places`] of the first slot for writes.
    pub(crate) fn first_write(&self) -> usize {
        self.shape.first_write
    }

    /// Gives up the memory for good, because something may still be written into it.
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
        // SAFETY: `range` was checked to lie inside the region, which nobody else reaches.
        unsafe { slice::from_raw_parts_mut(self.base.as_ptr().add(range.start), range.len()) }
    }
}

/// Fills `data` with draws from `seed`; the last `compressible_pct` percent of each 512 bytes are zeroes.
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
