//! What commands pass before the flash: slots, cores and the link.

use std::collections::VecDeque;

use sim::profile::spec::{DriveSpec, HostSpec};

use crate::agenda::Agenda;
use crate::drive::Event;
use crate::flash::Piece;

/// What crosses the link.
#[derive(Debug, Clone, Copy)]
pub enum Carried {
    /// The frames of a read command, if they take any time.
    Frames { command: usize },
    /// A part of what a read asked for, so many units for this command.
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

#[derive(Default)]
struct Way {
    carrying: Option<Carried>,
    waiting: VecDeque<Carried>,
}

pub struct Host {
    spec: HostSpec,
    turnaround_ns: u64,
    taken: u32,
    /// The host's queue: commands that have no slot.
    queue: VecDeque<usize>,
    cores_busy: u32,
    arrived: VecDeque<(usize, u64)>,
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

    /// Whether a command takes the link before its data does.
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
        self.arrived.push_back((command, core_ns));
        self.process(agenda);
    }

    fn process(&mut self, agenda: &mut Agenda<Event>) {
        while self.cores_busy < self.spec.cores {
            let Some((command, core_ns)) = self.arrived.pop_front() else {
                return;
            };
            self.cores_busy += 1;
            agenda.at(agenda.now + core_ns, Event::Processed { command });
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
        self.ways[way].waiting.push_back(carried);
        self.next(way, agenda);
    }

    fn next(&mut self, way: usize, agenda: &mut Agenda<Event>) {
        if self.ways[way].carrying.is_some() {
            return;
        }
        let Some(carried) = self.ways[way].waiting.pop_front() else {
            return;
        };
        self.ways[way].carrying = Some(carried);
        let data_ns = |units| u64::from(units) * self.spec.unit_link_ns_x1024 / 1024;
        let took_ns = match carried {
            Carried::Frames { .. } => self.turnaround_ns,
            Carried::Up { units, .. } => data_ns(units),
            Carried::Down { units, .. } => data_ns(units) + self.turnaround_ns,
        };
        agenda.at(agenda.now + took_ns, Event::Carried { way });
    }

    pub fn carried(&mut self, way: usize, agenda: &mut Agenda<Event>) -> Option<Carried> {
        let carried = self.ways[way].carrying.take();
        self.next(way, agenda);
        carried
    }
}
