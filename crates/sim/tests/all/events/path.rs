//! The controller's data path: what goes to flash, in order, and in turn with it what the host reads.

use std::collections::VecDeque;

use sim::profile::spec::{DriveSpec, Timing};

use crate::events::map::Asked;

/// A mapping unit on its way: when it has passed as things stood, and by how much reads had delayed the path by then.
#[derive(Debug, Clone, Copy)]
pub struct Passing {
    pub at: u64,
    delayed_ns: u64,
}

/// What the flash is asked for when a mapping unit has passed.
struct Waiting {
    asked: Vec<Asked>,
    passing: Passing,
}

pub struct Path {
    unit_ns: u64,
    free_ns: u64,
    /// By how much reads may yet delay what waits, and by how much they have.
    to_reads_ns: u64,
    delayed_ns: u64,
    waiting: VecDeque<Waiting>,
    timing: Timing,
    units_per_program: u32,
    units_per_read: u32,
}

impl Path {
    pub fn new(spec: &DriveSpec) -> Self {
        Self {
            unit_ns: spec.options.data_unit_ns_x1024 / 1024,
            free_ns: 0,
            to_reads_ns: 0,
            delayed_ns: 0,
            waiting: VecDeque::new(),
            timing: spec.timing,
            units_per_program: spec.geometry.units_per_program(),
            units_per_read: spec.geometry.units_per_read(),
        }
    }

    fn take(&mut self, now: u64, units: u32) -> u64 {
        let takes_ns = u64::from(units) * self.unit_ns;
        if self.free_ns < now {
            self.to_reads_ns = 0;
        }
        self.to_reads_ns += takes_ns;
        self.free_ns = self.free_ns.max(now) + takes_ns;
        self.free_ns
    }

    /// A mapping unit of so many units begins to wait for the path, and behind it what is moved for it does.
    pub fn pass(&mut self, now: u64, units: u32, asked: Vec<Asked>) -> Passing {
        let at = match self.unit_ns {
            0 => now,
            _ => self.take(now, units),
        };
        for asked in &asked {
            if let Asked::MoveRead { units, .. } = asked {
                self.take(now, *units);
            }
        }
        let passing = Passing {
            at,
            delayed_ns: self.delayed_ns,
        };
        self.waiting.push_back(Waiting { asked, passing });
        passing
    }

    /// Something that the host reads has crossed.
    pub fn read(&mut self, now: u64, takes_ns: u64) {
        if self.free_ns > now {
            let left_ns = self.free_ns - now.saturating_sub(takes_ns);
            self.to_reads_ns = self.to_reads_ns.min(left_ns);
            let takes_ns = takes_ns.min(self.to_reads_ns);
            self.to_reads_ns -= takes_ns;
            self.free_ns += takes_ns;
            self.delayed_ns += takes_ns;
        }
    }

    /// When a mapping unit will have passed if reads have gone before it since that was worked out.
    pub fn put_off(&self, passing: Passing) -> Option<Passing> {
        let by_ns = self.delayed_ns - passing.delayed_ns;
        (by_ns > 0).then_some(Passing {
            at: passing.at + by_ns,
            delayed_ns: self.delayed_ns,
        })
    }

    /// The first that waits has passed: what it asks the flash for.
    pub fn passed(&mut self) -> Vec<Asked> {
        let first = self.waiting.pop_front();
        first.map_or_else(Vec::new, |waiting| waiting.asked)
    }

    /// Units that programs hold, those that wait for the path among them, and when the last of these ends as things stand. `flash`: of
    /// those given, and when each die has done what it was given.
    pub fn backlog(
        &self,
        flash: Option<(u64, u64)>,
        free_at: impl FnOnce() -> (Vec<u64>, Vec<u64>),
    ) -> Option<(u64, u64)> {
        if self.waiting.is_empty() {
            return flash;
        }
        let (mut units, mut ends_ns) = flash.unwrap_or_default();
        let (mut dies, mut channels) = free_at();
        for Waiting { asked, passing } in &self.waiting {
            let at = passing.at + self.delayed_ns - passing.delayed_ns;
            for asked in asked {
                let (die, crosses, takes_ns) = self.work(*asked);
                let channel = die as usize % channels.len();
                channels[channel] = channels[channel].max(at) + self.crossing_ns(crosses);
                let loaded = matches!(asked, Asked::Program { .. });
                let ready = if loaded { channels[channel] } else { at };
                let free = &mut dies[die as usize];
                *free = ready.max(*free) + takes_ns;
                if let Asked::Program { host_units, .. } = asked
                    && *host_units > 0
                {
                    units += u64::from(*host_units);
                    ends_ns = ends_ns.max(*free);
                }
            }
        }
        (units > 0).then_some((units, ends_ns))
    }

    /// The die of what is asked for, units that cross its channel, and what it takes of the die.
    fn work(&self, asked: Asked) -> (u32, u32, u64) {
        let timing = &self.timing;
        match asked {
            Asked::Program { die, .. } => (die, self.units_per_program, timing.program_ns),
            Asked::Erase { die } => (die, 0, timing.erase_ns),
            Asked::MoveRead {
                die,
                page_type,
                units,
            }
            | Asked::Rest {
                die,
                page_type,
                units,
                ..
            } => (die, units, timing.read_ns[page_type]),
        }
    }

    /// What so many units take of a channel, page by page.
    fn crossing_ns(&self, units: u32) -> u64 {
        let pages = units.div_ceil(self.units_per_read);
        u64::from(units) * self.timing.unit_transfer_ns + u64::from(pages) * self.timing.command_ns
    }
}
