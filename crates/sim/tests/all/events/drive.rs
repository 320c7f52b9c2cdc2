//! A whole drive, event by event.

use sim::profile::spec::DriveSpec;

use crate::events::agenda::Agenda;
use crate::events::buffer::{Buffer, Entering};
use crate::events::flash::{Flash, Piece, Told};
use crate::events::host::{Carried, CoreWork, Host};
use crate::events::load::{Io, Load, Seen};
use crate::events::map::{Asked, Map};
use crate::events::parts::Parts;
use crate::events::path::{Passing, Path};
use crate::events::stops::Stops;

#[derive(Debug, Clone, Copy)]
pub enum Event {
    Submitted {
        n: u64,
    },
    Arrived {
        command: usize,
    },
    Processed {
        work: CoreWork,
    },
    /// What began to cross the link at this turn has crossed.
    Carried {
        way: usize,
        turn: u64,
    },
    Crossed {
        channel: usize,
    },
    /// The operation that the die began at this turn has ended.
    DieDone {
        die: u32,
        turn: u64,
    },
    /// A mapping unit has passed the controller's data path, unless reads have gone before it since.
    Passed(Passing),
    /// The first waiting unit may enter the buffer, as far as its pace goes.
    MayEnter,
    Completed {
        command: usize,
    },
}

struct Command {
    io: Io,
    submitted_ns: u64,
    /// Pieces that a read still waits for, or units that a write has yet to bring into the buffer.
    parts_left: u32,
}

pub struct Exact<'a> {
    load: &'a Load,
    agenda: Agenda<Event>,
    host: Host,
    buffer: Buffer,
    parts: Parts,
    flash: Flash,
    map: Map,
    path: Path,
    move_core_ns: u64,
    stops: Option<Stops>,
    commands: Vec<Command>,
    /// I/Os of a closed loop that were submitted, or are about to be.
    begun: u64,
    seen: Vec<Seen>,
}

impl<'a> Exact<'a> {
    /// A drive at rest at `now`, with the map and the stops of earlier writes.
    pub fn new(
        spec: &DriveSpec,
        (map, stops): (Map, Option<Stops>),
        now: u64,
        load: &'a Load,
    ) -> Self {
        let mut agenda = Agenda::new();
        agenda.now = now;
        Self {
            load,
            agenda,
            host: Host::new(spec),
            buffer: Buffer::new(spec, map.open_units()),
            parts: Parts::new(spec),
            flash: Flash::new(spec.geometry, spec.timing),
            path: Path::new(spec),
            move_core_ns: spec.options.move_core_ns,
            stops,
            map,
            commands: Vec::new(),
            begun: load.begun_at_once(),
            seen: Vec::new(),
        }
    }

