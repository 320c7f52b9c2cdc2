//! The synchronous back end: each worker is a thread with one system call in flight, as in drive reviews.

use std::fs::File;

use rustix::io::Errno;
use workload::spec::{Arrival, Flush, Stream};
use workload::{Io, Op};

use crate::buffers::Region;
use crate::sys;
use crate::target::Kind;
use crate::worker::{SHORT, Worker};

/// What a worker's system calls use: file, buffers and flush settings.
#[derive(Debug)]
pub(crate) struct Calls {
    file: File,
    kind: Kind,
    region: Region,
    flush: Flush,
    flush_every: u64,
    writes_since_flush: u64,
}

/// Why an I/O failed: the error number, or [`SHORT`].
type Failed = i32;

impl Calls {
    pub(crate) fn new(file: File, kind: Kind, region: Region, stream: &Stream) -> Self {
        Self {
            file,
            kind,
            region,
            flush: stream.flush,
            flush_every: stream.flush_every.unwrap_or(u64::MAX),
            writes_since_flush: 0,
        }
    }

    /// Stamps the data of a write before its latency is timed.
    #[inline]
    fn prepare(&mut self, io: Io) {
        if io.op == Op::Write {
            self.region.stamp(0, io.length as usize);
        }
    }

    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "a call of its own costs 20 instructions for each I/O"
    )]
    fn perform(&mut self, io: Io) -> Result<(), Failed> {
        let length = io.length as usize;
        loop {
            let moved = match io.op {
                Op::Read => {
                    rustix::io::pread(&self.file, self.region.read_slot(0, length), io.offset)
                }
                Op::Write => {
                    rustix::io::pwrite(&self.file, self.region.written(0, length), io.offset)
                }
                Op::Trim => return self.trim(io),
            };
            return match moved {
                Ok(moved) if moved == length => Ok(()),
                Ok(_) => Err(SHORT),
                Err(Errno::INTR) => continue,
                Err(errno) => Err(errno.raw_os_error()),
            };
        }
    }

    #[cold]
    fn trim(&self, io: Io) -> Result<(), Failed> {
        let length = u64::from(io.length);
        let done = match self.kind {
            Kind::Block => sys::discard(&self.file, io.offset, length),
            Kind::File => sys::punch_hole(&self.file, io.offset, length),
        };
        done.map_err(|e| e.raw_os_error().unwrap_or(libc::EIO))
    }

    /// Flushes if the I/O that completed at `at` is a write after which a flush is due. Returns the time afterwards; `None` if
    /// the worker must end.
    #[inline]
    fn flush_if_due(&mut self, io: Io, worker: &mut Worker, at: u64) -> Option<u64> {
        if self.flush_every == u64::MAX || io.op != Op::Write {
            return Some(at);
        }
        self.writes_since_flush += 1;
        if self.writes_since_flush < self.flush_every {
            return Some(at);
        }
        self.writes_since_flush = 0;
        self.flush(worker)
    }

    #[inline(never)]
    fn flush(&self, worker: &mut Worker) -> Option<u64> {
        let submit = worker.clock.now();
        let outcome = loop {
            let outcome = match self.flush {
                Flush::Fdatasync => rustix::fs::fdatasync(&self.file),
                Flush::Fsync => rustix::fs::fsync(&self.file),
            };
            if outcome != Err(Errno::INTR) {
                break outcome;
            }
        };
        let at = worker.clock.now();
        worker.flushed(outcome.map_err(Errno::raw_os_error), submit, at);
        outcome.is_ok().then_some(at)
    }
}

/// Runs the worker's loop to its end.
// Not inlined: among the driver's own variables the loop takes three more instructions per I/O.
#[inline(never)]
pub(crate) fn run(worker: &mut Worker, calls: &mut Calls) {
    match worker.stream.arrival {
        Arrival::Closed { think_ns: 0 } => back_to_back(worker, calls, |_| None),
        law @ Arrival::Pulses { .. } => back_to_back(worker, calls, |at| law.rests_until(at)),
        Arrival::Closed { think_ns } => thinking(worker, calls, think_ns),
        Arrival::Open { .. } | Arrival::Bursts { .. } | Arrival::Recorded { .. } => {
            scheduled(worker, calls);
        }
    }
}

/// `rests_until` returns the end of the rest period that contains a time, if there is one.
fn back_to_back(worker: &mut Worker, calls: &mut Calls, rests_until: impl Fn(u64) -> Option<u64>) {
    let mut feed = worker.source.lock();
    let mut at = worker.clock.now();
    let mut first = true;
    while !worker.is_over(at) {
        if let Some(due) = rests_until(at) {
            at = worker.wait_until(due);
            continue;
        }
        let Some(io) = feed.next() else { break };
        calls.prepare(io);
        let submit = worker.clock.now();
        let outcome = calls.perform(io);
        at = worker.clock.now();
        let went_on = match outcome {
            Ok(()) => {
                worker.done_alone(io, submit, at);
                calls.flush_if_due(io, worker, at)
            }
            Err(errno) => {
                worker.recorder.submitted(1, submit);
                worker.failed(io, errno, submit, submit, at).then_some(at)
            }
        };
        let Some(then) = went_on else { break };
        at = then;
        if std::mem::take(&mut first) {
            worker.meet();
            at = worker.clock.now();
        }
    }
}

fn thinking(worker: &mut Worker, calls: &mut Calls, think_ns: u64) {
    let mut feed = worker.source.lock();
    let mut due = 0;
    loop {
        let now = worker.wait_until(due);
        if worker.is_over(now) {
            break;
        }
        let Some(io) = feed.next() else { break };
        let Some(at) = issue(worker, calls, io, due) else {
            break;
        };
        due = at + think_ns;
    }
}

fn scheduled(worker: &mut Worker, calls: &mut Calls) {
    let mut held = None;
    loop {
        let stop_ns = worker.stop_ns();
        let arrival = held.or_else(|| worker.source.lock().next_due(stop_ns));
        let Some(arrival) = arrival else { break };
        let now = worker.wait_until(arrival.due_ns);
        worker.heed(now);
        if arrival.due_ns >= worker.stop_ns() {
            break;
        }
        held = match worker.give_up(arrival, now) {
            Ok(next) => next,
            Err(arrival) => match issue(worker, calls, arrival.io, arrival.due_ns) {
                Some(_) => None,
                None => break,
            },
        };
    }
}

/// Issues one I/O with intended start `due`. Returns when it and its flush completed; `None` if the worker must end.
fn issue(worker: &mut Worker, calls: &mut Calls, io: Io, due: u64) -> Option<u64> {
    calls.prepare(io);
    let submit = worker.clock.now();
    worker.recorder.submitted(1, submit);
    let outcome = calls.perform(io);
    let at = worker.clock.now();
    match outcome {
        Ok(()) => {
            worker.done(io, due, submit, at);
            calls.flush_if_due(io, worker, at)
        }
        Err(errno) => worker.failed(io, errno, due, submit, at).then_some(at),
    }
}
