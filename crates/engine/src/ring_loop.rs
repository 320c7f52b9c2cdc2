//! The worker's loop over a ring: fills free slots, enters the kernel once, reaps completions.
//!
//! All I/Os of a submission share one clock stamp, taken right before the kernel is entered. All completions reaped
//! together share another, taken right after. The loop submits what is ready and waits for one completion, unless the
//! stream sets a batch.

use std::collections::VecDeque;
use std::io;

use workload::spec::Arrival as Law;
use workload::{Io, Op};

use crate::portions::Portions;
use crate::slots::{AT_ONCE, InFlight, Slots};
use crate::source::{Arrival, Feed};
use crate::uring::{FLUSH, Ring};
use crate::worker::{SHORT, Worker};

/// State of the flushes. A flush uses the slot of the write that triggered it; the slot is free again when the flush is
/// done.
#[derive(Debug)]
struct Flushing {
    every: u64,
    /// Writes completed since the last write that triggered a flush.
    writes: u64,
    /// Slots whose flush goes out with the next submission.
    due: Vec<u16>,
}

impl Flushing {
    /// Counts a completed write. Returns whether a flush is to follow it.
    fn follows(&mut self) -> bool {
        self.writes += 1;
        let follows = self.writes == self.every;
        if follows {
            self.writes = 0;
        }
        follows
    }
}

pub(crate) struct RingLoop<'w, 'a> {
    worker: &'w mut Worker<'a>,
    ring: Ring,
    slots: Slots,
    flushing: Flushing,
    portions: Portions,
    /// Number of completions to wait for.
    batch: u32,
    /// Whether nothing more is to be issued.
    over: bool,
    reaped_at_ns: u64,
}

/// Runs the worker's loop to its end; nothing is in flight afterwards.
pub(crate) fn run(worker: &mut Worker, ring: Ring) {
    let stream = worker.stream;
    let reaped_at_ns = worker.clock.now();
    let mut ring_loop = RingLoop {
        ring,
        slots: Slots::new(stream.depth),
        flushing: Flushing {
            every: stream.flush_every.unwrap_or(u64::MAX),
            writes: 0,
            due: Vec::new(),
        },
        portions: Portions::new(stream.depth, stream.batch),
        batch: stream.batch.unwrap_or(1),
        over: worker.is_over(reaped_at_ns),
        reaped_at_ns,
        worker,
    };
    let ended = match stream.arrival {
        Law::Closed { think_ns: 0 } => ring_loop.back_to_back(|_| None),
        law @ Law::Pulses { .. } => ring_loop.back_to_back(|at| law.rests_until(at)),
        Law::Closed { think_ns } => ring_loop.thinking(think_ns),
        Law::Open { .. } | Law::Bursts { .. } | Law::Recorded { .. } => ring_loop.scheduled(),
    };
    if let Err(error) = ended {
        ring_loop
            .worker
            .ring_failed(error.raw_os_error().unwrap_or(libc::EIO));
    }
}

impl RingLoop<'_, '_> {
    /// `rests_until` returns the end of the rest period that contains a time, if there is one.
    fn back_to_back(&mut self, rests_until: impl Fn(u64) -> Option<u64>) -> io::Result<()> {
        let source = self.worker.source;
        let mut feed = source.lock();
        let mut first = true;
        let stream = self.worker.stream;
        let lean = !stream.log_ios && stream.flush_every.is_none();
        loop {
            let rest = rests_until(self.reaped_at_ns);
            if !self.over && rest.is_none() {
                self.over = !self.fill(&mut feed);
            }
            let fresh = self.submitting();
            if self.ring.in_flight() == 0 {
                match rest.filter(|_| !self.over) {
                    None => return Ok(()),
                    Some(due_ns) => self.rest(due_ns),
                }
                continue;
            }
            let more = !self.over && rest.is_none() && self.slots.free() > 0;
            let look = more || (self.portions.look_first() && fresh > 0);
            self.enter(look, None)?;
            let at = if lean {
                self.reap_together()
            } else {
                self.reap()
            };
            self.portions.learn(look, self.ring.in_flight());
            if std::mem::take(&mut first) {
                self.worker.meet();
            }
            self.over |= self.worker.is_over(at);
        }
    }

