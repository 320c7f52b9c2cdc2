//! Large tables: their layout in memory, cheap copies, and prefetch hints to the processor.
//!
//! Copies of a very large table share memory, page by page, until one of them is written. The first copy goes to an
//! anonymous file, which this copy and all copies of it map privately.
#![allow(unsafe_code)]

use std::fmt;
use std::fs::File;
use std::io::Write;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use bytemuck::Pod;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};
use workload::units::HUGE_PAGE_BYTES;

/// Prefetches the cache line of `table[index]`; does nothing if the index is beyond the end.
#[inline]
pub fn prefetch<T>(table: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(entry) = table.get(index) {
        // SAFETY: a prefetch reads nothing and faults on nothing; the pointer is to an entry of the table.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(
                std::ptr::from_ref(entry).cast(),
            );
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, index);
}

/// Beginning of the panic message that reports a table without memory.
pub const NO_MEMORY: &str = "not enough memory for the simulated drive";

/// Memory that a run needs besides the tables of its drive: stacks of threads, buffers and records.
const BESIDE_BYTES: u64 = 64 << 20;

/// Returns whether `bytes` of tables can be allocated: the process may map them, and the host can give them. Keeps no memory.
pub fn has_room(bytes: u64) -> bool {
    let wanted = bytes.saturating_add(BESIDE_BYTES);
    available_bytes().is_none_or(|available| wanted <= available)
        && usize::try_from(wanted).is_ok_and(|wanted| {
            map_anonymous(wanted).is_some_and(|pointer| {
                // SAFETY: the mapping is of that length, nobody has seen it, and it is not used any more.
                unsafe { munmap(pointer.as_ptr(), wanted) }.is_ok()
            })
        })
}

/// Memory that the host can give without swapping; `None` if it does not say.
fn available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// Maps private memory filled with zeros; `None` if there is none.
fn map_anonymous(bytes: usize) -> Option<NonNull<std::ffi::c_void>> {
    // SAFETY: a new mapping at a place of the kernel's choice touches no other memory.
    let mapped = unsafe {
        mmap_anonymous(
            std::ptr::null_mut(),
            bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE,
        )
    };
    NonNull::new(mapped.ok()?)
}

/// Smallest table for which huge pages are requested.
const WORTH_HUGE_PAGES_BYTES: usize = 4 << 20;

/// Requests huge pages for a table about to be filled: without them, random look-ups miss the TLB each time.
pub fn prefer_huge_pages<T>(table: &[T]) {
    let bytes = size_of_val(table);
    if bytes < WORTH_HUGE_PAGES_BYTES {
        return;
    }
    let first = table.as_ptr().addr().next_multiple_of(HUGE_PAGE_BYTES);
    let end = (table.as_ptr().addr() + bytes) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    if first < end {
        let pointer = table.as_ptr().with_addr(first).cast_mut().cast();
        // SAFETY: the range lies within the table's own allocation and the advice does not change its contents.
        let _ =
            unsafe { rustix::mm::madvise(pointer, end - first, rustix::mm::Advice::LinuxHugepage) };
    }
}

/// Smallest table whose copies share memory. Smaller ones are copied at once: that takes a tenth of a second, and the
/// copies keep their huge pages.
const WORTH_SHARING_BYTES: usize = 256 << 20;

/// A table of fixed length. It has its own memory, or shares memory with copies until it is written.
pub(crate) struct Table<T: Pod> {
    pointer: NonNull<T>,
    entries: usize,
    /// The file that it maps, if it shares memory.
    file: Option<Arc<File>>,
    /// Whether it still equals the file, because it was never borrowed mutably.
    as_in_file: bool,
}

// SAFETY: a table owns its mapping alone, and its entries are plain numbers; a shared file is never written after it was made.
unsafe impl<T: Pod + Send> Send for Table<T> {}
// SAFETY: as above: without `&mut` nothing of it changes.
unsafe impl<T: Pod + Sync> Sync for Table<T> {}

impl<T: Pod> Table<T> {
    /// Creates a table of `entries` equal entries, on huge pages if it is large enough.
    ///
    /// # Panics
    /// If there is no memory for it.
    pub fn filled(entries: usize, value: T) -> Self {
        let mut table = Self::anonymous(entries);
        table.fill(value);
        table
    }

