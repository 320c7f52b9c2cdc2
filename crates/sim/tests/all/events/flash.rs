//! Dies and channels that do one operation at a time, each with two queues.

use std::collections::VecDeque;

use sim::profile::spec::{Geometry, Timing};

use crate::events::agenda::Agenda;
use crate::events::drive::Event;
use crate::events::map::{Asked, Place};

/// Data of a host read: units of one page, for one command.
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    pub command: usize,
    pub place: Place,
    pub units: u32,
}

/// A requested program that has not ended.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    pub die: u32,
    pub host_units: u32,
    /// Units that have yet to cross the channel.
    units_left: u32,
}

#[derive(Debug, Clone, Copy)]
enum What {
    Program(usize),
    Erase,
    MoveRead,
    Rest { of: u32, units: u32 },
}

/// Work of a die behind host reads.
#[derive(Debug, Clone, Copy)]
struct Work {
    what: What,
    rest_ns: u64,
    /// The time that it has run, and how often it was suspended.
    done_ns: u64,
    suspended: u32,
}

#[derive(Debug, Clone, Copy)]
enum Doing {
    Nothing,
    Sensing(Piece),
    /// Runs the first of the queue behind since that time. Protected work is not suspended.
    Working {
        since_ns: u64,
        protected: bool,
    },
}

#[derive(Debug)]
struct Die {
    doing: Doing,
    /// Counts operations begun; the end of an earlier one is stale.
    turn: u64,
    ends_ns: u64,
    reads: VecDeque<Piece>,
    behind: VecDeque<Work>,
    /// Delay that reads have added to waiting work, less the time that it has run since.
    pushed_ns: u64,
}

#[derive(Debug, Clone, Copy)]
enum Cargo {
    Read(Piece),
    /// A unit to be programmed or moved; the first of each page comes with a command.
    Program {
        number: usize,
        first: bool,
    },
    Moved {
        first: bool,
    },
    /// A unit that a mapping unit lacks, with `behind` more units after it.
    Rest {
        of: u32,
        first: bool,
        behind: u32,
    },
}

#[derive(Debug, Default)]
struct Channel {
    crossing: Option<(Cargo, u64)>,
    front: VecDeque<Piece>,
    behind: VecDeque<Cargo>,
}

/// What the flash reports to the rest of the drive.
#[derive(Debug, Clone, Copy)]
pub enum Told {
    /// A piece has crossed its channel.
    Brought(Piece),
    /// A program with this many host units has ended.
    Programmed(u32),
    /// All that a mapping unit lacked has been read.
    Whole(u32),
}

/// Returns how long an arriving read waits until running work can be suspended, and the time that the suspension takes. The
/// work has run for `ran_ns` since it last began. `None`: it cannot be suspended.
fn pause(timing: &Timing, work: Work, ran_ns: u64) -> Option<(u64, u64)> {
    let suspend_ns = timing.suspend_ns?;
    let pauses = timing.pauses;
    if pauses.at_most.is_some_and(|most| work.suspended == most) {
        return None;
    }
    let resumed_ns = match work.suspended {
        0 => 0,
        _ => pauses.resume_ns.saturating_sub(ran_ns),
    };
    match work.what {
        What::MoveRead | What::Rest { .. } => None,
        What::Erase => Some((resumed_ns, pauses.erase_suspend_ns.unwrap_or(suspend_ns))),
        What::Program(_) => {
            let done_ns = work.done_ns + ran_ns + resumed_ns;
            let pulse_ns = pauses.pulse_ns.max(1);
            let over_ns = done_ns.div_ceil(pulse_ns) * pulse_ns - done_ns;
            Some((resumed_ns + over_ns, suspend_ns))
        }
    }
}

pub struct Flash {
    geometry: Geometry,
    timing: Timing,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    programs: Vec<Program>,
}

impl Flash {
    pub fn new(geometry: Geometry, timing: Timing) -> Self {
        let die = || Die {
            doing: Doing::Nothing,
            turn: 0,
            ends_ns: 0,
            reads: VecDeque::new(),
            behind: VecDeque::new(),
            pushed_ns: 0,
        };
        Self {
            geometry,
            timing,
            dies: (0..geometry.dies()).map(|_| die()).collect(),
            channels: (0..geometry.channels).map(|_| Channel::default()).collect(),
            programs: Vec::new(),
        }
    }

