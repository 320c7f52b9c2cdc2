//! The load of both models: the n-th I/O is the same, whenever it is submitted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sim::drive::Device;
use workload::Op;
use workload::random::mix;

#[derive(Debug, Clone, Copy)]
pub struct Io {
    pub n: u64,
    pub read: bool,
    pub first: u32,
    pub units: u32,
}

#[derive(Debug, Clone, Copy)]
pub struct Seen {
    pub n: u64,
    pub read: bool,
    pub latency_ns: u64,
}

#[derive(Debug, Clone, Copy)]
pub enum Arrival {
    /// A fixed number of I/Os in flight.
    Closed { depth: u64 },
    /// At random, one in this time on average.
    Open { every_ns: f64 },
}

pub struct Load {
    pub ios: u64,
    pub read_pct: u64,
    pub block_units: u32,
    pub user_units: u32,
    pub arrival: Arrival,
    /// Sequential write streams that take turns, each in its own part of the drive; 0: writes are random.
    pub streams: u32,
    seed: u64,
    due_ns: Vec<u64>,
    /// Number of writes before each I/O.
    writes_before: Vec<u32>,
}

/// Returns whether the n-th I/O is a read.
fn reads(seed: u64, read_pct: u64, n: u64) -> bool {
    mix(seed ^ 0x0F, n) % 100 < read_pct
}

impl Load {
    pub fn new(
        ios: u64,
        read_pct: u64,
        block_units: u32,
        user_units: u32,
        arrival: Arrival,
        seed: u64,
    ) -> Self {
        let mut due_ns = vec![0; ios as usize];
        if let Arrival::Open { every_ns } = arrival {
            let mut at = 0.0;
            for (due, n) in due_ns.iter_mut().zip(0..) {
                let random = (mix(seed ^ 0xA221, n) >> 11) as f64 / (1_u64 << 53) as f64;
                at -= every_ns * (1.0 - random).ln();
                *due = at as u64;
            }
        }
        let mut writes = 0;
        let writes_before = (0..ios).map(|n| {
            let before = writes;
            writes += u32::from(!reads(seed, read_pct, n));
            before
        });
        Self {
            ios,
            writes_before: writes_before.collect(),
            read_pct,
            block_units,
            user_units,
            arrival,
            streams: 0,
            seed,
            due_ns,
        }
    }

    pub fn io(&self, n: u64) -> Io {
        let blocks = u64::from(self.user_units / self.block_units);
        let read = reads(self.seed, self.read_pct, n);
        let block = match u64::from(self.streams) {
            streams if streams > 0 && !read => {
                let (each, n) = (blocks / streams, u64::from(self.writes_before[n as usize]));
                n % streams * each + n / streams % each
            }
            _ => mix(self.seed ^ 0xF1, n) % blocks,
        };
        Io {
            n,
            read,
            first: block as u32 * self.block_units,
            units: self.block_units,
        }
    }

    /// Returns when an open loop submits its n-th I/O, counted from its start.
    pub fn due_ns(&self, n: u64) -> u64 {
        self.due_ns[n as usize]
    }

    pub fn begun_at_once(&self) -> u64 {
        match self.arrival {
            Arrival::Closed { depth } => depth.min(self.ios),
            Arrival::Open { .. } => 1,
        }
    }

    /// Returns the I/O that an open loop submits after the n-th.
    pub fn after_submission(&self, n: u64) -> Option<u64> {
        matches!(self.arrival, Arrival::Open { .. } if n + 1 < self.ios).then_some(n + 1)
    }

    /// Returns the I/O that a closed loop submits after a completion.
    pub fn after_completion(&self, submitted: u64) -> Option<u64> {
        matches!(self.arrival, Arrival::Closed { .. } if submitted < self.ios).then_some(submitted)
    }

    /// Runs the load on the simulator.
    pub fn run(&self, drive: &mut impl Device) -> Vec<Seen> {
        let begin = drive.now();
        let mut due: BinaryHeap<Reverse<(u64, u64)>> = match self.arrival {
            Arrival::Closed { .. } => (0..self.begun_at_once())
                .map(|n| Reverse((begin, n)))
                .collect(),
            Arrival::Open { .. } => (0..self.ios)
                .map(|n| Reverse((begin + self.due_ns(n), n)))
                .collect(),
        };
        let mut seen: Vec<Seen> = Vec::new();
        let mut submitted = Vec::new();
        while let Some(now) = due
            .peek()
            .map(|next| next.0.0)
            .or(drive.waits().then_some(u64::MAX - 1))
        {
            if drive.waits() {
                drive.advance(now);
                let mut any = false;
                while let Some((n, done)) = drive.ended() {
                    any = true;
                    let n = n as usize;
                    seen[n].latency_ns = done - submitted[n];
                    self.again(&mut due, done, seen.len() as u64);
                }
                if any {
                    continue;
                }
            }
            due.pop();
            let n = seen.len() as u64;
            let io = self.io(n);
            let op = if io.read { Op::Read } else { Op::Write };
            let (offset, length) = (u64::from(io.first) * 4096, io.units * 4096);
            let done = drive.issue(now, n as u32, op, offset, length);
            submitted.push(now);
            seen.push(Seen {
                n,
                read: io.read,
                latency_ns: done.map_or(0, |done| done - now),
            });
            if let Some(done) = done {
                self.again(&mut due, done, n + 1);
            }
        }
        seen
    }

    /// After a completion at `done`, past or future, a closed loop submits another I/O unless all are submitted or due.
    fn again(&self, due: &mut BinaryHeap<Reverse<(u64, u64)>>, done: u64, submitted: u64) {
        if self
            .after_completion(submitted + due.len() as u64)
            .is_some()
        {
            due.push(Reverse((done, submitted)));
        }
    }
}