    #[cold]
    fn rest(&mut self, due_ns: u64) {
        self.reaped_at_ns = self.worker.wait_until(due_ns);
        self.over |= self.worker.is_over(self.reaped_at_ns);
    }

    fn thinking(&mut self, think_ns: u64) -> io::Result<()> {
        let source = self.worker.source;
        let mut feed = source.lock();
        // When each free slot has finished thinking. Think times are equal, so the first slot to complete is the first
        // to go on.
        let mut due: VecDeque<u64> = vec![0; self.slots.free()].into();
        loop {
            let now = self.worker.clock.now();
            self.over |= self.worker.is_over(now);
            let is_due = |due: &VecDeque<u64>| due.front().is_some_and(|&due| due <= now);
            let mut room = self.portions.max_portion();
            while !self.over && room > 0 && is_due(&due) {
                let Some(io) = feed.next() else {
                    self.over = true;
                    break;
                };
                let intended_ns = due.pop_front().unwrap_or(now);
                self.put(io, intended_ns);
                room -= 1;
            }
            self.submitting();
            if self.over && self.ring.in_flight() == 0 {
                return Ok(());
            }
            let more = !self.over && is_due(&due);
            let next = due.front().copied().filter(|_| !self.over);
            self.enter(more, next)?;
            let at = self.reap();
            self.portions.learn(more, self.ring.in_flight());
            due.resize(self.slots.free(), at + think_ns);
        }
    }

    fn scheduled(&mut self) -> io::Result<()> {
        let mut held: Option<Arrival> = None;
        loop {
            let now = self.worker.clock.now();
            self.worker.heed(now);
            let more = self.issue_due(&mut held, now);
            self.submitting();
            if self.over && self.ring.in_flight() == 0 {
                return Ok(());
            }
            let next = held.map(|arrival| arrival.due_ns).filter(|_| !self.over);
            self.enter(more, next)?;
            self.reap();
            self.portions.learn(more, self.ring.in_flight());
        }
    }

    /// Prepares or drops the arrivals that are due. Returns whether more of them can be issued at once. `held` receives
    /// the next arrival, which is not due yet.
    fn issue_due(&mut self, held: &mut Option<Arrival>, now: u64) -> bool {
        let mut room = self.portions.max_portion().min(self.slots.free());
        while !self.over && self.slots.free() > 0 {
            let stop_ns = self.worker.stop_ns();
            *held = held.or_else(|| self.worker.source.lock().next_due(stop_ns));
            let Some(arrival) = held.filter(|arrival| arrival.due_ns < stop_ns) else {
                self.over = true;
                break;
            };
            if arrival.due_ns > now || room == 0 {
                return arrival.due_ns <= now;
            }
            *held = match self.worker.give_up(arrival, now) {
                Ok(next) => {
                    // Dropping many arrivals takes time, so the next arrival is judged by a new stamp.
                    *held = next;
                    return true;
                }
                Err(arrival) => {
                    self.put(arrival.io, arrival.due_ns);
                    room -= 1;
                    None
                }
            };
        }
        false
    }

    /// Gives I/Os to a portion of the free slots. Returns whether there were enough I/Os.
    #[inline]
    fn fill(&mut self, feed: &mut Feed) -> bool {
        let wanted = self.slots.free().min(self.portions.max_portion());
        if feed.counts_bytes() {
            return (0..wanted).all(|_| {
                let io = feed.next();
                io.map(|io| self.put(io, AT_ONCE)).is_some()
            });
        }
        let granted = feed.grant(wanted);
        let (taken, all) = self.slots.take(granted);
        self.ring.prepare(taken, |slot| {
            let io = feed.draw();
            all[slot].io = io;
            io
        });
        granted == wanted
    }

    /// Prepares an I/O; there must be a free slot.
    fn put(&mut self, io: Io, intended_ns: u64) {
        let taken = self.slots.take_for(io, intended_ns);
        self.ring.prepare(taken, |_| io);
    }

