//! The `io_uring` back end, the ring itself: setting up, preparing, entering the kernel, reaping, draining.
#![allow(unsafe_code)]
// The two are the heart of the loop, and the compiler's own choice costs a fifth of its instructions.
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
/// The only registered file.
const FILE: Fixed = Fixed(0);
/// Added to the number of a slot, marks the completion of a flush in it.
pub(crate) const FLUSH: usize = 1 << 32;

/// A ring with its registered file and buffers, which it outlives: dropping a ring waits for all that is in flight.
pub(crate) struct Ring {
    uring: IoUring,
    polled: bool,
    flush: FsyncFlags,
    in_flight: u32,
    // These go last, after the ring.
    memory: Memory,
    _file: File,
}

/// An entry of the submission queue as the kernel defines it (`struct io_uring_sqe`): word 1 is the offset, the low half of
/// word 3 the length.
type Words = [u64; 8];

const OFFSET_WORD: usize = 1;
const LENGTH_WORD: usize = 3;

/// The slots' memory, as the kernel knows it.
struct Memory {
    /// The entry of each slot's I/O. What stays the same from one I/O to the next is not written again; building entries anew
    /// would take most of the loop's time.
    drafts: Vec<squeue::Entry>,
    /// In a stream of several operations, the entries for reads, then those for writes; else empty.
    originals: Vec<squeue::Entry>,
    reads_only: bool,
    trims: Trims,
    region: Region,
}

impl Memory {
    /// `some_trims`: reads or writes come with trims between them.
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

    /// Drafts the entry of an I/O in a slot.
    #[inline(always)]
    fn draft(&mut self, slot: usize, io: Io) {
        if self.reads_only || self.adapt(slot, io.op, io.offset, io.length) {
            let words = words_of(&mut self.drafts[slot]);
            words[OFFSET_WORD] = io.offset;
            words[LENGTH_WORD] = u64::from(io.length);
        }
    }

    /// Makes the draft one of this operation; says whether offset and length are still to be set.
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
    // SAFETY: an `Entry` is the kernel's structure, 64 bytes of integers without padding, aligned to 8; any words make
    // one, and whether it may be submitted is for `prepare` to justify.
    unsafe { &mut *std::ptr::from_mut(entry).cast() }
}

/// How blocks are given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trims {
    /// A hole is punched into a file.
    Punch,
    /// A device with queues is sent discards.
    Discard,
    /// A device without queues is sent discards by a thread of the kernel.
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
    /// Makes a ring for the calling thread, which alone may use it.
    ///
    /// # Errors
    /// [`EngineError::Setup`] with the errno; [`EngineError::Unsupported`] where the kernel has no `io_uring`.
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
            // SAFETY: the pieces make up the region, which the ring keeps until after nothing is in flight.
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

    /// I/Os and flushes that the kernel has, or will have at the next entry.
    #[inline]
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Prepares an I/O in each of `slots`, which are free; `next` gives it. There is room: one entry for each slot.
    #[inline]
    pub(crate) fn prepare(&mut self, slots: &[u16], mut next: impl FnMut(usize) -> Io) {
        for &slot in slots {
            let slot = usize::from(slot);
            self.memory.draft(slot, next(slot));
        }
        // In a second pass, because a copy has to wait for what was written into its original a moment ago.
        let mut queue = self.uring.submission();
        for &slot in slots {
            // SAFETY: the entry's buffer is a slot that nothing else in flight uses, and outlives the I/O (see `drop`).
            let pushed = unsafe { queue.push(&self.memory.drafts[usize::from(slot)]) };
            assert!(pushed.is_ok(), "the queue has an entry for each slot");
        }
        drop(queue);
        self.in_flight += slots.len() as u32;
    }

    /// Prepares a flush of all writes that have completed, in a slot without an I/O: it takes the entry of that.
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

    /// Submits what was prepared and waits until `want` completions are there.
    ///
    /// # Errors
    /// The kernel's errno, where entering again cannot help.
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

    /// Submits what was prepared and waits for one completion, but at most `wait_ns`.
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

    /// Submits what was prepared and lets the kernel post what has completed, without waiting.
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

    /// How many completions are there.
    #[inline]
    pub(crate) fn ready(&mut self) -> usize {
        self.uring.completion().len()
    }

    /// Hands `count` completions, which are [`Self::ready`], to `each`: their number from 0 on, the slot, with [`FLUSH`] added
    /// for a flush, and the kernel's result.
    #[inline]
    pub(crate) fn reap(&mut self, count: usize, mut each: impl FnMut(usize, usize, i32)) {
        // What is ready is not in flight any more, even if `each` panics.
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
            // What is in flight may still come: better lose the memory than have a stranger's data written into it.
            self.memory.region.abandon();
        }
    }
}

/// Errors of an entry that say "again": a signal, or a queue that is full until something is reaped.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EINTR | libc::EAGAIN | libc::EBUSY)
    )
}

/// Builds a ring, with the cheap ways of a single issuer where the kernel has them (6.1), else without.
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
    // Spares the kernel a look-up at each entry (5.18); without it all works the same.
    let _ = ring.submitter().register_ring_fd();
    Ok(ring)
}

/// A ring that only carries operations that do nothing, to learn what a ring costs.
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
            // SAFETY: the operation has no buffer. A queue that is full, after a call that failed, takes no more.
            let _ = unsafe { queue.push(&opcode::Nop::new().build()) };
        }
        drop(queue);
        self.uring.submit_and_wait(self.batch as usize)?;
        self.uring.completion().for_each(drop);
        Ok(())
    }
}
