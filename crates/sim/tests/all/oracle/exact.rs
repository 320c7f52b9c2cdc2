//! The event-exact model.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::oracle::{Case, ERASE};

#[derive(Debug, Clone, Copy)]
struct Read {
    worker: u32,
    n: u64,
    asked_ns: u64,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Ask(Read),
    ProgramAsked {
        die: u32,
    },
    /// The operation that the die began at this turn has ended.
    DieDone {
        die: u32,
        turn: u64,
    },
    Crossed {
        channel: u32,
    },
}

#[derive(Debug, Clone, Copy)]
enum Doing {
    Nothing,
    Read(Read),
    /// A program or erase that ends at this time unless a read suspends it.
    Program {
        ends_ns: u64,
        protected: bool,
    },
}

#[derive(Debug, Clone, Copy)]
enum Cargo {
    Read(Read),
    Program { die: u32, pages: u32 },
}

#[derive(Debug)]
struct ExactDie {
    doing: Doing,
    turn: u64,
    reads: VecDeque<Read>,
    programs: VecDeque<u64>,
    /// Remaining time of a suspended program.
    suspended_ns: Option<u64>,
    pushed_ns: u64,
}

struct Exact<'a> {
    case: &'a Case,
    now: u64,
    sequence: u64,
    events: BinaryHeap<Reverse<(u64, u64, usize)>>,
    payload: Vec<Event>,
    dies: Vec<ExactDie>,
    channels: Vec<(Option<Cargo>, VecDeque<Cargo>)>,
    latency_ns: Vec<u64>,
}

