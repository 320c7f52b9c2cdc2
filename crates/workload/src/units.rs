//! Units that several crates use.

/// Nanoseconds in a second.
pub const SECOND_NS: u64 = 1_000_000_000;
/// The size of a huge page of the kernel's default pool on `x86_64` and `aarch64`.
pub const HUGE_PAGE_BYTES: usize = 2 << 20;
