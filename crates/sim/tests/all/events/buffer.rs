//! The write buffer: units enter in order when there is room, and the more slowly the fuller it is.

use std::collections::VecDeque;

use sim::profile::spec::DriveSpec;

#[derive(Debug, Clone, Copy)]
pub enum Entering {
    /// A logical unit of a command.
    Unit { command: usize, unit: u32 },
    /// Room for one of the `lacks` units that a mapping unit lacks, with `behind` more after it.
    Room { of: u32, behind: u32, lacks: u32 },
}

pub struct Buffer {
    capacity: u64,
    /// Units held from which on the host is slowed down, in twelve steps up to a full buffer.
    slow: u64,
    /// Time of one unit while all dies program.
    unit_ns: u64,
    pub used: u64,
    /// What waits to enter, in order.
    pub waiting: VecDeque<Entering>,
    last_entry_ns: u64,
    /// The time before which the first of them may not enter, if it has been computed.
    not_before_ns: Option<u64>,
}

impl Buffer {
    pub fn new(spec: &DriveSpec, open_units: u32) -> Self {
        let capacity = spec.buffer_bytes / 4096;
        let geometry = &spec.geometry;
        let stripe = spec.options.stripe_dies.max(1);
        let all_dies = u64::from(geometry.units_per_program() * (geometry.dies() + stripe - 1));
        Self {
            capacity,
            slow: (capacity / 2).max(all_dies).min(capacity),
            unit_ns: spec.timing.program_ns
                / u64::from(geometry.units_per_program() * geometry.dies()),
            used: u64::from(open_units),
            waiting: VecDeque::new(),
            last_entry_ns: 0,
            not_before_ns: None,
        }
    }

    /// Returns whether that time has been computed.
    pub fn is_paced(&self) -> bool {
        self.not_before_ns.is_some()
    }

    /// Returns when the pace lets the first one enter. The first step spaces units by half of `unit_ns`, and each further step
    /// doubles that.
    pub fn pace(&mut self, now: u64) -> u64 {
        let mut at = now;
        if self.used > self.slow {
            let steps = 12 * (self.used - self.slow - 1) / (self.capacity - self.slow).max(1);
            let distance_ns = self.unit_ns * (1 << steps.min(11)) / 2;
            at = at.max(self.last_entry_ns + distance_ns);
        }
        self.not_before_ns = Some(at);
        at
    }

    pub fn may_enter(&self, now: u64, takes_room: bool) -> bool {
        let room = self.used < self.capacity || !takes_room;
        room && self.not_before_ns.is_some_and(|at| at <= now)
    }

    /// Lets the first one enter.
    pub fn enter(&mut self, now: u64, takes_room: bool) -> Option<Entering> {
        let entering = self.waiting.pop_front()?;
        self.used += u64::from(takes_room);
        self.last_entry_ns = now;
        self.not_before_ns = None;
        Some(entering)
    }
}
