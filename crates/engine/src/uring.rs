//! The ring of the `io_uring` back end: set-up, preparing and submitting I/Os, reaping completions, draining.
#![allow(unsafe_code)]
// The two functions are the core of the loop; left to the compiler, inlining costs a fifth of the loop's instructions.
#![allow(clippy::inline_always)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, opcode, squeue};
use rustix::fs::FallocateFlags;
use workload::spec::{Flush, Stream};
use workload::units::SECOND_NS;
use workload::{Io, Op};

use crate::buffers::{Place, Region};
use crate::error::EngineError;

/// `BLOCK_URING_CMD_DISCARD`, `_IO(0x12, 0)`: a discard as a ring operation (Linux 6.12).
const BLOCK_URING_CMD_DISCARD: u32 = 0x1200;
/// Index of the only registered file.
const FILE: Fixed = Fixed(0);
/// Added to a slot's number, marks the completion of a flush in that slot.
pub(crate) const FLUSH: usize = 1 << 32;

/// A ring with its registered file and buffers. Dropping it waits for everything in flight, so the buffers outlive
/// their I/Os.
pub(crate) struct Ring {
    uring: IoUring,
    polled: bool,
    flush: FsyncFlags,
    in_flight: u32,
    // Declared after the ring, so that they are dropped after it.
    memory: Memory,
    _file: File,
}

/// A submission queue entry as the kernel defines it (`struct io_uring_sqe`): word 1 is the offset, the low half of
/// word 3 is the length.
type Words = [u64; 8];

const OFFSET_WORD: usize = 1;
const LENGTH_WORD: usize = 3;

/// The slots' memory, and their entries for the kernel.
struct Memory {
    /// Submission entry for each slot's I/O. Fields that stay the same from one I/O to the next are not written again:
    /// building entries anew would take most of the loop's time.
    drafts: Vec<squeue::Entry>,
    /// In a stream of several operations, entries to copy: those for reads, then those for writes. Else empty.
    originals: Vec<squeue::Entry>,
    reads_only: bool,
    trims: Trims,
    region: Region,
}

impl Memory {
    /// `some_trims`: the stream mixes trims with reads or writes.
    fn new(region: Region, trims: Trims, some_trims: bool) -> Self {
        let entry = |place: Place| {
            let entry = match place.op {
                Op::Read => opcode::ReadFixed::new(FILE, place.address, 0, place.buffer).build(),
                Op::Write => opcode::WriteFixed::new(FILE, place.address, 0, place.buffer).build(),
                Op::Trim => opcode::Nop::new().build(),
            };
            entry.user_data(place.slot as u64)
        };
        let reads_only = !some_trims && region.places().all(|place| place.op == Op::Read);
        let mut drafts: Vec<_> = region.places().map(entry).collect();
        let mut originals = Vec::new();
        if some_trims || region.first_write() > 0 {
            originals.clone_from(&drafts);
        }
        if region.first_write() > 0 {
            drafts.truncate(region.first_write());
        }
        Self {
            drafts,
            originals,
            reads_only,
            trims,
            region,
        }
    }

    /// Writes an I/O into the entry of a slot.
    #[inline(always)]
    fn draft(&mut self, slot: usize, io: Io) {
        if self.reads_only || self.adapt(slot, io.op, io.offset, io.length) {
            let words = words_of(&mut self.drafts[slot]);
            words[OFFSET_WORD] = io.offset;
            words[LENGTH_WORD] = u64::from(io.length);
        }
    }

    /// Makes the slot's entry one of this operation. Returns whether offset and length are still to be set.
    #[inline(never)]
    fn adapt(&mut self, slot: usize, op: Op, offset: u64, length: u32) -> bool {
        if op == Op::Trim {
            let entry = self.trims.entry(offset, u64::from(length));
            self.drafts[slot] = entry.user_data(slot as u64);
            return false;
        }
        if !self.originals.is_empty() {
            let first = if op == Op::Write {
                self.region.first_write()
            } else {
                0
            };
            self.drafts[slot] = self.originals[first + slot].clone();
        }
        if op == Op::Write {
            self.region.stamp(slot, length as usize);
        }
        true
    }
}

const _: () = assert!(size_of::<squeue::Entry>() == size_of::<Words>());

#[inline(always)]
fn words_of(entry: &mut squeue::Entry) -> &mut Words {
    // SAFETY: an `Entry` is the kernel's structure, 64 bytes of integers without padding, aligned to 8. Any words make
    // a valid `Entry`; `prepare` justifies that it may be submitted.
    unsafe { &mut *std::ptr::from_mut(entry).cast() }
}

/// How trims are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trims {
    /// Punches a hole into a file.
    Punch,
    /// Sends a discard to a device with queues.
    Discard,
    /// Has a kernel thread send a discard to a device without queues.
    DiscardInThread,
}

