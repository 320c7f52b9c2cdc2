//! A whole drive: a caller submits a command with its time and gets the completion time back.

use serde::{Deserialize, Serialize};
use workload::{Io, Op};

use crate::drive::host::Host;
use crate::drive::housekeeping::Housekeeping;
use crate::drive::parts::{PartCounts, Parts};
use crate::drive::read_ahead::ReadAhead;
use crate::drive::waiting::Waiting;
use crate::flash::{Flash, FlashCounts, Machine};
use crate::ftl::{
    Ftl, FtlCounts, InPlace, MapCounts, MappingCache, Planes, Translation, VictimRule, WholeMap,
};
use crate::power::{Power, Saving};
use crate::profile::spec::{DriveSpec, TrimRule, UNIT};

/// A simulated drive. `T` is the translation layer that locates its data; `M` determines how much of the map is in memory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Drive<T, M = WholeMap> {
    pub(crate) ftl: T,
    pub(crate) map_cache: M,
    pub(crate) machine: Machine,
    pub(crate) host: Host,
    pub(crate) read_ahead: Option<Box<ReadAhead>>,
    pub(crate) parts: Parts,
    pub(crate) housekeeping: Option<Box<Housekeeping>>,
    pub(crate) clock: u64,
    /// Time from which the drive may do background work, if no command comes before.
    pub(crate) idle_from: u64,
    /// Whether the drive may enter low-power states.
    pub(crate) saves_power: bool,
    /// The drive works on no command before this time, since it is leaving a low-power state.
    awake_at: u64,
    pub(crate) idle_after_ns: u64,
    pub(crate) trim_rule: TrimRule,
    pub(crate) write_through: bool,
    commit_ns: u64,
    pub(crate) user_bytes: u64,
    logical_block_bytes: u32,
    power_loss_protection: bool,
    /// Ring of units to be written soon. What they invalidate is prefetched once their map entries have had time to arrive.
    #[serde(skip)]
    expected: [u32; EXPECTED],
    #[serde(skip)]
    expected_next: usize,
    /// Empty unless issued commands are pending.
    #[serde(skip)]
    pub(crate) waiting: Waiting,
}

/// Writes between prefetching a map entry and prefetching the validity bits that it points at.
const EXPECTED: usize = 16;

impl<R: VictimRule> Drive<Ftl<R>> {
    /// Creates an erased drive of superblocks at time zero, with the whole map in memory.
    pub fn new(spec: &DriveSpec, rule: R) -> Self {
        Self::assemble(spec, Ftl::of_drive(spec, rule), WholeMap)
    }
}

impl<R: VictimRule> Drive<Planes<R>> {
    /// Creates an erased drive at time zero that places data statically by plane.
    pub fn of_planes(spec: &DriveSpec, rule: &R) -> Self {
        let user_units = (spec.user_bytes / UNIT) as u32;
        let planes = Planes::new(user_units, &spec.geometry, spec.reserve, rule);
        let mut drive = Self::assemble(spec, planes, WholeMap);
        drive.machine = drive.machine.by_planes();
        drive
    }
}

impl Drive<InPlace> {
    /// Creates a drive at time zero that is written in place. It must have one plane, pages of one unit and one bit per cell.
    pub fn in_place(spec: &DriveSpec) -> Self {
        let units = (spec.user_bytes / UNIT) as u32;
        let raw_units = spec.geometry.raw_bytes() / UNIT;
        Self::assemble(spec, InPlace::new(units, raw_units), WholeMap)
    }
}

