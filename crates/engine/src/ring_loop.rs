//! The worker's loop over a ring: fill the free slots, enter the kernel once, reap what is there.
//!
//! One clock stamp is taken for all I/Os of a submission, right before the kernel is entered, and one for all that are
//! reaped, right after. What is ready is submitted and one completion is waited for, unless the stream asks for a batch.

use std::collections::VecDeque;
use std::io;

use workload::spec::Arrival as Law;
use workload::{Io, Op};

use crate::source::Arrival;
use crate::uring::{Completion, Ring};
use crate::worker::{SHORT, Worker};

/// One I/O in flight.
#[derive(Clone, Copy, Debug)]
struct Slot {
    io: Io,
    intended_ns: u64,
    submit_ns: u64,
}

/// The intended start of an I/O that is meant to start when it is submitted.
const AT_ONCE: u64 = u64::MAX;

const UNUSED: Slot = Slot {
    io: Io {
        op: Op::Read,
        offset: 0,
        length: 0,
    },
    intended_ns: 0,
    submit_ns: 0,
};

/// Which I/O has which slot.
#[derive(Debug)]
struct Slots {
    all: Box<[Slot]>,
    /// A stack of the numbers of free slots: the first `free_count` are free. Those taken since the last submission still
    /// stand above them, so that they can be stamped all at once.
    free: Box<[u16]>,
    free_count: usize,
    free_at_submission: usize,
}

impl Slots {
    fn new(depth: u32) -> Self {
        let depth = depth as usize;
        Self {
            all: vec![UNUSED; depth].into_boxed_slice(),
            free: (0..depth).rev().map(|slot| slot as u16).collect(),
            free_count: depth,
            free_at_submission: depth,
        }
    }

    #[inline]
    fn take(&mut self, io: Io, intended_ns: u64) -> usize {
        self.free_count -= 1;
        let slot = usize::from(self.free[self.free_count]);
        self.all[slot] = Slot {
            io,
            intended_ns,
            submit_ns: 0,
        };
        slot
    }

    #[inline]
    fn give_back(&mut self, slot: usize) -> Slot {
        self.free[self.free_count] = slot as u16;
        self.free_count += 1;
        self.all[slot]
    }

    /// Stamps what was taken since the last time; says how many that are.
    #[inline]
    fn stamp(&mut self, submit_ns: u64) -> u32 {
        let fresh = &self.free[self.free_count..self.free_at_submission];
        for &slot in fresh {
            let slot = &mut self.all[usize::from(slot)];
            slot.submit_ns = submit_ns;
            slot.intended_ns = slot.intended_ns.min(submit_ns);
        }
        fresh.len() as u32
    }
}

/// Writes between two flushes.
#[derive(Debug)]
struct Flushing {
    every: u64,
    /// Writes completed since the last flush was prepared.
    writes: u64,
    in_flight: bool,
}

/// A worker, its ring and its slots.
pub(crate) struct RingLoop<'w, 'a> {
    worker: &'w mut Worker<'a>,
    ring: Ring,
    slots: Slots,
    flushing: Flushing,
    /// Completions to wait for.
    batch: u32,
    /// Nothing more is to be issued.
    over: bool,
    reaped_at_ns: u64,
}

/// Runs the worker's loop to its end; nothing is in flight then.
pub(crate) fn run(worker: &mut Worker, ring: Ring) {
    let stream = worker.stream;
    let reaped_at_ns = worker.clock.now();
    let mut ring_loop = RingLoop {
        ring,
        slots: Slots::new(stream.depth),
        flushing: Flushing {
            every: stream.flush_every.unwrap_or(u64::MAX),
            writes: 0,
            in_flight: false,
        },
        batch: stream.batch.unwrap_or(1),
        over: worker.is_over(reaped_at_ns),
        reaped_at_ns,
        worker,
    };
    let ended = match stream.arrival {
        Law::Closed { think_ns: 0 } => ring_loop.back_to_back(),
        Law::Closed { think_ns } => ring_loop.thinking(think_ns),
        Law::Open { .. } | Law::Bursts { .. } => ring_loop.scheduled(),
    };
    if let Err(error) = ended {
        ring_loop
            .worker
            .ring_failed(error.raw_os_error().unwrap_or(libc::EIO));
    }
}

impl RingLoop<'_, '_> {
    fn back_to_back(&mut self) -> io::Result<()> {
        let source = self.worker.source;
        let mut feed = source.lock();
        let mut first = true;
        loop {
            while !self.over && self.slots.free_count > 0 {
                let Some(io) = feed.next() else {
                    self.over = true;
                    break;
                };
                self.put(io, AT_ONCE);
            }
            self.submitting();
            if self.ring.in_flight() == 0 {
                return Ok(());
            }
            self.ring
                .enter(self.batch.min(self.ring.in_flight()) as usize)?;
            let at = self.reap();
            if std::mem::take(&mut first) {
                self.worker.meet();
            }
            self.over |= self.worker.is_over(at);
        }
    }

