//! System calls of the engine other than reads and writes: clocks, sleep, descriptors, accounting, discard.
//!
//! Each function is a thin, typed wrapper. It calls `rustix` where that offers a safe interface; the remaining calls
//! need `unsafe`, which stays inside this module.
#![allow(unsafe_code)]

use std::num::NonZeroU64;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::AtomicU32;
use std::{fs, io, mem};

use rustix::fs::FallocateFlags;
use rustix::thread::futex;
use rustix::time::Timespec;
use workload::units::SECOND_NS;

/// `BLKDISCARD`, `_IO(0x12, 119)`: discard a byte range of a block device.
const BLKDISCARD: libc::c_ulong = 0x1277;

/// Returns `CLOCK_MONOTONIC` in nanoseconds since an arbitrary origin; the vDSO reads the clock in user space.
#[inline]
#[must_use]
pub fn monotonic_ns() -> u64 {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes only inside `t`; CLOCK_MONOTONIC cannot fail. (This calls the C library, because the
    // way in which `rustix` looks for the vDSO fails under valgrind, and instruction counts are taken under valgrind.)
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut t) };
    // Does not overflow before the year 2554; `wrapping` saves the checks of a debug build in the hottest call.
    (t.tv_sec as u64)
        .wrapping_mul(SECOND_NS)
        .wrapping_add(t.tv_nsec as u64)
}

/// Returns `CLOCK_BOOTTIME` in nanoseconds: like [`monotonic_ns`], but it also counts time while the host is suspended.
#[must_use]
pub(crate) fn boottime_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    now.tv_sec as u64 * SECOND_NS + now.tv_nsec as u64
}

/// Clock of one run: nanoseconds since `zero_ns` on `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    zero_ns: u64,
}

impl Clock {
    /// Returns a clock whose zero is at `zero_ns` of [`monotonic_ns`].
    #[must_use]
    pub fn starting_at(zero_ns: u64) -> Self {
        Self { zero_ns }
    }

    /// Returns the clock's zero on `CLOCK_MONOTONIC`, in ns.
    #[must_use]
    pub fn zero_ns(self) -> u64 {
        self.zero_ns
    }

    /// Returns the nanoseconds since zero. Wraps before zero; workers call it only after zero.
    #[inline]
    #[must_use]
    pub fn now(self) -> u64 {
        monotonic_ns().wrapping_sub(self.zero_ns)
    }
}

/// Duplicates a descriptor. Both refer to one open file, which closes when both are closed.
///
/// # Errors
/// `EBADF` if the descriptor is not open; `EMFILE` if the process may open no more.
pub(crate) fn duplicate(descriptor: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the call touches no memory, and for a number under which nothing is open it returns EBADF.
    let made = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 0) };
    if made < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor for us, and nobody else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
}

fn timespec(ns: u64) -> Timespec {
    Timespec {
        tv_sec: (ns / SECOND_NS) as i64,
        tv_nsec: (ns % SECOND_NS) as _,
    }
}

/// Sleeps until `absolute_ns` of [`monotonic_ns`], or until `word` is woken. Returns at once if `word` is not
/// `expected`.
pub(crate) fn sleep_until(absolute_ns: u64, word: &AtomicU32, expected: u32) {
    let at = timespec(absolute_ns);
    // Every outcome (woken, timed out, changed, interrupted) means "look again"; all callers do so in a loop.
    let _ = futex::wait_bitset(
        word,
        futex::Flags::PRIVATE,
        expected,
        Some(&at),
        std::num::NonZeroU32::MAX,
    );
}

/// Waits until `word` is no longer `expected`.
pub(crate) fn wait_while(word: &AtomicU32, expected: u32) {
    while word.load(std::sync::atomic::Ordering::Acquire) == expected {
        let _ = futex::wait(word, futex::Flags::PRIVATE, expected, None);
    }
}

pub(crate) fn wake_all(word: &AtomicU32) {
    let _ = futex::wake(word, futex::Flags::PRIVATE, i32::MAX as u32);
}

/// Sets this thread's timer slack to 1 ns; by default the kernel may delay a wake-up by 50 µs.
pub(crate) fn sharpen_timers() {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

/// Gives the calling thread its own table of open files, which keeps only the standard streams. Files that the thread
/// opens later are not shared with other threads. In a shared table the kernel counts each use of a file up and down
/// atomically, which costs a synchronous read about 15 ns. Kernels before 5.9 lack the call; there the failure costs
/// only that time.
pub(crate) fn own_files() {
    let (first, last) = (libc::STDERR_FILENO + 1, u32::MAX);
    // SAFETY: only numbers are passed. With this flag other threads keep their files, and the files that this thread
    // will own are not open yet.
    let _ = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            first,
            last,
            libc::CLOSE_RANGE_UNSHARE,
        )
    };
}