impl<T: Translation, M: MappingCache> Drive<T, M> {
    /// Creates an erased drive at time zero with the given translation layer and map.
    pub fn assemble(spec: &DriveSpec, ftl: T, map_cache: M) -> Self {
        let options = &spec.options;
        let machine = Machine::new(
            spec.geometry,
            spec.timing,
            (spec.buffer_bytes / UNIT) as u32,
            spec.erase_every,
            options,
        );
        Self {
            ftl,
            map_cache,
            machine: if M::IN_FLASH {
                machine.telling_moves()
            } else {
                machine
            },
            host: Host::new(spec.host, options.turnaround_ns),
            read_ahead: options
                .read_ahead
                .map(|spec| Box::new(ReadAhead::new(spec))),
            parts: Parts::new(spec),
            housekeeping: options
                .housekeeping
                .map(|spec| Box::new(Housekeeping::new(spec))),
            clock: 0,
            idle_from: options.idle_after_ns.unwrap_or(u64::MAX),
            saves_power: false,
            awake_at: 0,
            idle_after_ns: options.idle_after_ns.unwrap_or(u64::MAX),
            trim_rule: options.trim,
            write_through: options.write_through,
            commit_ns: options.commit_ns,
            user_bytes: spec.user_bytes / UNIT * UNIT,
            logical_block_bytes: spec.logical_block_bytes,
            power_loss_protection: spec.power_loss_protection,
            expected: [0; EXPECTED],
            expected_next: 0,
            waiting: Waiting::default(),
        }
    }

    /// Bytes that the host can address.
    pub fn user_bytes(&self) -> u64 {
        self.user_bytes
    }

    /// Granularity of offsets and lengths, in bytes.
    pub fn logical_block_bytes(&self) -> u32 {
        self.logical_block_bytes
    }

    /// The drive's clock, in ns: no command can be submitted at an earlier time.
    pub fn now(&self) -> u64 {
        self.clock
    }

    /// Lets time pass until `at`, or does nothing if the clock is already there.
    pub fn wait_until(&mut self, at: u64) {
        if self.waiting.has_unknown() {
            self.catch_up(at);
        }
        if at > self.idle_from {
            self.work_unasked(at);
        }
        if self.parts.waits() {
            self.place_rests(at);
        }
        self.clock = self.clock.max(at);
        if self.saves_power {
            self.machine.sleep(self.clock);
        }
        self.machine.begin(self.clock);
    }

    /// Sets which low-power states the drive may use from now on. Returns whether it has any.
    pub fn save_power(&mut self, saving: Saving) -> bool {
        self.saves_power = saving != Saving::Off;
        self.machine.save_power(saving, self.clock)
    }

    /// Returns when the device takes a command that the host submits at `now`, and is awake for it.
    #[inline]
    pub(crate) fn accept(&mut self, now: u64) -> u64 {
        let accepted = self.host.accept(now, self.waiting.entering()) + self.host.command_half_ns();
        accepted.max(self.awake_at)
    }

    /// Records that the host sees a command complete at `done`.
    #[inline]
    pub(crate) fn completes(&mut self, done: u64) {
        self.host.completes(done);
        if self.saves_power {
            self.machine.works_until(done);
        }
    }

    /// Prefetches the table entries that a future I/O will need. Changes nothing that can be observed.
    #[inline]
    pub fn expect(&mut self, io: Io) {
        let unit = (io.offset / UNIT) as u32;
        self.ftl.expect_logical(unit);
        if io.op == Op::Write {
            let place = &mut self.expected[self.expected_next];
            self.ftl.expect_overwrite(std::mem::replace(place, unit));
            self.expected_next = (self.expected_next + 1) % EXPECTED;
        }
    }

    /// Makes all written data durable. Returns when the host sees the flush complete.
    ///
    /// # Panics
    /// If `now` lies before an earlier command.
    pub fn flush(&mut self, now: u64) -> u64 {
        self.begin(now);
        let accepted = self.accept(now);
        let processed = self.host.process(accepted, true);
        let done = self.durable_at(processed) + self.host.command_half_ns();
        self.completes(done);
        done
    }

    /// Returns when all data written by `at` is safe from a loss of power. Without power-loss protection, this completes
    /// partly written units, programs the open word lines, full or not, and then commits the map entries.
    pub fn durable_at(&mut self, at: u64) -> u64 {
        if self.power_loss_protection {
            return at;
        }
        let whole = self.place_all_parts(at);
        self.machine.at = whole.max(self.machine.path.passed());
        self.end_word_line(at);
        match whole.max(self.machine.drained_at()) {
            done if done > at => done + self.commit_ns,
            _ => at,
        }
    }

