//! A whole drive: a command goes in at a time, and the time of its completion comes out.

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

/// A simulated drive that finds its data by `T` and keeps as much of the map in memory as `M` says.
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
    /// From when on the drive may work for itself, if no command comes before.
    pub(crate) idle_from: u64,
    /// Whether it may go into states of less power.
    pub(crate) saves_power: bool,
    /// It works on no command before: it comes out of such a state.
    awake_at: u64,
    pub(crate) idle_after_ns: u64,
    pub(crate) trim_rule: TrimRule,
    pub(crate) write_through: bool,
    commit_ns: u64,
    pub(crate) user_bytes: u64,
    logical_block_bytes: u32,
    power_loss_protection: bool,
    /// Units to be written soon, in a ring: what they overwrite is asked for when the map has had time to say where it is.
    #[serde(skip)]
    expected: [u32; EXPECTED],
    #[serde(skip)]
    expected_next: usize,
    /// Empty but while somebody runs the drive.
    #[serde(skip)]
    pub(crate) waiting: Waiting,
}

/// Writes between asking for a map entry and asking for what it points at.
const EXPECTED: usize = 16;

impl<R: VictimRule> Drive<Ftl<R>> {
    /// An erased drive of superblocks at time zero, its whole map in memory.
    pub fn new(spec: &DriveSpec, rule: R) -> Self {
        Self::assemble(spec, Ftl::of_drive(spec, rule), WholeMap)
    }
}

impl<R: VictimRule> Drive<Planes<R>> {
    /// An erased drive at time zero that places data statically.
    pub fn of_planes(spec: &DriveSpec, rule: &R) -> Self {
        let user_units = (spec.user_bytes / UNIT) as u32;
        let planes = Planes::new(user_units, &spec.geometry, spec.reserve, rule);
        let mut drive = Self::assemble(spec, planes, WholeMap);
        drive.machine = drive.machine.by_planes();
        drive
    }
}

impl Drive<InPlace> {
    /// A new drive at time zero that is written in place. Its geometry must have one plane, pages of one unit and one bit a cell.
    pub fn in_place(spec: &DriveSpec) -> Self {
        let units = (spec.user_bytes / UNIT) as u32;
        let raw_units = spec.geometry.raw_bytes() / UNIT;
        Self::assemble(spec, InPlace::new(units, raw_units), WholeMap)
    }
}

impl<T: Translation, M: MappingCache> Drive<T, M> {
    /// An erased drive at time zero, of the given translation and map.
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

    /// Lets the drive use other states of less power from now on. Returns whether it has any.
    pub fn save_power(&mut self, saving: Saving) -> bool {
        self.saves_power = saving != Saving::Off;
        self.machine.save_power(saving, self.clock)
    }

    /// When the device takes a command that the host submits at `now`, and is awake for it.
    #[inline]
    pub(crate) fn accept(&mut self, now: u64) -> u64 {
        let accepted = self.host.accept(now, self.waiting.entering()) + self.host.command_half_ns();
        accepted.max(self.awake_at)
    }

    /// The host sees a command done.
    #[inline]
    pub(crate) fn completes(&mut self, done: u64) {
        self.host.completes(done);
        if self.saves_power {
            self.machine.works_until(done);
        }
    }

    /// An I/O will come soon: asks for the table entries that it will need. Changes nothing.
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

    /// Makes all written data durable. Returns when the host sees it done.
    ///
    /// # Panics
    /// If `now` lies before an earlier command's.
    pub fn flush(&mut self, now: u64) -> u64 {
        self.begin(now);
        let accepted = self.accept(now);
        let processed = self.host.process(accepted, true);
        let done = self.durable_at(processed) + self.host.command_half_ns();
        self.completes(done);
        done
    }

    /// When all that was written by `at` is safe from a loss of power. Without protection what is written in part is made whole, and the
    /// open word line is programmed for it, full or not; then their entries of the map are committed.
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

    /// The translation layer, for reading.
    pub fn ftl(&self) -> &T {
        &self.ftl
    }

    /// What is known of energy and heat, if the drive's specification says anything of them.
    pub fn power(&self) -> Option<&Power> {
        self.machine.power()
    }

    /// Limits the drive's power from now on, as a power state does; `None` takes the limit away.
    pub fn limit_power(&mut self, cap_mw: Option<u64>) {
        self.machine.limit_power(cap_mw);
    }

    /// The drive is at ambient temperature again, as one that has just been switched on.
    pub fn cool(&mut self) {
        self.machine.cool();
    }

