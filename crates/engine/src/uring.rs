//! The `io_uring` back end, the ring itself: setting up, preparing, entering the kernel, reaping, draining.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, opcode, squeue};
use rustix::fs::FallocateFlags;
use workload::spec::Stream;
use workload::{Io, Op};

use crate::buffers::Region;
use crate::error::EngineError;
use crate::sys::SECOND_NS;
use crate::target::Kind;

/// `BLOCK_URING_CMD_DISCARD`, `_IO(0x12, 0)`: a discard as a ring operation (Linux 6.12).
const BLOCK_URING_CMD_DISCARD: u32 = 0x1200;
/// The only registered file.
const FILE: Fixed = Fixed(0);
/// Marks the completion of a flush; slots count from 0.
const FLUSH: u64 = u64::MAX;
/// Room in the queues beside the I/Os: one flush. (The deepest ring has none to spare; a flush waits for its turn there.)
const ENTRIES_BESIDE: u32 = 1;

/// What a completion says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Completion {
    /// The I/O of this slot, and the kernel's result.
    Io(usize, i32),
    /// A flush, and the kernel's result.
    Flush(i32),
}

/// A ring with its registered file and buffers, which it outlives: dropping a ring waits for all that is in flight.
pub(crate) struct Ring {
    ring: IoUring,
    /// Address and registered buffer of each slot.
    places: Vec<(*mut u8, u16)>,
    first_write: usize,
    kind: Kind,
    polled: bool,
    in_flight: u32,
    // These go last, after the ring.
    region: Region,
    _file: File,
}

impl Ring {
    /// Makes a ring for the calling thread, which alone may use it.
    ///
    /// # Errors
    /// [`EngineError::Setup`] with the errno; [`EngineError::Unsupported`] where the kernel has no `io_uring`.
    pub(crate) fn new(
        stream: &Stream,
        file: File,
        kind: Kind,
        region: Region,
    ) -> Result<Self, EngineError> {
        let ring = build(stream.depth + ENTRIES_BESIDE, stream.polled)?;
        let vector = |(base, length): (*mut u8, usize)| libc::iovec {
            iov_base: base.cast(),
            iov_len: length,
        };
        let pieces: Vec<libc::iovec> = region.pieces().into_iter().map(vector).collect();
        let submitter = ring.submitter();
        if !pieces.is_empty() {
            // SAFETY: the pieces make up the region, which the ring keeps until after nothing is in flight.
            unsafe { submitter.register_buffers(&pieces) }
                .map_err(|e| EngineError::setup("registering I/O buffers", e))?;
        }
        submitter
            .register_files(&[file.as_raw_fd()])
            .map_err(|e| EngineError::setup("registering the file with the ring", e))?;
        Ok(Self {
            ring,
            places: region.places(),
            first_write: region.first_write(),
            kind,
            polled: stream.polled,
            in_flight: 0,
            region,
            _file: file,
        })
    }

    /// I/Os and flushes that the kernel has, or will have at the next entry.
    #[inline]
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Prepares an I/O in a slot that is free.
    #[inline]
    pub(crate) fn push(&mut self, slot: usize, io: Io) {
        let entry = match io.op {
            Op::Read => {
                let (address, buffer) = self.places[slot];
                opcode::ReadFixed::new(FILE, address, io.length, buffer)
                    .offset(io.offset)
                    .build()
            }
            Op::Write => self.write(slot, io),
            Op::Trim => self.trim(io),
        };
        self.push_entry(&entry.user_data(slot as u64));
    }

    /// Prepares a flush of all writes that have completed; says whether there was room for it.
    pub(crate) fn push_flush(&mut self) -> bool {
        if self.ring.submission().is_full() {
            return false;
        }
        let entry = opcode::Fsync::new(FILE).flags(FsyncFlags::DATASYNC).build();
        self.push_entry(&entry.user_data(FLUSH));
        true
    }

    #[inline]
    fn write(&mut self, slot: usize, io: Io) -> squeue::Entry {
        self.region.stamp(slot, io.length as usize);
        let (address, buffer) = self.places[self.first_write + slot];
        opcode::WriteFixed::new(FILE, address, io.length, buffer)
            .offset(io.offset)
            .build()
    }

    #[cold]
    fn trim(&self, io: Io) -> squeue::Entry {
        let length = u64::from(io.length);
        match self.kind {
            Kind::File => {
                let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                opcode::Fallocate::new(FILE, length)
                    .offset(io.offset)
                    .mode(mode.bits() as i32)
                    .build()
            }
            Kind::Block => {
                // The kernel takes the start from `addr` and the length from `addr3`, the first word of the command.
                let mut command = [0; 16];
                command[..8].copy_from_slice(&length.to_ne_bytes());
                opcode::UringCmd16::new(FILE, BLOCK_URING_CMD_DISCARD)
                    .addr(Some(io.offset))
                    .cmd(command)
                    .build()
            }
        }
    }

    #[inline]
    fn push_entry(&mut self, entry: &squeue::Entry) {
        // SAFETY: the entry's buffer is a slot that nothing else in flight uses, and outlives the I/O (see `drop`).
        let pushed = unsafe { self.ring.submission().push(entry) };
        assert!(
            pushed.is_ok(),
            "the queue has an entry for each slot and the flush"
        );
        self.in_flight += 1;
    }

    /// Submits what was prepared and waits until `want` completions are there.
    ///
    /// # Errors
    /// The kernel's errno, where entering again cannot help.
    #[inline]
    pub(crate) fn enter(&mut self, want: usize) -> io::Result<()> {
        loop {
            match self.ring.submit_and_wait(want) {
                Ok(_) => return Ok(()),
                Err(e) if is_passing(&e) => {
                    if !self.ring.completion().is_empty() {
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
            return self.poll();
        }
        let wait = Timespec::new()
            .sec(wait_ns / SECOND_NS)
            .nsec((wait_ns % SECOND_NS) as u32);
        let arguments = SubmitArgs::new().timespec(&wait);
        match self.ring.submitter().submit_with_args(1, &arguments) {
            Err(e) if e.raw_os_error() == Some(libc::ETIME) || is_passing(&e) => Ok(()),
            other => other.map(drop),
        }
    }

    /// Submits what was prepared and lets the kernel post what has completed, without waiting.
    ///
    /// # Errors
    /// As for [`Self::enter`].
    pub(crate) fn poll(&mut self) -> io::Result<()> {
        let prepared = self.ring.submission().len() as u32;
        // SAFETY: no argument is passed, so there is nothing whose validity could matter.
        let entered = unsafe {
            self.ring.submitter().enter::<libc::sigset_t>(
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

    /// Hands each completion that is there to `each`.
    #[inline]
    pub(crate) fn reap(&mut self, mut each: impl FnMut(Completion)) {
        for entry in self.ring.completion() {
            // Before `each`, which may panic: a drain must not wait for what has come.
            self.in_flight -= 1;
            each(match entry.user_data() {
                FLUSH => Completion::Flush(entry.result()),
                slot => Completion::Io(slot as usize, entry.result()),
            });
        }
    }

    fn drain(&mut self) -> io::Result<()> {
        while self.in_flight > 0 {
            self.enter(1)?;
            self.reap(|_| {});
        }
        Ok(())
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.drain().is_err() {
            // What is in flight may still come: better lose the memory than have a stranger's data written into it.
            self.region.abandon();
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