    #[inline]
    pub(crate) fn begin(&mut self, now: u64) {
        assert!(
            now >= self.clock,
            "commands reach the drive in order of time"
        );
        if self.waiting.has_unknown() {
            self.catch_up(now);
        }
        if now > self.idle_from {
            self.work_unasked(now);
        }
        if self.parts.waits() {
            self.place_rests(now);
        }
        self.idle_from = now.saturating_add(self.idle_after_ns);
        self.clock = now;
        if self.saves_power {
            self.awake_at = self.machine.wake(now);
        }
        self.machine.begin(now);
    }

    /// The translation layer.
    pub fn ftl(&self) -> &T {
        &self.ftl
    }

    /// Energy and heat; `None` if the specification has no power model.
    pub fn power(&self) -> Option<&Power> {
        self.machine.power()
    }

    /// Limits the drive's power from now on, as a power state does; `None` removes the limit.
    pub fn limit_power(&mut self, cap_mw: Option<u64>) {
        self.machine.limit_power(cap_mw);
    }

    /// Returns the drive to ambient temperature, as if it had just been switched on.
    pub fn cool(&mut self) {
        self.machine.cool();
    }

    /// Forgets all data and erases the flash. Returns when the host sees the purge complete.
    ///
    /// # Panics
    /// If `now` lies before an earlier command.
    pub fn purge(&mut self, now: u64) -> u64 {
        self.begin(now);
        let accepted = self.accept(now);
        self.machine.at = self.host.process(accepted, true);
        let room = self.parts.forget(None);
        self.machine.discard(room);
        self.ftl.purge(&mut self.machine);
        self.map_cache.purged(&mut self.machine);
        let done = self.machine.idle_at().max(self.machine.at) + self.host.command_half_ns();
        self.completes(done);
        done
    }

    /// Places the steady state of random writes, without writing and without virtual time. Returns whether this is possible:
    /// the drive must be erased, and [`DriveSpec::can_be_placed`] must hold for it.
    pub fn place_steady(&mut self, seed: u64) -> bool {
        let placed = self.ftl.place_steady(seed);
        if placed {
            self.map_cache.placed();
        }
        placed
    }

    /// Work of the translation layer since the last reset.
    pub fn ftl_counts(&self) -> FtlCounts {
        FtlCounts {
            part_units: self.parts.counts.units,
            part_bytes: self.parts.counts.bytes,
            ..self.ftl.counts()
        }
    }

    /// Use of the map memory; all zeros if the whole map is in memory.
    pub fn map_counts(&self) -> MapCounts {
        self.map_cache.counts()
    }

    /// Resets the translation layer's counts to zero.
    pub fn reset_counts(&mut self) {
        self.ftl.reset_counts();
        self.parts.counts = PartCounts::default();
    }

    /// Flash operations since the drive was made.
    pub fn flash_counts(&self) -> FlashCounts {
        self.machine.counts()
    }

    /// Units that the flash has programmed, including parity and map pages.
    pub fn programmed_units(&self) -> u64 {
        let moved_and_written = self.ftl_counts().flash_units();
        moved_and_written + self.map_counts().written_back + self.flash_counts().parity_units
    }

    /// Returns when all work given to the flash so far will have ended.
    pub fn idle_at(&self) -> u64 {
        let rests = self.parts.rests().map(|rest| self.machine.rest_there(rest));
        rests.fold(self.machine.idle_at(), u64::max)
    }

    /// Submits a command at `now`; `now` must not decrease. Returns when the host sees the command complete.
    ///
    /// # Panics
    /// If `now` lies before an earlier command, or the range extends beyond the end of the drive.
    #[inline]
    pub fn submit(&mut self, now: u64, op: Op, offset: u64, length: u32) -> u64 {
        self.begin(now);
        let accepted = self.charged(now, op, length);
        self.perform(accepted, op, offset, length)
    }

    /// Returns when the device has taken a command that the host submits at `now`, and has power for it.
    #[inline]
    pub(crate) fn charged(&mut self, now: u64, op: Op, length: u32) -> u64 {
        let accepted = self.accept(now);
        // A trim command carries a list of ranges, not data.
        let carried = if op == Op::Trim { 0 } else { length };
        self.machine.charge_command(accepted, carried)
    }

