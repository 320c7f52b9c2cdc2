//! The controller's data path: what goes to flash, in order, and in turn with it what the host reads.

use std::collections::VecDeque;

use sim::profile::spec::DriveSpec;

use crate::events::map::Asked;

/// A mapping unit on its way: when it has passed as things stood, and by how much reads had delayed the path by then.
#[derive(Debug, Clone, Copy)]
pub struct Passing {
    pub at: u64,
    delayed_ns: u64,
}

pub struct Path {
    unit_ns: u64,
    free_ns: u64,
    /// By how much reads may yet delay what waits, and by how much they have.
    to_reads_ns: u64,
    delayed_ns: u64,
    /// What the flash is asked for when each mapping unit that waits has passed.
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
        self.waiting.push_back(asked);
        Passing {
            at,
            delayed_ns: self.delayed_ns,
        }
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
        self.waiting.pop_front().unwrap_or_default()
    }
}