    pub fn read(&mut self, piece: Piece, agenda: &mut Agenda<Event>) {
        let die = piece.place.die;
        self.dies[die as usize].reads.push_back(piece);
        self.read_comes(die, agenda);
    }

    pub fn ask(&mut self, asked: Asked, agenda: &mut Agenda<Event>) {
        let (die, what, rest_ns) = match asked {
            Asked::Program { die, host_units } => {
                let number = self.programs.len();
                let units_left = self.geometry.units_per_program();
                self.programs.push(Program {
                    die,
                    host_units,
                    units_left,
                });
                for unit in 0..units_left {
                    let first = unit % self.geometry.units_per_read() == 0;
                    self.send(die, Cargo::Program { number, first }, agenda);
                }
                (die, What::Program(number), self.timing.program_ns)
            }
            Asked::Erase { die } => (die, What::Erase, self.timing.erase_ns),
            Asked::MoveRead {
                die,
                page_type,
                units,
            } => {
                for unit in 0..units {
                    self.send(die, Cargo::Moved { first: unit == 0 }, agenda);
                }
                (die, What::MoveRead, self.timing.read_ns[page_type])
            }
            Asked::Rest {
                die,
                page_type,
                units,
                of,
            } => (
                die,
                What::Rest { of, units },
                self.timing.read_ns[page_type],
            ),
        };
        let d = &mut self.dies[die as usize];
        d.behind.push_back(Work {
            what,
            rest_ns,
            done_ns: 0,
            suspended: 0,
        });
        self.wake(die, agenda);
    }

    fn channel_of(&self, die: u32) -> usize {
        (die % self.geometry.channels) as usize
    }

    fn cargo_ns(&self, cargo: Cargo) -> u64 {
        let (units, first) = match cargo {
            Cargo::Read(piece) => (piece.units, true),
            Cargo::Program { first, .. } | Cargo::Moved { first } | Cargo::Rest { first, .. } => {
                (1, first)
            }
        };
        u64::from(first) * self.timing.command_ns + u64::from(units) * self.timing.unit_transfer_ns
    }

    fn send(&mut self, die: u32, cargo: Cargo, agenda: &mut Agenda<Event>) {
        let number = self.channel_of(die);
        let channel = &mut self.channels[number];
        match cargo {
            Cargo::Read(piece) => channel.front.push_back(piece),
            Cargo::Program { .. } | Cargo::Moved { .. } | Cargo::Rest { .. } => {
                channel.behind.push_back(cargo);
            }
        }
        self.cross(number, agenda);
    }

    /// Starts the next transfer if the channel is free.
    fn cross(&mut self, number: usize, agenda: &mut Agenda<Event>) {
        let channel = &mut self.channels[number];
        if channel.crossing.is_some() {
            return;
        }
        let oldest = (0..channel.front.len()).min_by_key(|&at| (channel.front[at].command, at));
        let front = oldest
            .and_then(|at| channel.front.remove(at))
            .map(Cargo::Read);
        let Some(cargo) = front.or_else(|| channel.behind.pop_front()) else {
            return;
        };
        let ends_ns = agenda.now + self.cargo_ns(cargo);
        self.channels[number].crossing = Some((cargo, ends_ns));
        agenda.at(ends_ns, Event::Crossed { channel: number });
    }

    pub fn crossed(&mut self, number: usize, agenda: &mut Agenda<Event>) -> Option<Told> {
        let (cargo, _) = self.channels[number].crossing.take()?;
        self.cross(number, agenda);
        match cargo {
            Cargo::Read(piece) => return Some(Told::Brought(piece)),
            Cargo::Program { number, .. } => {
                let program = &mut self.programs[number];
                program.units_left -= 1;
                let (left, die) = (program.units_left, program.die);
                if left == 0 {
                    self.wake(die, agenda);
                }
            }
            Cargo::Rest { of, behind: 0, .. } => return Some(Told::Whole(of)),
            Cargo::Moved { .. } | Cargo::Rest { .. } => {}
        }
        None
    }

    fn begin(&mut self, die: u32, doing: Doing, duration_ns: u64, agenda: &mut Agenda<Event>) {
        let d = &mut self.dies[die as usize];
        d.doing = doing;
        d.turn += 1;
        d.ends_ns = agenda.now + duration_ns;
        let turn = d.turn;
        agenda.at(d.ends_ns, Event::DieDone { die, turn });
    }