    /// Prepares the due flushes and stamps the I/Os that are about to be submitted. Returns the number of these I/Os.
    #[inline]
    fn submitting(&mut self) -> u32 {
        let submit_ns = self.worker.clock.now();
        if !self.flushing.due.is_empty() {
            self.flush(submit_ns);
        }
        let fresh = self.slots.stamp(submit_ns);
        if fresh > 0 {
            self.worker.recorder.submitted(fresh, submit_ns);
            self.worker.recorder.batch(submit_ns - self.reaped_at_ns);
        }
        fresh
    }

    #[inline(never)]
    fn flush(&mut self, submit_ns: u64) {
        for slot in self.flushing.due.drain(..) {
            self.slots.begin_flush(slot, submit_ns);
            self.ring.prepare_flush(slot);
        }
    }

    /// Submits the prepared entries. With `look`, only checks for completions; otherwise waits for them. If another I/O
    /// is due at `due_ns`, the wait ends then.
    #[inline]
    fn enter(&mut self, look: bool, due_ns: Option<u64>) -> io::Result<()> {
        match due_ns {
            _ if look => self.ring.look(),
            None => self
                .ring
                .enter(self.batch.min(self.ring.in_flight()) as usize),
            Some(due_ns) => self.enter_until(due_ns),
        }
    }

    #[inline(never)]
    fn enter_until(&mut self, due_ns: u64) -> io::Result<()> {
        if self.ring.in_flight() == 0 {
            self.worker.wait_until(due_ns);
            return Ok(());
        }
        let now = self.worker.clock.now();
        self.worker.recorder.advance(now);
        let wake_ns = self.worker.wake_at(due_ns, now);
        self.ring.enter_for(wake_ns.saturating_sub(now))
    }

    /// Counts the ready completions at one stamp and returns the stamp.
    #[inline]
    fn reap(&mut self) -> u64 {
        let Self {
            worker,
            ring,
            slots,
            flushing,
            portions,
            over,
            ..
        } = self;
        let at = worker.clock.now();
        let count = ring.ready().min(portions.max_to_reap());
        ring.reap(count, |_, slot, result| {
            if slot >= FLUSH {
                let was = slots.give_one_back(slot - FLUSH);
                let outcome = if result < 0 { Err(-result) } else { Ok(()) };
                worker.flushed(outcome, was.submit_ns, at);
                *over |= outcome.is_err();
                return;
            }
            let was = slots.at(slot);
            if result as u32 == was.io.length {
                worker.done(was.io, was.intended_ns(), was.submit_ns, at);
                if was.io.op == Op::Write && flushing.follows() {
                    flushing.due.push(slot as u16);
                    return;
                }
            } else {
                *over |= !settle(worker, was, result, at);
            }
            slots.give_one_back(slot);
        });
        slots.submitted();
        self.reaped_at_ns = at;
        at
    }

    /// Works like [`Self::reap`], for a loop that never flushes and keeps no I/O log.
    #[inline]
    fn reap_together(&mut self) -> u64 {
        let Self {
            worker,
            ring,
            slots,
            portions,
            over,
            ..
        } = self;
        let at = worker.clock.now();
        let mut odd = Vec::new();
        let mut together = worker.recorder.together(at);
        let count = ring.ready().min(portions.max_to_reap());
        let (numbers, all) = slots.give_back(count);
        ring.reap(count, |number, slot, result| {
            numbers[number] = slot as u16;
            let was = &all[slot];
            if result as u32 == was.io.length {
                together.completed(was.io.op, was.io.length, was.submit_ns);
            } else {
                odd.push((*was, result));
            }
        });
        let done = together.count();
        drop(together);
        worker.some_done(done);
        for (was, result) in odd {
            *over |= !settle(worker, was, result, at);
        }
        slots.submitted();
        self.reaped_at_ns = at;
        at
    }
}

/// Counts a completion whose result is not its length: a trim that was done, or a failure. Returns whether the worker
/// goes on.
#[cold]
#[inline(never)]
fn settle(worker: &mut Worker, was: InFlight, result: i32, at_ns: u64) -> bool {
    if was.io.op == Op::Trim && result == 0 {
        worker.done(was.io, was.intended_ns(), was.submit_ns, at_ns);
        return true;
    }
    let errno = if result < 0 { -result } else { SHORT };
    worker.failed(was.io, errno, was.intended_ns(), was.submit_ns, at_ns)
}