    /// Runs the load. Returns what it saw, in order of submission, and the resulting map.
    pub fn run(mut self) -> (Vec<Seen>, Map) {
        let begin = self.agenda.now;
        for n in 0..self.load.begun_at_once() {
            self.agenda
                .at(begin + self.load.due_ns(n), Event::Submitted { n });
        }
        while (self.seen.len() as u64) < self.load.ios {
            let event = self.agenda.take().expect("a command is in flight");
            self.happens(event);
        }
        self.seen.sort_by_key(|seen| seen.n);
        (self.seen, self.map)
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Submitted { n } => self.submitted(n),
            Event::Arrived { command } => {
                let read = self.commands[command].io.read;
                self.host.arrived(command, read, &mut self.agenda);
            }
            Event::Processed { work } => {
                self.host.processed(&mut self.agenda);
                match work {
                    CoreWork::Command(command) => self.processed(command),
                    CoreWork::Moves(command) => self.part_done(command),
                    CoreWork::Stop => {}
                }
            }
            Event::Carried { way, turn } => match self.host.carried(way, turn, &mut self.agenda) {
                Some(Carried::Frames { command }) => self.sense(command),
                Some(Carried::Up { command, units }) => {
                    let takes_ns = u64::from(units) * self.host.unit_ns();
                    self.path.read(self.agenda.now, takes_ns);
                    self.part_done(command);
                }
                Some(Carried::Down { command, .. }) => self.there(command),
                None => {}
            },
            Event::Crossed { channel } => {
                let told = self.flash.crossed(channel, &mut self.agenda);
                self.told(told);
            }
            Event::DieDone { die, turn } => {
                let told = self.flash.die_done(die, turn, &mut self.agenda);
                self.told(told);
            }
            Event::Passed(passing) => self.passed(passing),
            Event::MayEnter => self.admit(),
            Event::Completed { command } => self.completed(command),
        }
    }

    fn submitted(&mut self, n: u64) {
        let io = self.load.io(n);
        self.commands.push(Command {
            io,
            submitted_ns: self.agenda.now,
            parts_left: 0,
        });
        self.host.submit(self.commands.len() - 1, &mut self.agenda);
        if let Some(next) = self.load.after_submission(n) {
            let at = self.agenda.now + self.load.due_ns(next) - self.load.due_ns(n);
            self.agenda.at(at, Event::Submitted { n: next });
        }
    }

    fn processed(&mut self, command: usize) {
        let Io { read, units, .. } = self.commands[command].io;
        if read && !self.host.takes_frames() {
            return self.sense(command);
        }
        let carried = if read {
            Carried::Frames { command }
        } else {
            Carried::Down { command, units }
        };
        self.host.carry(carried, &mut self.agenda);
    }

    /// Requests all pages of a read.
    fn sense(&mut self, command: usize) {
        let Io { first, units, .. } = self.commands[command].io;
        let mut unit = first;
        let mut pieces: Vec<Piece> = Vec::new();
        while unit < first + units {
            let place = self.map.find(unit).expect("every unit was written");
            match pieces.last_mut() {
                Some(last) if last.place.page == place.page => last.units += 1,
                _ => pieces.push(Piece {
                    command,
                    place,
                    units: 1,
                }),
            }
            unit += 1;
        }
        self.commands[command].parts_left = pieces.len() as u32;
        for piece in pieces {
            self.flash.read(piece, &mut self.agenda);
        }
    }

    fn told(&mut self, told: Option<Told>) {
        match told {
            Some(Told::Brought(piece)) => self.host.carry(piece.into(), &mut self.agenda),
            Some(Told::Programmed(units)) => {
                self.buffer.used -= u64::from(units);
                self.admit();
            }
            Some(Told::Whole(of)) => {
                for _ in 0..self.parts.whole(of) {
                    self.place(of, None);
                }
                self.admit();
            }
            None => {}
        }
    }

    /// The data of a write has crossed the link.
    fn there(&mut self, command: usize) {
        let Io { first, units, .. } = self.commands[command].io;
        self.commands[command].parts_left = units;
        let entering = |unit| Entering::Unit { command, unit };
        self.buffer
            .waiting
            .extend((first..first + units).map(entering));
        self.admit();
    }

    fn admit(&mut self) {
        while let Some(&entering) = self.buffer.waiting.front() {
            let now = self.agenda.now;
            if let Entering::Unit { command, unit } = entering {
                self.make_way(command, unit);
            }
            let Some(&entering) = self.buffer.waiting.front() else {
                return;
            };
            if !self.buffer.is_paced() {
                let at = self.buffer.pace(now);
                self.agenda.at(at, Event::MayEnter);
            }
            let takes_room = match entering {
                Entering::Unit { command, unit } => {
                    self.covers(command, unit) || self.parts.takes_room(unit)
                }
                Entering::Room { .. } => true,
            };
            if !self.buffer.may_enter(now, takes_room) {
                return;
            }
            match self.buffer.enter(now, takes_room) {
                Some(Entering::Unit { command, unit }) => {
                    self.entered(command, unit);
                    self.part_done(command);
                }
                Some(Entering::Room {
                    of,
                    behind: 0,
                    lacks,
                }) => self.complete(of, lacks),
                Some(Entering::Room { .. }) | None => {}
            }
        }
    }

    /// Returns whether a command writes the whole mapping unit that contains `unit`.
    fn covers(&self, command: usize, unit: u32) -> bool {
        let Io { first, units, .. } = self.commands[command].io;
        let from = unit / self.map.together * self.map.together;
        first <= from && from + self.map.together <= first + units
    }

    /// Makes room before a unit enters: drops what the command overwrites as a whole. A part of a mapping unit that is not held
    /// makes another one give way.
    fn make_way(&mut self, command: usize, unit: u32) {
        let of = unit / self.map.together;
        if self.covers(command, unit) {
            if unit.is_multiple_of(self.map.together) {
                self.buffer.used -= u64::from(self.parts.forget(of));
            }
            return;
        }
        if let Some((oldest, lacks)) = self.parts.makes_way_for(of) {
            for behind in 0..lacks {
                let room = Entering::Room {
                    of: oldest,
                    behind,
                    lacks,
                };
                self.buffer.waiting.push_front(room);
            }
        }
    }

    /// A unit has entered the buffer.
    fn entered(&mut self, command: usize, unit: u32) {
        let of = unit / self.map.together;
        let whole = if self.covers(command, unit) {
            (unit + 1).is_multiple_of(self.map.together)
        } else {
            self.parts.hold(unit)
        };
        if whole {
            // Drops an earlier part of it that is being completed.
            self.buffer.used -= u64::from(self.parts.forget(of));
            self.place(of, Some(command));
        }
    }

    /// Reads what a mapping unit lacks, as there is room for it.
    fn complete(&mut self, of: u32, lacks: u32) {
        if !self.parts.reads(of) {
            return;
        }
        let first = of * self.map.together;
        let place = self.map.find(first).expect("every unit was written");
        let rest = Asked::Rest {
            die: place.die,
            page_type: place.page_type,
            units: lacks,
            of,
        };
        self.flash.ask(rest, &mut self.agenda);
    }

    /// Places a whole mapping unit. It takes the data path, and its moves follow on that path; its requests reach the flash
    /// when it has passed. A write that waits for it completes only after a core has entered those moves.
    fn place(&mut self, of: u32, command: Option<usize>) {
        let mut asked: Vec<Asked> = Vec::new();
        let moved = self.map.moved_units;
        self.map.write(of, &mut asked);
        let moved = self.map.moved_units - moved;
        let core_ns = moved * self.move_core_ns;
        if let Some(command) = command.filter(|_| core_ns > 0) {
            self.commands[command].parts_left += 1;
            self.host.moved(command, core_ns, &mut self.agenda);
        }
        if let Some(stops) = &mut self.stops
            && let Some(stop_ns) = stops.moved(moved)
        {
            self.host.stop(stop_ns, &mut self.agenda);
        }
        let passing = self.path.pass(self.agenda.now, self.map.together, asked);
        if passing.at == self.agenda.now {
            self.passed(passing);
        } else {
            self.agenda.at(passing.at, Event::Passed(passing));
        }
    }

    fn passed(&mut self, passing: Passing) {
        if let Some(later) = self.path.put_off(passing) {
            self.agenda.at(later.at, Event::Passed(later));
            return;
        }
        for asked in self.path.passed() {
            self.flash.ask(asked, &mut self.agenda);
        }
    }

    fn part_done(&mut self, command: usize) {
        let left = &mut self.commands[command].parts_left;
        *left -= 1;
        if *left == 0 {
            let at = self.agenda.now + self.host.half_ns();
            self.agenda.at(at, Event::Completed { command });
        }
    }

    fn completed(&mut self, command: usize) {
        let Command {
            io, submitted_ns, ..
        } = self.commands[command];
        self.seen.push(Seen {
            n: io.n,
            read: io.read,
            latency_ns: self.agenda.now - submitted_ns,
        });
        self.host.completed(&mut self.agenda);
        if let Some(next) = self.load.after_completion(self.begun) {
            self.begun += 1;
            self.agenda
                .at(self.agenda.now, Event::Submitted { n: next });
        }
    }
}
