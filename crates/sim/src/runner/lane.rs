//! A stream at run time: what its slots do next, when it ends, and what is counted.
//!
//! A *slot* is one of `workers * depth` places for an I/O in flight. The laws are those of the engine for real drives: the
//! closed loop, think time, and the open loop with its backlog bound and drain limit.

use metrics::{IoRecord, Recorder, WorkerFacts};
use rustix::time::{ClockId, clock_gettime};
use workload::schedule::DRAIN_LIMIT_NS;
use workload::spec::{Arrival as Law, Stream};
use workload::units::SECOND_NS;
use workload::{Io, Op, StreamPlan};

use crate::drive::Device;
use crate::runner::agenda::NEVER;
use crate::runner::feed::Feed;

/// What a slot is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Asks for its next I/O when its time comes.
    Free,
    /// Its I/O is to be issued when its time comes.
    Due,
    /// Its I/O completes when its time comes.
    InFlight,
    /// The flush after its I/O is done when its time comes.
    Flushing,
}

/// One place for an I/O in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) lane: u32,
    /// The worker within its stream.
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
    /// Issues an I/O that was meant to start at a time.
    Issue(Io, u64),
    /// Nothing before this time.
    Wait(u64),
}

/// A stream at run time.
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
    /// Slots that may still issue.
    live: u32,
    end_ns: u64,
    /// Bytes of the completed I/Os, by operation.
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

    /// The slots of the stream's workers; those of one worker are neighbours.
    pub(crate) fn slots(&self, lane: u32, plan: &StreamPlan) -> Vec<Slot> {
        let workers = 0..self.stream.workers;
        workers
            .flat_map(|worker| {
                let slot = Slot::new(lane, worker, plan.source_of_worker(worker));
                std::iter::repeat_n(slot, self.stream.depth as usize)
            })
            .collect()
    }

    /// Whether what comes may delay what came before: reads go before programs.
    pub(crate) fn reads(&self) -> bool {
        self.stream.reads()
    }

    /// Whether what comes may wait for the buffer.
    pub(crate) fn writes(&self) -> bool {
        self.stream.writes()
    }

    /// Whether the drive has to say at once when an I/O ends: more hangs on it than the slot.
    pub(crate) fn asks_at_once(&self) -> bool {
        self.stream.dsync || self.flush_every != u64::MAX
    }

    /// Completions that a worker gathers before it counts them, if more than one.
    pub(crate) fn batch(&self) -> Option<u32> {
        self.stream.batch.filter(|&batch| batch > 1)
    }

    /// Nothing is issued from `at_ns` on; open loops still issue what was due before.
    pub(crate) fn stop(&mut self, at_ns: u64) {
        self.stop_ns = self.stop_ns.min(at_ns);
    }

    /// Whether a slot waits for something that will not come before the stop.
    pub(crate) fn waits_in_vain(&self, slot: &Slot) -> bool {
        slot.state == State::Due && slot.intended_ns >= self.stop_ns
    }

    /// Time has passed without I/O of this stream.
    pub(crate) fn advance(&mut self, at_ns: u64) {
        if let Some(recorder) = &mut self.recorder {
            recorder.advance(at_ns);
        }
    }

    /// The slot's time has come. Returns when it is to come again; [`NEVER`] also where the drive tells that later, by the tag.
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
            // Nobody thinks before the first I/O.
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

    /// Whether an I/O that was due at `due_ns` is to be given up instead of issued at `at_ns`.
    fn gives_up(&self, due_ns: u64, at_ns: u64) -> bool {
        let drain_ns = self.backlog_ns.min(DRAIN_LIMIT_NS);
        at_ns - due_ns > self.backlog_ns || at_ns > self.stop_ns.saturating_add(drain_ns)
    }

    /// Issues an I/O. Returns when it completes; [`NEVER`] where the drive tells that later.
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

    /// Counts the slot's I/O, which has completed.
    #[inline]
    pub(crate) fn complete(&mut self, slot: &Slot, at_ns: u64) {
        let recorder = self.recorder.as_mut().expect("a live lane records");
        let io = slot.io;
        recorder.completed(io.op, io.length, slot.intended_ns, slot.submit_ns, at_ns);
        // Another slot may have found that nothing more is due before the stop.
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

    /// Whether the slot's I/O was the last of so many writes of its worker, so that a flush follows it.
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

    /// Counts the slot's flush, which is done.
    fn flushed(&mut self, slot: &mut Slot, at_ns: u64) {
        let recorder = self.recorder.as_mut().expect("a live lane records");
        recorder.flushed(slot.submit_ns, at_ns);
        self.end_ns = self.end_ns.max(at_ns);
        slot.state = State::Free;
    }

    /// Bytes of all I/Os of an operation that have completed.
    pub(crate) fn moved_bytes(&self, op: Op) -> u64 {
        self.moved_bytes[op as usize]
    }

    /// The slot issues nothing any more.
    pub(crate) fn retire(&mut self, slot: &mut Slot, by_stop: bool) -> u64 {
        slot.state = State::Free;
        self.live -= 1;
        if by_stop {
            self.end_ns = self.end_ns.max(self.stop_ns);
        }
        NEVER
    }

    /// Whether the last slot has retired: then the stream is to be finished.
    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        self.live == 0
    }

    /// Ends the recording; `cpu` is what the simulation has cost since the last call.
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