    /// Executes an accepted command. Returns when the host sees it complete.
    #[inline]
    pub(crate) fn perform(&mut self, accepted: u64, op: Op, offset: u64, length: u32) -> u64 {
        let done = match op {
            Op::Read => self.read(accepted, offset, length),
            Op::Write => self.write(accepted, offset, length),
            Op::Trim => self.trim(accepted, offset, length),
        };
        let done = done + self.host.command_half_ns();
        self.completes(done);
        done
    }

    /// Occupies a core for a command that arrives at `ready`. Returns when the core has done its part.
    ///
    /// Firmware that moves pages one after another takes commands between two of them, so its moves are put off.
    #[inline]
    pub(crate) fn process(&mut self, ready: u64, write: bool) -> u64 {
        let processed = self.host.process(ready, write);
        self.machine
            .moving
            .gives_way(processed, self.host.core_ns(write));
        processed
    }

    /// Returns when a core has processed a write, and when its data has crossed the link.
    #[inline]
    pub(crate) fn arrives(&mut self, accepted: u64, length: u32) -> [u64; 2] {
        let processed = self.process(accepted, true);
        let sent = self.host.send(self.clock, processed, u64::from(length));
        [processed, sent]
    }

    #[inline]
    fn write(&mut self, accepted: u64, offset: u64, length: u32) -> u64 {
        let [processed, sent] = self.arrives(accepted, length);
        let end = offset + u64::from(length);
        self.machine.begin_write();
        let mut there = if self.parts.concern(offset | end) {
            self.write_parts(processed, sent, offset, end)
        } else {
            self.write_units(processed, sent, offset, end)
        };
        if self.write_through {
            if self.parts.is_busy() {
                there = self.place_all_parts(there);
            }
            self.end_word_line(processed);
            there = there.max(self.machine.latest_host_program()) + self.commit_ns;
        }
        there
    }

    /// Writes whole 4 KiB units, each a mapping unit. Returns when the last one is in the buffer and a core has updated the
    /// map for the moves that they caused.
    #[inline]
    fn write_units(&mut self, processed: u64, sent: u64, offset: u64, end: u64) -> u64 {
        let (mut there, mut moved) = (sent, 0);
        for unit in offset / UNIT..end / UNIT {
            there = self.machine.admit(there);
            moved = moved.max(self.place(unit as u32, processed, there));
        }
        there.max(moved)
    }

    /// Places a unit that is in the buffer at `there`: it crosses the data path, then goes to its stream. Returns when a core
    /// has updated the map for the moves that it caused.
    #[inline]
    pub(crate) fn place(&mut self, unit: u32, processed: u64, there: u64) -> u64 {
        self.machine.at = self.machine.path.pass(there, 1);
        self.map_cache.change(unit, &mut self.machine);
        self.ftl.write(unit, &mut self.machine);
        self.map_cache.change_moved(&mut self.machine);
        self.charge_moves(processed)
    }

    /// Programs the open word lines, full or not, and makes room for the units left empty in them.
    fn end_word_line(&mut self, processed: u64) {
        self.ftl.end_word_line(&mut self.machine);
        self.map_cache.change_moved(&mut self.machine);
        self.charge_moves(processed);
    }

    /// Charges a core for the units that collection moved because of a write; the firmware may then stop for housekeeping.
    /// Returns when the core has updated the map for them, or 0 if that takes no core time.
    #[inline]
    pub(crate) fn charge_moves(&mut self, processed: u64) -> u64 {
        let units = self.machine.moving.charge();
        if units == 0 {
            return 0;
        }
        let entered = match self.machine.moving.core_of(units) {
            0 => 0,
            moves_ns => self.host.occupy(processed, moves_ns),
        };
        if let Some(housekeeping) = &mut self.housekeeping
            && let Some(duration_ns) = housekeeping.moved(units)
        {
            self.host.stop(processed, duration_ns);
        }
        entered
    }
}
