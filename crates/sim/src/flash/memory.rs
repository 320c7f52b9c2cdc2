//! Hints to the processor and the kernel about large tables. Nothing here changes a result.
#![allow(unsafe_code)]

use workload::units::HUGE_PAGE_BYTES;

/// Asks for the cache line of `table[index]`; an index beyond the end asks for nothing.
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

/// Tables smaller than this are left alone.
const WORTH_HUGE_PAGES_BYTES: usize = 4 << 20;

/// Asks for huge pages under a table about to be filled: random look-ups in it would otherwise miss the TLB each time.
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
