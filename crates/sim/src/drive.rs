//! A whole drive: a command goes in at a time, and the time of its completion comes out.

use workload::Op;

use crate::ftl::{Ftl, FtlCounts};
use crate::gc::VictimRule;
use crate::host::{Host, HostSpec};
use crate::machine::{FlashCounts, Machine};
use crate::mapping::NONE;
use crate::nand::{Geometry, Timing, UNIT_BYTES};

/// All of a drive's parts.
#[derive(Debug, Clone, Copy)]
pub struct DriveSpec {
    /// Flash there is.
    pub geometry: Geometry,
    /// How long it takes.
    pub timing: Timing,
    /// Link, queue and controller.
    pub host: HostSpec,
    /// Bytes the user can address.
    pub user_bytes: u64,
    /// Bytes of the write buffer.
    pub buffer_bytes: u64,
    /// Superblocks that collection keeps free.
    pub reserve: u32,
    /// How many times smaller than the drive it stands for.
    pub scale: u32,
}

/// A simulated drive whose victims are chosen by `R`.
#[derive(Debug, Clone)]
pub struct Drive<R> {
    ftl: Ftl<R>,
    machine: Machine,
    host: Host,
    clock: u64,
}

const UNIT: u64 = UNIT_BYTES as u64;

impl<R: VictimRule> Drive<R> {
    /// An erased drive at time zero.
    pub fn new(spec: &DriveSpec, rule: R) -> Self {
        let geometry = spec.geometry;
        let units = (spec.user_bytes / UNIT) as u32;
        Self {
            ftl: Ftl::new(
                units,
                geometry.superblocks,
                geometry.units_per_superblock(),
                spec.reserve,
                rule,
            ),
            machine: Machine::new(
                geometry,
                spec.timing,
                (spec.buffer_bytes / UNIT) as u32,
                spec.scale,
            ),
            host: Host::new(spec.host),
            clock: 0,
        }
    }

    /// The translation layer, for reading.
    pub fn ftl(&self) -> &Ftl<R> {
        &self.ftl
    }

    /// Units and superblocks worked on since the last reset.
    pub fn ftl_counts(&self) -> FtlCounts {
        self.ftl.counts()
    }

    /// Starts the translation layer's counts anew.
    pub fn reset_counts(&mut self) {
        self.ftl.reset_counts();
    }

    /// Operations of the flash.
    pub fn flash_counts(&self) -> FlashCounts {
        self.machine.counts()
    }

    /// When everything given so far is in flash.
    pub fn idle_at(&self) -> u64 {
        self.machine.idle_at()
    }

    /// Submits a command at `now`, which never goes back. Returns when the host sees it complete.
    ///
    /// # Panics
    /// If `now` lies before an earlier command's, or the range passes the end of the drive.
    #[inline]
    pub fn submit(&mut self, now: u64, op: Op, offset: u64, length: u32) -> u64 {
        assert!(
            now >= self.clock,
            "commands reach the drive in order of time"
        );
        self.clock = now;
        self.machine.now = now;
        let accepted = self.host.accept(now) + self.host.command_half_ns();
        let done = match op {
            Op::Read => self.read(accepted, offset, length),
            Op::Write => self.write(accepted, offset, length),
            Op::Trim => self.trim(accepted, offset, length),
        };
        let done = done + self.host.command_half_ns();
        self.host.completes(done);
        done
    }

    #[inline]
    fn read(&mut self, accepted: u64, offset: u64, length: u32) -> u64 {
        let ready = self.host.process(accepted, false);
        let end = offset + u64::from(length);
        let mut unit = offset / UNIT;
        let mut done = ready;
        while unit * UNIT < end {
            let physical = self.ftl.map().lookup(unit as u32);
            let first = unit;
            unit += 1;
            let there = if physical == NONE {
                ready
            } else {
                let place = self.machine.geometry().place(physical);
                while unit * UNIT < end && self.shares_array_read(unit as u32, place.array_read) {
                    unit += 1;
                }
                self.machine.read(place, (unit - first) as u32, ready)
            };
            let bytes = (unit * UNIT).min(end) - (first * UNIT).max(offset);
            done = done.max(self.host.receive(self.clock, there, bytes));
        }
        done
    }

    #[inline]
    fn shares_array_read(&self, unit: u32, array_read: u32) -> bool {
        let physical = self.ftl.map().lookup(unit);
        physical != NONE && self.machine.geometry().place(physical).array_read == array_read
    }

    #[inline]
    fn write(&mut self, accepted: u64, offset: u64, length: u32) -> u64 {
        let processed = self.host.process(accepted, true);
        let end = offset + u64::from(length);
        let mut there = self.host.send(self.clock, processed, u64::from(length));
        for unit in offset / UNIT..end.div_ceil(UNIT) {
            if unit * UNIT < offset || (unit + 1) * UNIT > end {
                there = self.fetch_for_modify(unit as u32, there);
            }
            there = self.machine.buffer.admit(there);
            self.machine.at = there;
            self.ftl.write(unit as u32, &mut self.machine);
        }
        there
    }

    /// A write of part of a unit needs the rest of it first.
    fn fetch_for_modify(&mut self, unit: u32, ready: u64) -> u64 {
        match self.ftl.map().lookup(unit) {
            NONE => ready,
            physical => self
                .machine
                .read(self.machine.geometry().place(physical), 1, ready),
        }
    }

    fn trim(&mut self, accepted: u64, offset: u64, length: u32) -> u64 {
        let processed = self.host.process(accepted, true);
        let end = offset + u64::from(length);
        for unit in offset.div_ceil(UNIT)..end / UNIT {
            self.ftl.trim(unit as u32);
        }
        processed
    }
}