    fn wake(&mut self, die: u32, agenda: &mut Agenda<Event>) {
        if matches!(self.dies[die as usize].doing, Doing::Nothing) {
            self.next(die, agenda);
        }
    }

    /// Returns whether the first of the queue behind can run: the data of a program must be in the die's registers.
    fn can_work(&self, die: u32) -> bool {
        let first = self.dies[die as usize].behind.front();
        first.is_some_and(|work| match work.what {
            What::Program(number) => self.programs[number].units_left == 0,
            What::Erase | What::MoveRead | What::Rest { .. } => true,
        })
    }

    /// The die is free: host reads go first, unless they have deferred waiting work for long enough.
    fn next(&mut self, die: u32, agenda: &mut Agenda<Event>) {
        let can_work = self.can_work(die);
        let limit = self.timing.deferral_limit_ns;
        let d = &mut self.dies[die as usize];
        d.doing = Doing::Nothing;
        let forced = can_work && d.pushed_ns >= limit;
        if !d.reads.is_empty() && !forced {
            self.sense(die, (0, 0), can_work, agenda);
        } else if can_work {
            if forced && !d.reads.is_empty() {
                d.pushed_ns = 0;
            }
            let rest_ns = d.behind[0].rest_ns;
            let working = Doing::Working {
                since_ns: agenda.now,
                protected: forced,
            };
            self.begin(die, working, rest_ns, agenda);
        }
    }

    /// Senses a read after running work has gone on for `wait_ns` and has been suspended in `penalty_ns`.
    fn sense(
        &mut self,
        die: u32,
        (wait_ns, penalty_ns): (u64, u64),
        pushes: bool,
        agenda: &mut Agenda<Event>,
    ) {
        let d = &mut self.dies[die as usize];
        let piece = d.reads.pop_front().expect("a read waits");
        let duration_ns = penalty_ns + self.timing.read_ns[piece.place.page_type];
        if pushes {
            d.pushed_ns += duration_ns;
        }
        self.begin(die, Doing::Sensing(piece), wait_ns + duration_ns, agenda);
    }

    /// A read has arrived at a die that may be working.
    fn read_comes(&mut self, die: u32, agenda: &mut Agenda<Event>) {
        let d = &mut self.dies[die as usize];
        let Doing::Working {
            since_ns,
            protected,
        } = d.doing
        else {
            return self.wake(die, agenda);
        };
        let now = agenda.now;
        let rest_ns = d.ends_ns - now;
        let ran_ns = now - since_ns;
        let Some((wait_ns, penalty_ns)) = pause(&self.timing, d.behind[0], ran_ns) else {
            return;
        };
        if protected || rest_ns <= wait_ns + penalty_ns {
            return;
        }
        d.pushed_ns = d.pushed_ns.saturating_sub(now - since_ns);
        if d.pushed_ns >= self.timing.deferral_limit_ns {
            d.pushed_ns = 0;
            d.doing = Doing::Working {
                since_ns: now,
                protected: true,
            };
            return;
        }
        let work = &mut d.behind[0];
        work.rest_ns = rest_ns - wait_ns;
        work.done_ns += ran_ns + wait_ns;
        work.suspended += 1;
        self.sense(die, (wait_ns, penalty_ns), true, agenda);
    }

    pub fn die_done(&mut self, die: u32, turn: u64, agenda: &mut Agenda<Event>) -> Option<Told> {
        let d = &mut self.dies[die as usize];
        if d.turn != turn {
            return None;
        }
        let mut told = None;
        match d.doing {
            Doing::Nothing => unreachable!("an idle die does not end anything"),
            Doing::Sensing(piece) => self.send(die, Cargo::Read(piece), agenda),
            Doing::Working { since_ns, .. } => {
                d.pushed_ns = d.pushed_ns.saturating_sub(agenda.now - since_ns);
                let work = d.behind.pop_front().expect("what ends had begun");
                if d.behind.is_empty() {
                    // No waiting work is left that reads could defer.
                    d.pushed_ns = 0;
                }
                if let What::Rest { of, units } = work.what {
                    for behind in (0..units).rev() {
                        let first = behind + 1 == units;
                        self.send(die, Cargo::Rest { of, first, behind }, agenda);
                    }
                } else if let What::Program(number) = work.what {
                    told = Some(Told::Programmed(self.programs[number].host_units));
                }
            }
        }
        self.next(die, agenda);
        told
    }
}
