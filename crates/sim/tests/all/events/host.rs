//! The host side: command slots, cores and the link.

use std::collections::VecDeque;

use sim::profile::spec::{DriveSpec, HostSpec};

use crate::events::agenda::Agenda;
use crate::events::drive::Event;
use crate::events::flash::Piece;

/// What crosses the link.
#[derive(Debug, Clone, Copy)]
pub enum Carried {
    /// The frames of a read command, if they take any time.
    Frames { command: usize },
    /// A part of a read's data, in units.
    Up { command: usize, units: u32 },
    /// All of a write's data.
    Down { command: usize, units: u32 },
}

impl From<Piece> for Carried {
    fn from(piece: Piece) -> Self {
        Self::Up {
            command: piece.command,
            units: piece.units,
        }
    }
}

impl Carried {
    fn command(self) -> usize {
        match self {
            Self::Frames { command } | Self::Up { command, .. } | Self::Down { command, .. } => {
                command
            }
        }
    }
}

/// One direction of the link. Transfers use small frames, and the earliest submitted command goes first.
#[derive(Default)]
struct Way {
    /// The current transfer, and when it ends if nothing goes before its remainder.
    carrying: Option<(Carried, u64)>,
    /// Waiting transfers and their durations, in order of arrival.
    waiting: Vec<(Carried, u64)>,
    /// How many transfers have begun or resumed.
    turn: u64,
}

impl Way {
    /// Removes the waiting transfer that goes first.
    fn first(&mut self) -> Option<(Carried, u64)> {
        let order = |at: &usize| (self.waiting[*at].0.command(), *at);
        let first = (0..self.waiting.len()).min_by_key(order)?;
        Some(self.waiting.remove(first))
    }
}

/// Work of a core.
#[derive(Debug, Clone, Copy)]
pub enum CoreWork {
    /// Processes a command.
    Command(usize),
    /// Enters the moves for a write into the map.
    Moves(usize),
    /// Nothing for the host: the firmware stops.
    Stop,
}

pub struct Host {
    spec: HostSpec,
    turnaround_ns: u64,
    taken: u32,
    /// The host's queue: commands without a slot.
    queue: VecDeque<usize>,
    cores_busy: u32,
    arrived: VecDeque<(CoreWork, u64)>,
    ways: [Way; 2],
}

impl Host {
    pub fn new(spec: &DriveSpec) -> Self {
        Self {
            spec: spec.host,
            turnaround_ns: spec.options.turnaround_ns,
            taken: 0,
            queue: VecDeque::new(),
            cores_busy: 0,
            arrived: VecDeque::new(),
            ways: [Way::default(), Way::default()],
        }
    }

    pub fn half_ns(&self) -> u64 {
        self.spec.command_ns / 2
    }

    /// Link time of one unit when nothing else crosses.
    pub fn unit_ns(&self) -> u64 {
        self.spec.unit_link_ns_x1024 / 1024
    }

    /// Returns whether a command takes the link before its data does.
    pub fn takes_frames(&self) -> bool {
        self.turnaround_ns > 0
    }

    pub fn submit(&mut self, command: usize, agenda: &mut Agenda<Event>) {
        self.queue.push_back(command);
        self.accept(agenda);
    }

    fn accept(&mut self, agenda: &mut Agenda<Event>) {
        while self.spec.queue_limit.is_none_or(|limit| self.taken < limit) {
            let Some(command) = self.queue.pop_front() else {
                return;
            };
            self.taken += 1;
            agenda.at(agenda.now + self.half_ns(), Event::Arrived { command });
        }
    }

    pub fn completed(&mut self, agenda: &mut Agenda<Event>) {
        self.taken -= 1;
        self.accept(agenda);
    }

    pub fn arrived(&mut self, command: usize, read: bool, agenda: &mut Agenda<Event>) {
        let core_ns = if read {
            self.spec.read_core_ns
        } else {
            self.spec.write_core_ns
        };
        self.arrived
            .push_back((CoreWork::Command(command), core_ns));
        self.process(agenda);
    }

    /// A core must enter the moves for a write into the map.
    pub fn moved(&mut self, command: usize, core_ns: u64, agenda: &mut Agenda<Event>) {
        self.arrived.push_back((CoreWork::Moves(command), core_ns));
        self.process(agenda);
    }

    /// Stops every core for a time, after its current work.
    pub fn stop(&mut self, duration_ns: u64, agenda: &mut Agenda<Event>) {
        for _ in 0..self.spec.cores {
            self.arrived.push_back((CoreWork::Stop, duration_ns));
        }
        self.process(agenda);
    }

    fn process(&mut self, agenda: &mut Agenda<Event>) {
        while self.cores_busy < self.spec.cores {
            let Some((work, core_ns)) = self.arrived.pop_front() else {
                return;
            };
            self.cores_busy += 1;
            agenda.at(agenda.now + core_ns, Event::Processed { work });
        }
    }

    pub fn processed(&mut self, agenda: &mut Agenda<Event>) {
        self.cores_busy -= 1;
        self.process(agenda);
    }

    pub fn carry(&mut self, carried: Carried, agenda: &mut Agenda<Event>) {
        let way = match carried {
            Carried::Down { .. } if !self.spec.half_duplex => 1,
            _ => 0,
        };
        let data_ns = |units| u64::from(units) * self.spec.unit_link_ns_x1024 / 1024;
        let takes_ns = match carried {
            Carried::Frames { .. } => self.turnaround_ns,
            Carried::Up { units, .. } => data_ns(units),
            Carried::Down { units, .. } => data_ns(units) + self.turnaround_ns,
        };
        self.ways[way].waiting.push((carried, takes_ns));
        self.next(way, agenda);
    }

    /// Lets the first transfer cross. The current one continues later if another goes before it.
    fn next(&mut self, number: usize, agenda: &mut Agenda<Event>) {
        let way = &mut self.ways[number];
        if let Some((carried, ends_ns)) = way.carrying {
            if way
                .waiting
                .iter()
                .all(|(other, _)| other.command() >= carried.command())
            {
                return;
            }
            way.waiting.insert(0, (carried, ends_ns - agenda.now));
        }
        let Some((carried, takes_ns)) = way.first() else {
            return;
        };
        let ends_ns = agenda.now + takes_ns;
        way.carrying = Some((carried, ends_ns));
        way.turn += 1;
        let turn = way.turn;
        agenda.at(ends_ns, Event::Carried { way: number, turn });
    }

    /// Ends the transfer that began at this turn, unless another has gone before its remainder.
    pub fn carried(
        &mut self,
        number: usize,
        turn: u64,
        agenda: &mut Agenda<Event>,
    ) -> Option<Carried> {
        let way = &mut self.ways[number];
        if way.turn != turn {
            return None;
        }
        let (carried, _) = way.carrying.take()?;
        self.next(number, agenda);
        Some(carried)
    }
}