    fn thinking(&mut self, think_ns: u64) -> io::Result<()> {
        let source = self.worker.source;
        let mut feed = source.lock();
        // When each free slot has thought enough; all think equally long, so the first to complete is the first to go on.
        let mut due: VecDeque<u64> = vec![0; self.slots.free_count].into();
        loop {
            let now = self.worker.clock.now();
            self.over |= self.worker.is_over(now);
            while !self.over && due.front().is_some_and(|&due| due <= now) {
                let Some(io) = feed.next() else {
                    self.over = true;
                    break;
                };
                let intended_ns = due.pop_front().unwrap_or(now);
                self.put(io, intended_ns);
            }
            self.submitting();
            if self.over && self.ring.in_flight() == 0 {
                return Ok(());
            }
            let next = due.front().copied().filter(|_| !self.over);
            self.wait_for_either(next)?;
            let at = self.reap();
            due.resize(self.slots.free_count, at + think_ns);
        }
    }

    fn scheduled(&mut self) -> io::Result<()> {
        let mut held: Option<Arrival> = None;
        loop {
            let now = self.worker.clock.now();
            while self.slots.free_count > 0 && !self.over {
                held = held.or_else(|| self.worker.source.lock().next_due(self.worker.stop_ns()));
                let Some(arrival) = held.filter(|a| a.due_ns < self.worker.stop_ns()) else {
                    self.over = true;
                    break;
                };
                if arrival.due_ns > now {
                    break;
                }
                held = None;
                if self.worker.gives_up(arrival.due_ns, now) {
                    self.worker.drop_arrival(arrival, now);
                } else {
                    self.put(arrival.io, arrival.due_ns);
                }
            }
            self.submitting();
            if self.over && self.ring.in_flight() == 0 {
                return Ok(());
            }
            let next = held.map(|arrival| arrival.due_ns).filter(|_| !self.over);
            self.wait_for_either(next)?;
            self.reap();
        }
    }

    /// Prepares an I/O; there is a free slot.
    #[inline]
    fn put(&mut self, io: Io, intended_ns: u64) {
        let slot = self.slots.take(io, intended_ns);
        self.ring.push(slot, io);
    }

    /// Prepares a flush if one is due, and stamps what is about to be submitted.
    #[inline]
    fn submitting(&mut self) {
        if self.flushing.writes >= self.flushing.every {
            self.flush();
        }
        let submit_ns = self.worker.clock.now();
        let fresh = self.slots.stamp(submit_ns);
        if fresh > 0 {
            self.worker.recorder.submitted(fresh, submit_ns);
            self.worker.recorder.batch(submit_ns - self.reaped_at_ns);
        }
    }

    #[cold]
    fn flush(&mut self) {
        if !self.flushing.in_flight && self.ring.push_flush() {
            self.flushing.in_flight = true;
            self.flushing.writes = 0;
        }
    }

    /// Waits for a completion, or until `due_ns` if something is to be issued then.
    fn wait_for_either(&mut self, due_ns: Option<u64>) -> io::Result<()> {
        match due_ns {
            None => self
                .ring
                .enter(self.batch.min(self.ring.in_flight()) as usize),
            Some(due_ns) if self.ring.in_flight() == 0 => {
                self.worker.wait_until(due_ns);
                Ok(())
            }
            Some(due_ns) => {
                let now = self.worker.clock.now();
                self.worker.recorder.advance(now);
                let wake_ns = self.worker.wake_at(due_ns, now);
                self.ring.enter_for(wake_ns.saturating_sub(now))
            }
        }
    }

    /// Counts all completions that are there, at one stamp, which is returned.
    #[inline]
    fn reap(&mut self) -> u64 {
        let Self {
            worker,
            ring,
            slots,
            flushing,
            over,
            ..
        } = self;
        let at = worker.clock.now();
        ring.reap(|completion| match completion {
            Completion::Io(number, result) => {
                let slot = slots.give_back(number);
                if result as u32 == slot.io.length {
                    worker.done(slot.io, slot.intended_ns, slot.submit_ns, at);
                } else {
                    *over |= !settle(worker, slot, result, at);
                }
                flushing.writes += u64::from(slot.io.op == Op::Write);
            }
            Completion::Flush(result) => {
                flushing.in_flight = false;
                if result < 0 {
                    worker.flush_failed(-result);
                    *over = true;
                }
            }
        });
        slots.free_at_submission = slots.free_count;
        self.reaped_at_ns = at;
        at
    }
}

/// Counts a completion whose result is not its length: a trim that was done, or a failure; says whether the worker goes on.
#[cold]
#[inline(never)]
fn settle(worker: &mut Worker, slot: Slot, result: i32, at_ns: u64) -> bool {
    if slot.io.op == Op::Trim && result == 0 {
        worker.done(slot.io, slot.intended_ns, slot.submit_ns, at_ns);
        return true;
    }
    let errno = if result < 0 { -result } else { SHORT };
    worker.failed(slot.io, errno, slot.intended_ns, slot.submit_ns, at_ns)
}
