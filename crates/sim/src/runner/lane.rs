//! A stream at run time: the next event of each slot, the stream's end, and what is counted.
//!
//! A *slot* is one of `workers * depth` places for an I/O in flight. The rules are those of the engine for real
//! drives: the closed loop with think time, and the open loop with its backlog bound and drain limit.

use metrics::{IoRecord, Recorder, WorkerFacts};
use rustix::time::{ClockId, clock_gettime};
use workload::schedule::DRAIN_LIMIT_NS;
use workload::spec::{Arrival as Law, Stream};
use workload::units::SECOND_NS;
use workload::{Io, Op, StreamPlan};

use crate::drive::Device;
use crate::runner::agenda::NEVER;
use crate::runner::feed::Feed;

/// What a slot does when its time comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Takes its next I/O.
    Free,
    /// Issues its I/O.
    Due,
    /// Completes its I/O.
    InFlight,
    /// Completes the flush after its I/O.
    Flushing,
}

/// One place for an I/O in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) lane: u32,
    /// The worker's number within its stream.
    pub(crate) worker: u32,
    feed: u32,
    state: State,
    io: Io,
    intended_ns: u64,
    submit_ns: u64,
}

impl Slot {
    fn new(lane: u32, worker: u32, feed: u32) -> Self {
        let io = Io {
            op: Op::Read,
            offset: 0,
            length: 0,
        };
        Self {
            lane,
            worker,
            feed,
            state: State::Free,
            io,
            intended_ns: 0,
            submit_ns: 0,
        }
    }

    fn wait_for(&mut self, io: Io, due_ns: u64) -> Next {
        self.io = io;
        self.intended_ns = due_ns;
        self.state = State::Due;
        Next::Wait(due_ns)
    }

    pub(crate) fn is_in_flight(&self) -> bool {
        self.state == State::InFlight
    }
}

/// What a slot does next.
enum Next {
    /// Issue this I/O, with its intended start.
    Issue(Io, u64),
    /// Wait until this time.
    Wait(u64),
}

#[derive(Debug)]
pub(crate) struct Lane<'a> {
    stream: &'a Stream,
    pub(crate) feeds: Vec<Feed>,
    recorder: Option<Recorder>,
    stop_ns: u64,
    backlog_ns: u64,
    /// Writes of each worker since its last flush.
    unflushed: Vec<u64>,
    flush_every: u64,
    /// Slots that may still issue I/Os.
    live: u32,
    end_ns: u64,
    /// Bytes of completed I/Os, by operation.
    moved_bytes: [u64; 3],
}

impl<'a> Lane<'a> {
    pub(crate) fn new(
        stream: &'a Stream,
        plan: &StreamPlan,
        sources: u32,
        recorder: Recorder,
    ) -> Self {
        Self {
            stream,
            feeds: (0..stream.sources())
                .map(|source| Feed::new(plan, source, stream, sources))
                .collect(),
            recorder: Some(recorder),
            stop_ns: stream.stop.time_ns.unwrap_or(u64::MAX),
            backlog_ns: stream.backlog_ns().unwrap_or(u64::MAX),
            unflushed: vec![0; stream.workers as usize],
            flush_every: stream.flush_every.unwrap_or(u64::MAX),
            live: stream.workers * stream.depth,
            end_ns: 0,
            moved_bytes: [0; 3],
        }
    }

    /// Creates the slots of the stream. Slots of one worker are neighbours.
    pub(crate) fn slots(&self, lane: u32, plan: &StreamPlan) -> Vec<Slot> {
        let workers = 0..self.stream.workers;
        workers
            .flat_map(|worker| {
                let slot = Slot::new(lane, worker, plan.source_of_worker(worker));
                std::iter::repeat_n(slot, self.stream.depth as usize)
            })
            .collect()
    }

    /// Returns whether the stream reads: reads go before programs, so they can delay earlier commands.
    pub(crate) fn reads(&self) -> bool {
        self.stream.reads()
    }

    /// Returns whether the stream writes: writes may wait for room in the buffer.
    pub(crate) fn writes(&self) -> bool {
        self.stream.writes()
    }

    /// Returns whether the drive must report an end at once, because flushes or durable writes depend on it.
    pub(crate) fn asks_at_once(&self) -> bool {
        self.stream.dsync || self.flush_every != u64::MAX
    }