impl Trims {
    fn entry(self, offset: u64, length: u64) -> squeue::Entry {
        if self == Self::Punch {
            let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            return opcode::Fallocate::new(FILE, length)
                .offset(offset)
                .mode(mode.bits() as i32)
                .build();
        }
        // The kernel takes the start from `addr` and the length from `addr3`, the first word of the command.
        let mut command = [0; 16];
        command[..8].copy_from_slice(&length.to_ne_bytes());
        let entry = opcode::UringCmd16::new(FILE, BLOCK_URING_CMD_DISCARD)
            .addr(Some(offset))
            .cmd(command)
            .build();
        match self {
            Self::DiscardInThread => entry.flags(squeue::Flags::ASYNC),
            _ => entry,
        }
    }
}

impl Ring {
    /// Creates a ring that only the calling thread may use.
    ///
    /// # Errors
    /// [`EngineError::Setup`] with the errno; [`EngineError::Unsupported`] if the kernel has no `io_uring` or denies
    /// it.
    pub(crate) fn new(
        stream: &Stream,
        file: File,
        trims: Trims,
        region: Region,
    ) -> Result<Self, EngineError> {
        let uring = build(stream.depth, stream.polled)?;
        let vector = |(base, length): (*mut u8, usize)| libc::iovec {
            iov_base: base.cast(),
            iov_len: length,
        };
        let pieces: Vec<libc::iovec> = region.pieces().into_iter().map(vector).collect();
        let submitter = uring.submitter();
        if !pieces.is_empty() {
            // SAFETY: the pieces make up the region, which the ring keeps until nothing is in flight any more.
            unsafe { submitter.register_buffers(&pieces) }
                .map_err(|e| EngineError::setup("registering I/O buffers", e))?;
        }
        submitter
            .register_files(&[file.as_raw_fd()])
            .map_err(|e| EngineError::setup("registering the file with the ring", e))?;
        let some_trims = stream.trims() && (stream.reads() || stream.writes());
        Ok(Self {
            uring,
            polled: stream.polled,
            flush: match stream.flush {
                Flush::Fdatasync => FsyncFlags::DATASYNC,
                Flush::Fsync => FsyncFlags::empty(),
            },
            in_flight: 0,
            memory: Memory::new(region, trims, some_trims),
            _file: file,
        })
    }

    /// Returns the number of I/Os and flushes that the kernel has, or will get at the next entry.
    #[inline]
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Prepares an I/O from `next` in each of `slots`, which must be free. The queue has room: one entry for each slot.
    #[inline]
    pub(crate) fn prepare(&mut self, slots: &[u16], mut next: impl FnMut(usize) -> Io) {
        for &slot in slots {
            let slot = usize::from(slot);
            self.memory.draft(slot, next(slot));
        }
        // In a second pass, because a copy has to wait for what was just written into its original.
        let mut queue = self.uring.submission();
        for &slot in slots {
            // SAFETY: the entry's buffer is a slot that nothing else in flight uses, and the buffer outlives the I/O
            // (see `drop`).
            let pushed = unsafe { queue.push(&self.memory.drafts[usize::from(slot)]) };
            assert!(pushed.is_ok(), "the queue has an entry for each slot");
        }
        drop(queue);
        self.in_flight += slots.len() as u32;
    }

    /// Prepares a flush of all completed writes in a slot without an I/O, and uses that slot's queue entry.
    pub(crate) fn prepare_flush(&mut self, slot: u16) {
        let entry = opcode::Fsync::new(FILE)
            .flags(self.flush)
            .build()
            .user_data((FLUSH + usize::from(slot)) as u64);
        // SAFETY: a flush has no buffer.
        let pushed = unsafe { self.uring.submission().push(&entry) };
        assert!(pushed.is_ok(), "the queue has an entry for each slot");
        self.in_flight += 1;
    }

    /// Submits the prepared entries and waits for `want` completions.
    ///
    /// # Errors
    /// The kernel's errno, if entering again cannot help.
    #[inline]
    pub(crate) fn enter(&mut self, want: usize) -> io::Result<()> {
        loop {
            match self.uring.submit_and_wait(want) {
                Ok(_) => return Ok(()),
                Err(e) if is_passing(&e) => {
                    if !self.uring.completion().is_empty() {
                        return Ok(());
                    }
                }
                Err(e) => return Err(e),
            }
        }
    }

