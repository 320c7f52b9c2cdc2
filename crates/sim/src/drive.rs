//! A whole drive: a command goes in at a time, and the time of its completion comes out.

use workload::{Io, Op};

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
    /// Whether data in the buffer survives a loss of power: then a flush has nothing to wait for.
    pub power_loss_protection: bool,
    /// Unit of offsets and lengths, in bytes.
    pub logical_block_bytes: u32,
    /// An erase of a superblock is charged on every so many-th: blocks are that many times smaller than the real ones.
    pub erase_every: u32,
}

/// A simulated drive whose victims are chosen by `R`.
#[derive(Debug, Clone)]
pub struct Drive<R> {
    ftl: Ftl<R>,
    machine: Machine,
    host: Host,
    clock: u64,
    user_bytes: u64,
    logical_block_bytes: u32,
    power_loss_protection: bool,
    /// Units to be written soon, in a ring: what they overwrite is asked for when the map has had time to say where it is.
    expected: [u32; EXPECTED],
    expected_next: usize,
}

/// Writes between asking for a map entry and asking for what it points at.
const EXPECTED: usize = 16;
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
                spec.erase_every,
            ),
            host: Host::new(spec.host),
            clock: 0,
            user_bytes: u64::from(units) * UNIT,
            logical_block_bytes: spec.logical_block_bytes,
            power_loss_protection: spec.power_loss_protection,
            expected: [0; EXPECTED],
            expected_next: 0,
        }
    }

    /// Bytes that can be addressed.
    pub fn user_bytes(&self) -> u64 {
        self.user_bytes
    }

    /// Unit of offsets and lengths, in bytes.
    pub fn logical_block_bytes(&self) -> u32 {
        self.logical_block_bytes
    }

    /// The drive's clock: no command can come before it.
    pub fn now(&self) -> u64 {
        self.clock
    }

    /// Lets time pass until `at`, unless it has come already.
    pub fn wait_until(&mut self, at: u64) {
        self.clock = self.clock.max(at);
    }

    /// An I/O will come soon: asks for the table entries that it will need. Changes nothing.
    #[inline]
    pub fn expect(&mut self, io: Io) {
        let map = self.ftl.map();
        let unit = (io.offset / UNIT) as u32;
        map.expect_logical(unit);
        if io.op == Op::Write {
            let place = &mut self.expected[self.expected_next];
            map.expect_overwrite(std::mem::replace(place, unit));
            self.expected_next = (self.expected_next + 1) % EXPECTED;
        }
    }

    /// Makes all written data durable. Returns when the host sees it done.
    ///
    /// # Panics
    /// If `now` lies before an earlier command's.
    pub fn flush(&mut self, now: u64) -> u64 {
        self.begin(now);
        let accepted = self.host.accept(now) + self.host.command_half_ns();
        let processed = self.host.process(accepted, true);
        let done = self.durable_at(processed) + self.host.command_half_ns();
        self.host.completes(done);
        done
    }

    /// When all that was written by `at` is safe from a loss of power. Without protection the open word line is programmed
    /// for it, full or not.
    pub fn durable_at(&mut self, at: u64) -> u64 {
        if self.power_loss_protection {
            return at;
        }
        self.machine.at = at;
        let units = self.machine.geometry().units_per_program();
        self.ftl.end_word_line(units, &mut self.machine);
        at.max(self.machine.buffer.drained_at())
    }

    #[inline]
    fn begin(&mut self, now: u64) {
        assert!(
            now >= self.clock,
            "commands reach the drive in order of time"
        );
        self.clock = now;
        self.machine.now = now;
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
        self.begin(now);
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
        let sent = self.host.send(self.clock, processed, u64::from(length));
        let mut there = sent;
        if !(offset | end).is_multiple_of(UNIT) {
            there = self.fetch_rest(offset, end, sent);
        }
        for unit in offset / UNIT..end.div_ceil(UNIT) {
            there = self.machine.buffer.admit(there);
            self.machine.at = there;
            self.ftl.write(unit as u32, &mut self.machine);
        }
        there
    }

    /// A write of part of a unit needs the rest of it first.
    #[cold]
    fn fetch_rest(&mut self, offset: u64, end: u64, ready: u64) -> u64 {
        let (first, last) = (offset / UNIT, (end - 1) / UNIT);
        let mut there = ready;
        for (unit, partial) in [
            (
                first,
                !offset.is_multiple_of(UNIT) || end < (first + 1) * UNIT,
            ),
            (last, last > first && !end.is_multiple_of(UNIT)),
        ] {
            let physical = self.ftl.map().lookup(unit as u32);
            if partial && physical != NONE {
                let place = self.machine.geometry().place(physical);
                there = there.max(self.machine.read(place, 1, ready));
            }
        }
        there
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