    /// Completions that a worker gathers before it counts them; `None` if it counts each at once.
    pub(crate) fn batch(&self) -> Option<u32> {
        self.stream.batch.filter(|&batch| batch > 1)
    }

    /// Stops issuing at `at_ns`, except I/Os of open loops that were due before.
    pub(crate) fn stop(&mut self, at_ns: u64) {
        self.stop_ns = self.stop_ns.min(at_ns);
    }

    /// Returns whether a slot waits for an I/O that is not due before the stop.
    pub(crate) fn waits_in_vain(&self, slot: &Slot) -> bool {
        slot.state == State::Due && slot.intended_ns >= self.stop_ns
    }

    /// Tells the recorder that time has passed without I/O.
    pub(crate) fn advance(&mut self, at_ns: u64) {
        if let Some(recorder) = &mut self.recorder {
            recorder.advance(at_ns);
        }
    }

    /// Handles a slot's event. Returns the time of its next event; [`NEVER`] if there is none, or if the drive
    /// reports it later by `tag`.
    #[inline]
    pub(crate) fn step<D: Device>(
        &mut self,
        slot: &mut Slot,
        tag: Option<u32>,
        at_ns: u64,
        zero_ns: u64,
        drive: &mut D,
    ) -> u64 {
        match slot.state {
            State::InFlight => {
                self.complete(slot, at_ns);
                if self.flush_follows(slot) {
                    slot.state = State::Flushing;
                    slot.submit_ns = at_ns;
                    return drive.flush(zero_ns + at_ns) - zero_ns;
                }
            }
            State::Flushing => self.flushed(slot, at_ns),
            State::Free | State::Due => {}
        }
        let next = if slot.state == State::Due {
            self.due(slot)
        } else {
            self.next(slot, at_ns)
        };
        match next {
            Next::Issue(io, intended_ns) => {
                self.submit(slot, tag, io, intended_ns, [at_ns, zero_ns], drive)
            }
            Next::Wait(at_ns) => at_ns,
        }
    }

    /// Takes the slot's next I/O.
    #[inline]
    fn next(&mut self, slot: &mut Slot, at_ns: u64) -> Next {
        let due_ns = match self.stream.arrival {
            // No think time before the first I/O.
            Law::Closed { .. } if slot.io.length == 0 => at_ns,
            Law::Closed { think_ns } => at_ns + think_ns,
            law @ Law::Pulses { .. } => law.rests_until(at_ns).unwrap_or(at_ns),
            _ => return self.next_arrival(slot, at_ns),
        };
        if due_ns >= self.stop_ns {
            return Next::Wait(self.retire(slot, true));
        }
        let Some(io) = self.feeds[slot.feed as usize].next() else {
            return Next::Wait(self.retire(slot, false));
        };
        if due_ns > at_ns {
            slot.wait_for(io, due_ns)
        } else {
            Next::Issue(io, due_ns)
        }
    }

    fn next_arrival(&mut self, slot: &mut Slot, at_ns: u64) -> Next {
        loop {
            let feed = &mut self.feeds[slot.feed as usize];
            let by_stop = !feed.is_spent();
            let Some(arrival) = feed.next_due(self.stop_ns) else {
                return Next::Wait(self.retire(slot, by_stop));
            };
            if arrival.due_ns > at_ns {
                return slot.wait_for(arrival.io, arrival.due_ns);
            }
            if !self.gives_up(arrival.due_ns, at_ns) {
                return Next::Issue(arrival.io, arrival.due_ns);
            }
            let recorder = self.recorder.as_mut().expect("a live lane records");
            recorder.dropped(arrival.io.op, arrival.due_ns, at_ns);
            self.end_ns = self.end_ns.max(at_ns);
        }
    }

    fn due(&mut self, slot: &mut Slot) -> Next {
        if slot.intended_ns >= self.stop_ns {
            Next::Wait(self.retire(slot, true))
        } else {
            Next::Issue(slot.io, slot.intended_ns)
        }
    }

    /// Returns whether an I/O that was due at `due_ns` is dropped instead of issued at `at_ns`.
    fn gives_up(&self, due_ns: u64, at_ns: u64) -> bool {
        let drain_ns = self.backlog_ns.min(DRAIN_LIMIT_NS);
        at_ns - due_ns > self.backlog_ns || at_ns > self.stop_ns.saturating_add(drain_ns)
    }