    /// Submits the prepared entries and waits for one completion, for at most `wait_ns`. A polled ring does not wait.
    ///
    /// # Errors
    /// As for [`Self::enter`].
    pub(crate) fn enter_for(&mut self, wait_ns: u64) -> io::Result<()> {
        if self.polled || wait_ns == 0 {
            return self.look();
        }
        let wait = Timespec::new()
            .sec(wait_ns / SECOND_NS)
            .nsec((wait_ns % SECOND_NS) as u32);
        let arguments = SubmitArgs::new().timespec(&wait);
        match self.uring.submitter().submit_with_args(1, &arguments) {
            Err(e) if e.raw_os_error() == Some(libc::ETIME) || is_passing(&e) => Ok(()),
            other => other.map(drop),
        }
    }

    /// Submits the prepared entries and lets the kernel post completions, without waiting.
    ///
    /// # Errors
    /// As for [`Self::enter`].
    #[inline]
    pub(crate) fn look(&mut self) -> io::Result<()> {
        let prepared = self.uring.submission().len() as u32;
        // SAFETY: no argument is passed, so there is nothing whose validity could matter.
        let entered = unsafe {
            self.uring.submitter().enter::<libc::sigset_t>(
                prepared,
                0,
                EnterFlags::GETEVENTS.bits(),
                None,
            )
        };
        match entered {
            Err(e) if is_passing(&e) => Ok(()),
            other => other.map(drop),
        }
    }

    /// Returns the number of completions that are ready.
    #[inline]
    pub(crate) fn ready(&mut self) -> usize {
        self.uring.completion().len()
    }

    /// Passes `count` completions to `each`: number from 0, slot (plus [`FLUSH`] for a flush), and the kernel's result.
    /// At most [`Self::ready`] completions may be reaped.
    #[inline]
    pub(crate) fn reap(&mut self, count: usize, mut each: impl FnMut(usize, usize, i32)) {
        // Completions that are ready are no longer in flight, even if `each` panics.
        self.in_flight -= count as u32;
        for (number, entry) in (0..count).zip(self.uring.completion()) {
            each(number, entry.user_data() as usize, entry.result());
        }
    }

    fn drain(&mut self) -> io::Result<()> {
        while self.in_flight > 0 {
            self.enter(1)?;
            let ready = self.ready();
            self.reap(ready, |_, _, _| {});
        }
        Ok(())
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.drain().is_err() {
            // I/Os in flight may still complete: losing the memory is better than letting the kernel write into reused
            // memory.
            self.memory.region.abandon();
        }
    }
}

/// Returns whether the error means "try again": a signal, or a queue that is full until something is reaped.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EINTR | libc::EAGAIN | libc::EBUSY)
    )
}

/// Builds a ring. Uses the cheaper mode for a single issuer if the kernel has it (6.1).
fn build(entries: u32, polled: bool) -> Result<IoUring, EngineError> {
    let mut plain = IoUring::builder();
    plain.setup_clamp();
    if polled {
        plain.setup_iopoll();
    }
    let mut lean = plain.clone();
    lean.setup_single_issuer().setup_defer_taskrun();
    let mut built = lean.build(entries);
    if built
        .as_ref()
        .is_err_and(|e| e.raw_os_error() == Some(libc::EINVAL))
    {
        built = plain.build(entries);
    }
    let ring: IoUring = built.map_err(|e| match e.raw_os_error() {
        Some(libc::ENOSYS) => EngineError::Unsupported {
            feature: "io_uring",
            advice: "use a kernel that has it (5.11 or newer), or the sync engine",
        },
        Some(libc::EPERM) => EngineError::Unsupported {
            feature: "io_uring for this user",
            advice: "run as root, allow it (sysctl kernel.io_uring_disabled=0), or use the sync engine",
        },
        _ => EngineError::setup("making an io_uring", e),
    })?;
    if !ring.params().is_feature_ext_arg() {
        return Err(EngineError::Unsupported {
            feature: "io_uring with timed waits",
            advice: "use Linux 5.11 or newer, or the sync engine",
        });
    }
    // Saves the kernel a look-up at each entry (5.18); the ring works without it.
    let _ = ring.submitter().register_ring_fd();
    Ok(ring)
}

/// A ring of no-ops only, to measure what a ring costs.
pub(crate) struct Nothings {
    uring: IoUring,
    batch: u32,
}

impl Nothings {
    pub(crate) fn new(batch: u32) -> Result<Self, EngineError> {
        let uring = build(batch, false)?;
        Ok(Self { uring, batch })
    }

    /// Submits a batch and reaps it.
    pub(crate) fn call(&mut self) -> io::Result<()> {
        let mut queue = self.uring.submission();
        for _ in 0..self.batch {
            // SAFETY: a no-op has no buffer. A queue that is full, after a failed call, takes no more entries.
            let _ = unsafe { queue.push(&opcode::Nop::new().build()) };
        }
        drop(queue);
        self.uring.submit_and_wait(self.batch as usize)?;
        self.uring.completion().for_each(drop);
        Ok(())
    }
}