    /// Forgets all data and erases the flash. Returns when the host sees it done.
    ///
    /// # Panics
    /// If `now` lies before an earlier command's.
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

    /// Places the steady state of random writes, without a write and without time. Returns whether that can be done: the drive must
    /// be erased and collect superblocks.
    pub fn place_steady(&mut self, seed: u64) -> bool {
        let placed = self.ftl.place_steady(seed);
        if placed {
            self.map_cache.placed();
        }
        placed
    }

    /// Units and superblocks worked on since the last reset.
    pub fn ftl_counts(&self) -> FtlCounts {
        FtlCounts {
            part_units: self.parts.counts.units,
            part_bytes: self.parts.counts.bytes,
            ..self.ftl.counts()
        }
    }

    /// How the memory for the map was used, where not all of it is there.
    pub fn map_counts(&self) -> MapCounts {
        self.map_cache.counts()
    }

    /// Starts the translation layer's counts anew.
    pub fn reset_counts(&mut self) {
        self.ftl.reset_counts();
        self.parts.counts = PartCounts::default();
    }

    /// Operations of the flash.
    pub fn flash_counts(&self) -> FlashCounts {
        self.machine.counts()
    }

    /// Units that the flash has programmed, parity and the map's among them.
    pub fn programmed_units(&self) -> u64 {
        let moved_and_written = self.ftl_counts().flash_units();
        moved_and_written + self.map_counts().written_back + self.flash_counts().parity_units
    }

    /// When everything given so far is in flash.
    pub fn idle_at(&self) -> u64 {
        let rests = self.parts.rests().map(|rest| self.machine.rest_there(rest));
        rests.fold(self.machine.idle_at(), u64::max)
    }

    /// Submits a command at `now`, which never goes back. Returns when the host sees it complete.
    ///
    /// # Panics
    /// If `now` lies before an earlier command's, or the range passes the end of the drive.
    #[inline]
    pub fn submit(&mut self, now: u64, op: Op, offset: u64, length: u32) -> u64 {
        self.begin(now);
        let accepted = self.charged(now, op, length);
        self.perform(accepted, op, offset, length)
    }

    /// When the device has taken a command that the host submits at `now`, and has power for it.
    #[inline]
    pub(crate) fn charged(&mut self, now: u64, op: Op, length: u32) -> u64 {
        let accepted = self.accept(now);
        // A trim carries ranges, not their data.
        let carried = if op == Op::Trim { 0 } else { length };
        self.machine.charge_command(accepted, carried)
    }

    /// All that a command does. Returns when the host sees it complete.
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

    /// Takes a core for a command that is there at `ready`. Returns when it has done its part.
    ///
    /// A firmware that moves one page after another takes commands between two of them.
    #[inline]
    pub(crate) fn process(&mut self, ready: u64, write: bool) -> u64 {
        let processed = self.host.process(ready, write);
        self.machine
            .moving
            .gives_way(processed, self.host.core_ns(write));
        processed
    }

    /// When a core has taken a write, and when its data has crossed the link.
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

    /// Whole units of 4 KiB, each a mapping unit. Returns when the last is in the buffer and what was moved for them has been entered.
    #[inline]
    fn write_units(&mut self, processed: u64, sent: u64, offset: u64, end: u64) -> u64 {
        let (mut there, mut moved) = (sent, 0);
        for unit in offset / UNIT..end / UNIT {
            there = self.machine.admit(there);
            moved = moved.max(self.place(unit as u32, processed, there));
        }
        there.max(moved)
    }

    /// A unit is in the buffer: it passes the data path to its place. Returns when a core has entered what was moved for it.
    #[inline]
    pub(crate) fn place(&mut self, unit: u32, processed: u64, there: u64) -> u64 {
        self.machine.at = self.machine.path.pass(there, 1);
        self.map_cache.change(unit, &mut self.machine);
        self.ftl.write(unit, &mut self.machine);
        self.map_cache.change_moved(&mut self.machine);
        self.charge_moves(processed)
    }

    /// Programs what was written, full or not, and makes room for what that leaves empty.
    fn end_word_line(&mut self, processed: u64) {
        self.ftl.end_word_line(&mut self.machine);
        self.map_cache.change_moved(&mut self.machine);
        self.charge_moves(processed);
    }

    /// What was moved for a write takes a core behind it, and the firmware may stop then. Returns when that core has done it; 0 where
    /// nothing was moved.
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