impl Exact<'_> {
    fn at(&mut self, time: u64, event: Event) {
        self.payload.push(event);
        self.sequence += 1;
        let index = self.payload.len() - 1;
        self.events.push(Reverse((time, self.sequence, index)));
    }

    fn start(&mut self, die: u32, doing: Doing, duration_ns: u64) {
        let d = &mut self.dies[die as usize];
        d.turn += 1;
        d.doing = doing;
        let turn = d.turn;
        self.at(self.now + duration_ns, Event::DieDone { die, turn });
    }

    fn start_read(&mut self, die: u32, penalty_ns: u64) {
        let read_ns = self.case.timing.read_ns[0];
        let d = &mut self.dies[die as usize];
        let read = d.reads.pop_front().unwrap();
        if d.suspended_ns.is_some() || !d.programs.is_empty() {
            d.pushed_ns += penalty_ns + read_ns;
        }
        self.start(die, Doing::Read(read), penalty_ns + read_ns);
    }

    /// The die is free: the next read starts, unless waiting work has been deferred for too long.
    fn next(&mut self, die: u32) {
        let limit = self.case.timing.deferral_limit_ns;
        let d = &mut self.dies[die as usize];
        d.doing = Doing::Nothing;
        let waiting = d.suspended_ns.is_some() || !d.programs.is_empty();
        let forced = waiting && d.pushed_ns >= limit;
        if !d.reads.is_empty() && !forced {
            self.start_read(die, 0);
        } else if waiting {
            let rest = d
                .suspended_ns
                .take()
                .or_else(|| d.programs.pop_front())
                .unwrap();
            if forced {
                d.pushed_ns = 0;
            }
            let protected = forced || self.case.timing.suspend_ns.is_none();
            let ends_ns = self.now + rest;
            self.start(die, Doing::Program { ends_ns, protected }, rest);
        }
    }

    /// A read has arrived at a die that may be programming.
    fn read_comes(&mut self, die: u32) {
        let d = &mut self.dies[die as usize];
        match d.doing {
            Doing::Nothing => self.next(die),
            Doing::Program {
                ends_ns,
                protected: false,
            } => {
                let penalty_ns = self.case.timing.suspend_ns.unwrap();
                let rest = ends_ns - self.now;
                let limit = self.case.timing.deferral_limit_ns;
                if rest <= penalty_ns {
                    return;
                }
                if d.pushed_ns >= limit {
                    d.pushed_ns = 0;
                    d.doing = Doing::Program {
                        ends_ns,
                        protected: true,
                    };
                    return;
                }
                d.suspended_ns = Some(rest);
                self.start_read(die, penalty_ns);
            }
            Doing::Read(_) | Doing::Program { .. } => {}
        }
    }

    /// An erase, or a program whose data has arrived, is ready.
    fn work_comes(&mut self, die: u32, duration_ns: u64) {
        let d = &mut self.dies[die as usize];
        d.programs.push_back(duration_ns);
        if matches!(d.doing, Doing::Nothing) {
            self.next(die);
        }
    }

    fn send(&mut self, channel: u32, cargo: Cargo) {
        self.channels[channel as usize].1.push_back(cargo);
        self.cross(channel);
    }

    fn cross(&mut self, channel: u32) {
        let (crossing, waiting) = &mut self.channels[channel as usize];
        if crossing.is_some() {
            return;
        }
        // Data of reads goes before data of programs.
        let read = waiting
            .iter()
            .position(|cargo| matches!(cargo, Cargo::Read(_)));
        let Some(cargo) = waiting.remove(read.unwrap_or(0)) else {
            return;
        };
        *crossing = Some(cargo);
        let units = match cargo {
            Cargo::Read(_) => 1,
            Cargo::Program { .. } => u64::from(self.case.geometry().units_per_read()),
        };
        let end = self.now + self.case.transfer_ns(units);
        self.at(end, Event::Crossed { channel });
    }

    fn crossed(&mut self, channel: u32) {
        match self.channels[channel as usize].0.take() {
            Some(Cargo::Read(read)) => {
                self.latency_ns.push(self.now - read.asked_ns);
                if read.n + 1 < self.case.reads_each {
                    let n = read.n + 1;
                    let at = self.now + self.case.pause(read.worker, n);
                    let next = Read {
                        n,
                        asked_ns: at,
                        ..read
                    };
                    self.at(at, Event::Ask(next));
                }
            }
            Some(Cargo::Program { die, pages }) if pages > 1 => {
                let rest = Cargo::Program {
                    die,
                    pages: pages - 1,
                };
                self.channels[channel as usize].1.push_front(rest);
            }
            Some(Cargo::Program { die, .. }) => {
                self.work_comes(die, self.case.timing.program_ns);
            }
            None => {}
        }
        self.cross(channel);
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Ask(read) => {
                let die = self.case.die_of(read.worker, read.n);
                self.dies[die as usize].reads.push_back(read);
                self.read_comes(die);
            }
            Event::ProgramAsked { die: ERASE } => {
                for die in 0..self.case.dies() {
                    self.work_comes(die, self.case.timing.erase_ns);
                }
            }
            Event::ProgramAsked { die } => {
                self.send(die % self.case.channels, Cargo::Program { die, pages: 3 });
            }
            Event::DieDone { die, turn } => {
                let d = &mut self.dies[die as usize];
                if d.turn != turn {
                    return;
                }
                match d.doing {
                    Doing::Read(read) => self.send(die % self.case.channels, Cargo::Read(read)),
                    _ => d.pushed_ns = d.pushed_ns.saturating_sub(self.case.timing.program_ns),
                }
                self.next(die);
            }
            Event::Crossed { channel } => self.crossed(channel),
        }
    }
}

/// Latencies of all reads in this model.
pub fn exact(case: &Case, programs: &[(u64, u32)]) -> Vec<u64> {
    let die = || ExactDie {
        doing: Doing::Nothing,
        turn: 0,
        reads: VecDeque::new(),
        programs: VecDeque::new(),
        suspended_ns: None,
        pushed_ns: 0,
    };
    let mut exact = Exact {
        case,
        now: 0,
        sequence: 0,
        events: BinaryHeap::new(),
        payload: Vec::new(),
        dies: (0..case.dies()).map(|_| die()).collect(),
        channels: (0..case.channels)
            .map(|_| (None, VecDeque::new()))
            .collect(),
        latency_ns: Vec::new(),
    };
    for &(at, die) in programs {
        exact.at(at, Event::ProgramAsked { die });
    }
    for worker in 0..case.workers {
        let asked_ns = case.pause(worker, 0);
        exact.at(
            asked_ns,
            Event::Ask(Read {
                worker,
                n: 0,
                asked_ns,
            }),
        );
    }
    let reads = u64::from(case.workers) * case.reads_each;
    while (exact.latency_ns.len() as u64) < reads {
        let Reverse((time, _, index)) = exact.events.pop().unwrap();
        exact.now = time;
        exact.happens(exact.payload[index]);
    }
    exact.latency_ns
}