    /// Issues an I/O. Returns when it completes; [`NEVER`] if the drive reports that later.
    #[inline]
    fn submit<D: Device>(
        &mut self,
        slot: &mut Slot,
        tag: Option<u32>,
        io: Io,
        intended_ns: u64,
        [at_ns, zero_ns]: [u64; 2],
        drive: &mut D,
    ) -> u64 {
        drive.expect(self.feeds[slot.feed as usize].furthest());
        slot.io = io;
        slot.intended_ns = intended_ns;
        slot.submit_ns = at_ns;
        slot.state = State::InFlight;
        let recorder = self.recorder.as_mut().expect("a live lane records");
        recorder.submitted(1, at_ns);
        if let Some(tag) = tag {
            let done = drive.issue(zero_ns + at_ns, tag, io.op, io.offset, io.length);
            return done.map_or(NEVER, |done| done - zero_ns);
        }
        let mut done = drive.submit(zero_ns + at_ns, io.op, io.offset, io.length);
        if self.stream.dsync && io.op == Op::Write {
            done = done.max(drive.durable_at(done));
        }
        done - zero_ns
    }

    /// Counts the slot's completed I/O.
    #[inline]
    pub(crate) fn complete(&mut self, slot: &Slot, at_ns: u64) {
        let recorder = self.recorder.as_mut().expect("a live lane records");
        let io = slot.io;
        recorder.completed(io.op, io.length, slot.intended_ns, slot.submit_ns, at_ns);
        // The end may be later already: another slot may have retired at the stop.
        self.end_ns = self.end_ns.max(at_ns);
        self.moved_bytes[io.op as usize] += u64::from(io.length);
        if self.stream.log_ios {
            recorder.log_io(&IoRecord {
                op: io.op,
                offset: io.offset,
                length: io.length,
                submit_ns: slot.submit_ns,
                latency_ns: at_ns - slot.submit_ns,
                intended_ns: slot.intended_ns,
            });
        }
    }

    /// Counts a write of the slot's worker. Returns whether a flush follows: after every `flush_every`-th write.
    #[inline]
    fn flush_follows(&mut self, slot: &Slot) -> bool {
        if self.flush_every == u64::MAX || slot.io.op != Op::Write {
            return false;
        }
        let writes = &mut self.unflushed[slot.worker as usize];
        *writes += 1;
        let follows = *writes == self.flush_every;
        if follows {
            *writes = 0;
        }
        follows
    }

    /// Counts the slot's completed flush.
    fn flushed(&mut self, slot: &mut Slot, at_ns: u64) {
        let recorder = self.recorder.as_mut().expect("a live lane records");
        recorder.flushed(slot.submit_ns, at_ns);
        self.end_ns = self.end_ns.max(at_ns);
        slot.state = State::Free;
    }

    /// Bytes of all completed I/Os of an operation.
    pub(crate) fn moved_bytes(&self, op: Op) -> u64 {
        self.moved_bytes[op as usize]
    }

    /// Retires a slot, which issues no more I/Os.
    pub(crate) fn retire(&mut self, slot: &mut Slot, by_stop: bool) -> u64 {
        slot.state = State::Free;
        self.live -= 1;
        if by_stop {
            self.end_ns = self.end_ns.max(self.stop_ns);
        }
        NEVER
    }

    /// Returns whether all slots have retired, so that the stream can be finished.
    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        self.live == 0
    }

    /// Ends the recording, with the CPU time that the simulation has used since the last call.
    pub(crate) fn finish(&mut self, cpu: &mut CpuClock) {
        if let Some(recorder) = self.recorder.take() {
            let user_cpu_ns = cpu.since_last();
            let facts = WorkerFacts {
                user_cpu_ns,
                run_ns: user_cpu_ns,
                ..WorkerFacts::default()
            };
            recorder.finish(self.end_ns, &facts);
        }
    }
}

/// CPU time of the thread that simulates.
#[derive(Debug)]
pub(crate) struct CpuClock {
    last_ns: u64,
}

impl CpuClock {
    pub(crate) fn start() -> Self {
        Self {
            last_ns: Self::now(),
        }
    }

    fn now() -> u64 {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as u64 * SECOND_NS + time.tv_nsec as u64
    }

    fn since_last(&mut self) -> u64 {
        let now = Self::now();
        now - std::mem::replace(&mut self.last_ns, now)
    }
}
