//! The write buffer: units enter in order, when there is room, and no faster than the flash lets go of them when it is full.

use std::collections::VecDeque;

use sim::profile::spec::DriveSpec;

/// What enters the buffer.
#[derive(Debug, Clone, Copy)]
pub enum Entering {
    /// A unit of a command, by its logical number.
    Unit { command: usize, unit: u32 },
    /// Room for one of the units that a mapping unit lacks, of which so many come behind it.
    Room { of: u32, behind: u32, lacks: u32 },
}

pub struct Buffer {
    capacity: u64,
    /// From here on the host is slowed down.
    slow: u64,
    pub used: u64,
    /// What is there, in order.
    pub waiting: VecDeque<Entering>,
    last_entry_ns: u64,
    /// When the first of them may enter, if that was worked out.
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
            used: u64::from(open_units),
            waiting: VecDeque::new(),
            last_entry_ns: 0,
            not_before_ns: None,
        }
    }

    /// Whether it was worked out when the first that waits may enter.
    pub fn is_paced(&self) -> bool {
        self.not_before_ns.is_some()
    }

    /// When the first that waits may enter, as far as its pace goes. `backlog`: units in programs, and when the last of them ends.
    pub fn pace(&mut self, now: u64, backlog: impl FnOnce() -> Option<(u64, u64)>) -> u64 {
        let mut at = now;
        if self.used > self.slow
            && let Some((units, ends_ns)) = backlog()
        {
            let over = self.used - self.slow;
            let wait = 2 * u128::from(ends_ns - now) * u128::from(over)
                / u128::from(units)
                / u128::from(self.capacity - self.slow);
            at = at.max(self.last_entry_ns + wait as u64);
        }
        self.not_before_ns = Some(at);
        at
    }

    pub fn may_enter(&self, now: u64, takes_room: bool) -> bool {
        let room = self.used < self.capacity || !takes_room;
        room && self.not_before_ns.is_some_and(|at| at <= now)
    }

    /// The first that waits enters.
    pub fn enter(&mut self, now: u64, takes_room: bool) -> Option<Entering> {
        let entering = self.waiting.pop_front()?;
        self.used += u64::from(takes_room);
        self.last_entry_ns = now;
        self.not_before_ns = None;
        Some(entering)
    }
}
