//! The controller's data path: data to the flash in order, sharing the path with host reads.

use std::collections::VecDeque;

use sim::profile::spec::DriveSpec;

use crate::events::map::Asked;

/// A mapping unit on the path: when it passes if no more reads come, and the delay by reads that this time includes.
#[derive(Debug, Clone, Copy)]
pub struct Passing {
    pub at: u64,
    delayed_ns: u64,
}

pub struct Path {
    unit_ns: u64,
    free_ns: u64,
    /// Delay that reads may still add to waiting data, and the delay added so far.
    to_reads_ns: u64,
    delayed_ns: u64,
    /// Flash requests of each waiting mapping unit, made when it has passed.
    waiting: VecDeque<Vec<Asked>>,
}

impl Path {
    pub fn new(spec: &DriveSpec) -> Self {
        Self {
            unit_ns: spec.options.data_unit_ns_x1024 / 1024,
            free_ns: 0,
            to_reads_ns: 0,
            delayed_ns: 0,
            waiting: VecDeque::new(),
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

    /// Queues a mapping unit for the path, and the units that move for it behind it.
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
        self.waiting.push_back(asked);
        Passing {
            at,
            delayed_ns: self.delayed_ns,
        }
    }

    /// A piece of a host read has crossed.
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

    /// Returns the new time at which a mapping unit passes, if reads have delayed it since the last estimate.
    pub fn put_off(&self, passing: Passing) -> Option<Passing> {
        let by_ns = self.delayed_ns - passing.delayed_ns;
        (by_ns > 0).then_some(Passing {
            at: passing.at + by_ns,
            delayed_ns: self.delayed_ns,
        })
    }

    /// Removes the first waiting mapping unit, which has passed. Returns its flash requests.
    pub fn passed(&mut self) -> Vec<Asked> {
        self.waiting.pop_front().unwrap_or_default()
    }
}