/// CPU time and context switches of the calling thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadUsage {
    /// User time, in ns.
    pub user_ns: u64,
    /// System time, in ns.
    pub sys_ns: u64,
    /// Number of times the thread gave up the CPU by itself.
    pub voluntary_switches: u64,
    /// Number of times the thread was preempted.
    pub involuntary_switches: u64,
}

/// Returns `getrusage(RUSAGE_THREAD)` of the calling thread.
#[must_use]
pub fn thread_usage() -> ThreadUsage {
    // SAFETY: `rusage` consists of plain integers, for which all zeroes is a valid value, and the kernel writes only
    // inside it.
    let usage = unsafe {
        let mut usage: libc::rusage = mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage
    };
    let ns = |t: libc::timeval| t.tv_sec as u64 * SECOND_NS + t.tv_usec as u64 * 1000;
    ThreadUsage {
        user_ns: ns(usage.ru_utime),
        sys_ns: ns(usage.ru_stime),
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
    }
}

/// Returns the scheduler's counts for the calling thread: `(on a CPU, ready but waiting for one)` in nanoseconds.
/// `None` if the kernel does not count them.
#[must_use]
pub fn schedstat_ns() -> Option<(u64, u64)> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let mut columns = text.split_whitespace().map(str::parse);
    Some((columns.next()?.ok()?, columns.next()?.ok()?))
}

/// Discards `length` bytes at `offset` of a block device and waits for completion.
///
/// # Errors
/// The kernel's errno: `EOPNOTSUPP` if the device cannot discard, `EINVAL` if the range is not aligned to logical
/// blocks.
pub(crate) fn discard(device: impl AsFd, offset: u64, length: u64) -> io::Result<()> {
    let range = [offset, length];
    // SAFETY: the descriptor is open while borrowed, and BLKDISCARD only reads two u64 at the pointer.
    let status = unsafe { libc::ioctl(device.as_fd().as_raw_fd(), BLKDISCARD, range.as_ptr()) };
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Deallocates the blocks under `length` bytes at `offset` of a file; the file's size does not change.
///
/// # Errors
/// The kernel's errno: `EOPNOTSUPP` if the file system cannot punch holes.
pub(crate) fn punch_hole(file: impl AsFd, offset: u64, length: u64) -> io::Result<()> {
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    Ok(rustix::fs::fallocate(file, flags, offset, length)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    #[test]
    fn the_clock_counts_from_its_zero() {
        let zero = monotonic_ns();
        let clock = Clock::starting_at(zero);
        let first = clock.now();
        let second = clock.now();
        assert!(first <= second);
        assert_eq!(clock.zero_ns(), zero);
    }

    #[test]
    fn a_sleep_lasts_until_its_time() {
        let word = AtomicU32::new(0);
        let until = monotonic_ns() + 2_000_000;
        while monotonic_ns() < until {
            sleep_until(until, &word, 0);
        }
        assert!(monotonic_ns() >= until);
    }

    #[test]
    fn a_sleep_ends_when_the_word_changes() {
        let word = Arc::new(AtomicU32::new(0));
        let sleeper = {
            let word = Arc::clone(&word);
            std::thread::spawn(move || wait_while(&word, 0))
        };
        word.store(1, Ordering::Release);
        wake_all(&word);
        sleeper.join().expect("the sleeper returns");
    }

    #[test]
    fn files_of_a_thread_of_its_own_are_not_those_of_the_others() {
        let file = File::open("/proc/self/exe").expect("this program");
        let there = |file: &File| rustix::io::fcntl_getfd(file).is_ok();
        std::thread::scope(|scope| {
            let alone = scope.spawn(|| {
                own_files();
                there(&file)
            });
            assert!(!alone.join().expect("the thread ends"));
        });
        assert!(there(&file));
    }

    #[test]
    fn a_thread_knows_its_cpu_time() {
        let before = thread_usage();
        let mut sum = 0_u64;
        while thread_usage().user_ns + thread_usage().sys_ns
            < before.user_ns + before.sys_ns + 1_000_000
        {
            sum = sum.wrapping_add(std::hint::black_box(1));
        }
        assert!(sum > 0);
    }
}