    fn anonymous(entries: usize) -> Self {
        let bytes = entries * size_of::<T>();
        let pointer = if bytes == 0 {
            NonNull::dangling()
        } else {
            match map_anonymous(bytes) {
                Some(pointer) => pointer.cast(),
                None => panic!("{NO_MEMORY}: one of its tables needs {bytes} bytes"),
            }
        };
        let table = Self {
            pointer,
            entries,
            file: None,
            as_in_file: false,
        };
        prefer_huge_pages(&table);
        table
    }

    /// Returns a copy that shares memory with copies made of it; `None` if the kernel gives no file.
    fn sharing(&self) -> Option<Self> {
        if let Some(file) = self.file.as_ref().filter(|_| self.as_in_file) {
            return Self::mapping(Arc::clone(file), self.entries);
        }
        let mut file = File::from(memfd_create("table", MemfdFlags::CLOEXEC).ok()?);
        file.write_all(bytemuck::cast_slice(self)).ok()?;
        Self::mapping(Arc::new(file), self.entries)
    }

    fn mapping(file: Arc<File>, entries: usize) -> Option<Self> {
        // SAFETY: a new mapping at a place of the kernel's choice; the file has that length, nobody else can reach or cut it,
        // and what is written to a private mapping stays in it.
        let mapped = unsafe {
            mmap(
                std::ptr::null_mut(),
                entries * size_of::<T>(),
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
                &file,
                0,
            )
        };
        Some(Self {
            pointer: NonNull::new(mapped.ok()?.cast())?,
            entries,
            file: Some(file),
            as_in_file: true,
        })
    }
}

impl<T: Pod> Deref for Table<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the mapping holds so many entries for as long as the table lives, and any bytes are an entry (`Pod`).
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.entries) }
    }
}

impl<T: Pod> DerefMut for Table<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.as_in_file = false;
        // SAFETY: as in `deref`; nobody else has this mapping.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.entries) }
    }
}

impl<T: Pod> Clone for Table<T> {
    fn clone(&self) -> Self {
        if size_of_val::<[T]>(self) >= WORTH_SHARING_BYTES
            && let Some(copy) = self.sharing()
        {
            return copy;
        }
        Self::from(&**self)
    }
}

impl<T: Pod> From<&[T]> for Table<T> {
    fn from(entries: &[T]) -> Self {
        let mut table = Self::anonymous(entries.len());
        table.copy_from_slice(entries);
        table
    }
}

impl<T: Pod> Drop for Table<T> {
    fn drop(&mut self) {
        let bytes = self.entries * size_of::<T>();
        if bytes > 0 {
            // SAFETY: the mapping is this table's own and has that length; nothing uses it after the table.
            let _ = unsafe { munmap(self.pointer.as_ptr().cast(), bytes) };
        }
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for Table<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::{Table, has_room};

    #[test]
    fn copies_that_share_memory_do_not_share_changes() {
        let mut table = Table::filled(10_000, 7u32);
        table[3] = 1;
        let mark = table.sharing().expect("a file in memory");
        let (mut one, mut other) = (
            mark.sharing().expect("shared"),
            mark.sharing().expect("shared"),
        );
        table[3] = 2;
        one[5000] = 3;
        other[5000] = 4;
        assert_eq!((table[3], mark[3], one[3], other[3]), (2, 1, 1, 1));
        assert_eq!(
            (table[5000], mark[5000], one[5000], other[5000]),
            (7, 7, 3, 4)
        );
        // A copy that was written is copied with its changes.
        let later = one.sharing().expect("a file of its own");
        one[5000] = 5;
        assert_eq!((later[5000], later[3], mark[5000]), (3, 1, 7));
    }

    #[test]
    fn memory_that_nobody_has_is_not_there() {
        assert!(has_room(1 << 20));
        assert!(!has_room(1 << 60) && !has_room(u64::MAX));
    }

    #[test]
    fn a_small_copy_is_a_copy() {
        let table = Table::filled(100, 1u64);
        let mut copy = table.clone();
        copy[1] = 2;
        assert_eq!((table[1], copy[1], copy.len()), (1, 2, 100));
        assert!(Table::filled(0, 0u32).is_empty());
    }
}
