//! The host interface: the device's command queue, the link, and the controller's cores.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use crate::flash::Timeline;
use crate::profile::spec::HostSpec;

/// State of the host interface.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Host {
    spec: HostSpec,
    in_device: BinaryHeap<Reverse<u64>>,
    /// When each core is free: a ring in ascending order, starting at `next_core`.
    cores: Vec<u64>,
    next_core: usize,
    /// Link time of each command besides its data, in ns.
    turnaround_ns: u64,
    down: Timeline,
    up: Timeline,
}

impl Host {
    /// Creates an idle host interface at time zero.
    pub fn new(spec: HostSpec, turnaround_ns: u64) -> Self {
        Self {
            spec,
            turnaround_ns,
            in_device: BinaryHeap::new(),
            cores: vec![0; spec.cores as usize],
            next_core: 0,
            down: Timeline::default(),
            up: Timeline::default(),
        }
    }

    /// Returns when the device has a slot for the next command, as far as is known: 0 if one is free, [`u64::MAX`] if none is
    /// and no command's end is known. `unknown` is the number of commands in the device whose ends are unknown.
    pub(crate) fn slot_at(&self, unknown: usize) -> u64 {
        match self.spec.queue_limit {
            Some(limit) if self.in_device.len() + unknown >= limit as usize => {
                let first = self.in_device.peek();
                first.map_or(u64::MAX, |&Reverse(end)| end)
            }
            _ => 0,
        }
    }

    /// Takes a slot for a command that the host submits at `now`. Returns when the device accepts the command. `unknown` is
    /// the number of commands in the device whose ends are unknown.
    #[inline]
    pub fn accept(&mut self, now: u64, unknown: usize) -> u64 {
        let Some(limit) = self.spec.queue_limit else {
            return now;
        };
        if self.in_device.len() + unknown < limit as usize {
            return now;
        }
        self.in_device
            .pop()
            .map_or(now, |Reverse(end)| now.max(end))
    }

    /// Records that the accepted command ends at `end`, which frees its slot.
    #[inline]
    pub fn completes(&mut self, end: u64) {
        if self.spec.queue_limit.is_some() {
            self.in_device.push(Reverse(end));
        }
    }

    /// Half of the command overhead, in ns: the way to the device, or back.
    pub fn command_half_ns(&self) -> u64 {
        self.spec.command_ns / 2
    }

    /// Occupies a core for a command that arrives at `ready`. Returns when the core has done its part.
    #[inline]
    pub fn process(&mut self, ready: u64, write: bool) -> u64 {
        self.occupy(ready, self.core_ns(write))
    }

    /// Core time for each command, in ns.
    #[inline]
    pub fn core_ns(&self, write: bool) -> u64 {
        if write {
            self.spec.write_core_ns
        } else {
            self.spec.read_core_ns
        }
    }

    /// Occupies the core that is free first for `duration` ns, from `ready` on. Returns when it has finished.
    #[inline]
    pub fn occupy(&mut self, ready: u64, duration: u64) -> u64 {
        let count = self.cores.len();
        let mut at = self.next_core;
        let Some(&free) = self.cores.get(at) else {
            return ready + duration;
        };
        let end = ready.max(free) + duration;
        self.next_core = if at + 1 == count { 0 } else { at + 1 };
        // The head of the ring is now its tail. The new end moves ahead of later ones, since a short command may end before
        // longer ones.
        for _ in 1..count {
            let before = if at == 0 { count - 1 } else { at - 1 };
            if self.cores[before] <= end {
                break;
            }
            self.cores[at] = self.cores[before];
            at = before;
        }
        self.cores[at] = end;
        end
    }

    /// Stops the firmware for `duration` ns from `at` on. Work that a core has already begun ends that much later.
    pub(crate) fn stop(&mut self, at: u64, duration: u64) {
        for free in &mut self.cores {
            *free = at.max(*free) + duration;
        }
    }

    /// Link time of `bytes`, in ns.
    pub(crate) fn link_ns(&self, bytes: u64) -> u64 {
        bytes * self.spec.unit_link_ns_x1024 / (4096 * 1024)
    }

    /// Sends data from the host over the link, from `ready` on. Returns when it has arrived.
    #[inline]
    pub fn send(&mut self, now: u64, ready: u64, bytes: u64) -> u64 {
        let duration = self.link_ns(bytes) + self.turnaround_ns;
        let link = if self.spec.half_duplex {
            &mut self.up
        } else {
            &mut self.down
        };
        link.share(now, ready, duration)
    }

    /// Sends the frames of a read command other than its data. Returns when they have crossed the link.
    #[inline]
    pub fn turn_around(&mut self, now: u64, ready: u64) -> u64 {
        if self.turnaround_ns == 0 {
            return ready;
        }
        self.up.share(now, ready, self.turnaround_ns)
    }

    /// Sends data to the host over the link, from `ready` on. Returns when it has arrived.
    #[inline]
    pub fn receive(&mut self, now: u64, ready: u64, bytes: u64) -> u64 {
        let duration = self.link_ns(bytes);
        self.up.share(now, ready, duration)
    }
}
