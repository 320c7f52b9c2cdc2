//! A simulated drive of any kind, for callers that do not care which. The kind is matched once per run, not once per I/O.

use serde::Serialize;
use workload::Op;
use workload::random::mix;

use crate::drive::kind::{Kind, each};
use crate::ftl::{MapCounts, Translation};
use crate::power::{Power, Saving};
use crate::profile::spec::{DriveSpec, UNIT};
use crate::profile::{Profile, ProfileError, Rule, Settings, Size};

/// Bytes that the host moved and work that the flash did, since the drive was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Bytes that the host read.
    pub host_read_bytes: u64,
    /// Bytes that the host wrote.
    pub host_written_bytes: u64,
    /// Bytes programmed into flash: host data, data moved by collection or folding, map pages, parity and padding.
    pub nand_written_bytes: u64,
    /// Part of `nand_written_bytes`: bytes moved by collection.
    pub moved_bytes: u64,
    /// Part of `nand_written_bytes`: host bytes written with one bit per cell.
    pub cached_bytes: u64,
    /// Part of `nand_written_bytes`: bytes folded from flash with one bit per cell to flash with all bits.
    pub folded_bytes: u64,
    /// Part of `nand_written_bytes`: map pages, where not all of the map is in memory.
    pub map_bytes: u64,
    /// Part of `nand_written_bytes`: parity.
    pub parity_bytes: u64,
    /// Superblocks erased.
    pub erases: u64,
}

impl Counters {
    /// Returns the counts since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            host_read_bytes: self.host_read_bytes - earlier.host_read_bytes,
            host_written_bytes: self.host_written_bytes - earlier.host_written_bytes,
            nand_written_bytes: self.nand_written_bytes - earlier.nand_written_bytes,
            moved_bytes: self.moved_bytes - earlier.moved_bytes,
            cached_bytes: self.cached_bytes - earlier.cached_bytes,
            folded_bytes: self.folded_bytes - earlier.folded_bytes,
            map_bytes: self.map_bytes - earlier.map_bytes,
            parity_bytes: self.parity_bytes - earlier.parity_bytes,
            erases: self.erases - earlier.erases,
        }
    }

    /// Bytes programmed for each byte that the host wrote; `None` if it wrote nothing.
    pub fn write_amplification(self) -> Option<f64> {
        (self.host_written_bytes > 0)
            .then(|| self.nand_written_bytes as f64 / self.host_written_bytes as f64)
    }
}

/// A simulated drive. A clone is an independent drive in the same state.
#[derive(Debug, Clone)]
pub struct AnyDrive {
    kind: Kind,
    spec: DriveSpec,
    /// Bytes read and bytes written.
    host: (u64, u64),
}

/// The state read from a snapshot, in the order of [`AnyDrive::state`].
pub(crate) type KeptState = (Kind, (u64, u64));

/// Bytes of one trim command: the largest power of two that a command's length can take.
const TRIM_BYTES: u32 = 1 << 30;

impl AnyDrive {
    /// Creates an erased drive from a profile.
    ///
    /// # Errors
    /// If the profile cannot have this size.
    pub fn new(profile: &Profile, size: Size, seed: u64) -> Result<Self, ProfileError> {
        Self::with_settings(profile, size, Settings::default(), seed)
    }

    /// As [`new`](Self::new), with settings that override the profile.
    ///
    /// # Errors
    /// If the profile cannot have this size or a setting.
    pub fn with_settings(
        profile: &Profile,
        size: Size,
        settings: Settings,
        seed: u64,
    ) -> Result<Self, ProfileError> {
        let mut spec = profile.spec(size)?;
        profile.set(&mut spec, settings)?;
        if let Some(spread) = &mut spec.options.spread {
            spread.seed = seed;
        }
        if let Some(housekeeping) = &mut spec.options.housekeeping {
            // The name is mixed in, so that drives of different profiles with the same seed do not stop at the same times.
            let name = profile.name.bytes();
            housekeeping.seed = name.fold(seed, |key, byte| mix(key, byte.into()));
        }
        let collection = profile.collection.as_ref();
        let rule = collection.map_or(Rule::Greedy, |collection| collection.rule.value);
        Ok(Self {
            kind: Kind::of(&spec, rule, seed),
            spec,
            host: (0, 0),
        })
    }

    /// Adds the bytes that a run has moved.
    pub(crate) fn count_host_bytes(&mut self, read: u64, written: u64) {
        self.host.0 += read;
        self.host.1 += written;
    }

    /// Access to the drive, whatever its kind, for use with `each!`.
    pub(crate) fn kind_mut(&mut self) -> &mut Kind {
        &mut self.kind
    }

    /// What a snapshot keeps. The specification is left out, since it follows from profile and size.
    pub(crate) fn state(&self) -> impl Serialize + '_ {
        (&self.kind, self.host)
    }

    /// Returns this drive in a state read from a snapshot; `None` if the state is of a drive of another kind or size.
    pub(crate) fn with_state(&self, (kind, host): KeptState) -> Option<Self> {
        let alike = std::mem::discriminant(&kind) == std::mem::discriminant(&self.kind);
        let drive = Self {
            kind,
            spec: self.spec,
            host,
        };
        (alike && drive.user_bytes() == self.user_bytes()).then_some(drive)
    }

    /// The specification that the drive was made from.
    pub fn spec(&self) -> &DriveSpec {
        &self.spec
    }

    /// Bytes that the host can address.
    pub fn user_bytes(&self) -> u64 {
        each!(&self.kind, drive => drive.user_bytes())
    }

    /// The drive's clock, in ns since the drive was made.
    pub fn now_ns(&self) -> u64 {
        each!(&self.kind, drive => drive.now())
    }

    /// Trims a range of bytes, cut off at the end of the drive. The clock advances by the time that this takes.
    pub fn trim(&mut self, start: u64, length: u64) {
        let end = start.saturating_add(length).min(self.user_bytes());
        let mut at = start;
        while at < end {
            // Commands are split at multiples of `TRIM_BYTES`, so that no split cuts a mapping unit in two.
            let whole = u64::from(TRIM_BYTES);
            let part = (end - at).min(whole - at % whole) as u32;
            each!(&mut self.kind, drive => {
                let done = drive.submit(drive.now(), Op::Trim, at, part);
                drive.wait_until(done);
            });
            at += u64::from(part);
        }
    }

    /// Whether every 4 KiB unit that the range touches holds data. False if the range extends beyond the end of the drive.
    pub fn holds(&self, start: u64, length: u64) -> bool {
        let end = start.saturating_add(length);
        let units = start / UNIT..end.div_ceil(UNIT);
        end <= self.user_bytes()
            && each!(&self.kind, drive => {
                drive.is_full() || units.into_iter().all(|unit| drive.holds(unit))
            })
    }

    /// Makes all written data durable. The clock advances by the time that this takes.
    pub fn flush(&mut self) {
        each!(&mut self.kind, drive => {
            let done = drive.flush(drive.now());
            drive.wait_until(done);
        });
    }

    /// Submits one command, as a server does: at `now`, or at the drive's clock if that is later. Returns when the host sees
    /// it complete.
    ///
    /// # Panics
    /// If the range extends beyond the end of the drive.
    pub fn submit(&mut self, now: u64, op: Op, offset: u64, length: u32) -> u64 {
        match op {
            Op::Read => self.host.0 += u64::from(length),
            Op::Write => self.host.1 += u64::from(length),
            Op::Trim => {}
        }
        each!(&mut self.kind, drive => drive.submit(now.max(drive.now()), op, offset, length))
    }

    /// Submits a flush, as [`Self::submit`] submits a command. Returns when the host sees it complete.
    pub fn submit_flush(&mut self, now: u64) -> u64 {
        each!(&mut self.kind, drive => drive.flush(now.max(drive.now())))
    }

    /// Returns when all data written by `at` is safe from a loss of power, as a write with FUA requires.
    pub fn durable_at(&mut self, at: u64) -> u64 {
        each!(&mut self.kind, drive => drive.durable_at(at))
    }

    /// Lets `ns` nanoseconds pass without a command.
    pub fn idle(&mut self, ns: u64) {
        each!(&mut self.kind, drive => drive.wait_until(drive.now().saturating_add(ns)));
    }

    /// Sets which low-power states the drive may use from now on. Returns whether it has any.
    pub fn save_power(&mut self, saving: Saving) -> bool {
        each!(&mut self.kind, drive => drive.save_power(saving))
    }

    /// Returns the drive to ambient temperature, as if it had just been switched on.
    pub fn cool(&mut self) {
        each!(&mut self.kind, drive => drive.cool());
    }

    /// Erases everything, as a format does. The drive then holds no data; its counters continue.
    pub fn purge(&mut self) {
        each!(&mut self.kind, drive => {
            let done_ns = drive.purge(drive.now());
            drive.wait_until(done_ns);
        });
    }

    /// Places the steady state of random writes that theory predicts, without writing it. Returns whether this is possible
    /// for this drive, which must be erased.
    pub fn place_steady(&mut self, seed: u64) -> bool {
        each!(&mut self.kind, drive => drive.place_steady(seed))
    }

    /// Bytes that the host moved and work that the flash did, since the drive was made.
    pub fn counters(&self) -> Counters {
        let counts = each!(&self.kind, drive => drive.ftl_counts());
        let map = self.map_counts();
        let parity = each!(&self.kind, drive => drive.flash_counts()).parity_units;
        Counters {
            host_read_bytes: self.host.0,
            host_written_bytes: self.host.1,
            nand_written_bytes: each!(&self.kind, drive => drive.programmed_units()) * UNIT,
            moved_bytes: counts.moved_units * UNIT,
            cached_bytes: counts.cached_units * UNIT,
            folded_bytes: counts.folded_units * UNIT,
            map_bytes: map.written_back * UNIT,
            parity_bytes: parity * UNIT,
            erases: counts.erases,
        }
    }

    /// Share of the usable flash that holds no user data now, which theory calls the spare. `None` while more superblocks are
    /// empty than collection keeps free: until those are used, each write makes the share grow.
    pub fn effective_spare(&self) -> Option<f64> {
        each!(&self.kind, drive => {
            let ftl = drive.ftl();
            ftl.is_in_use().then(|| ftl.effective_spare())
        })
    }

    /// Lowest and highest erase count of any block since the drive was made.
    pub fn wear(&self) -> (u32, u32) {
        each!(&self.kind, drive => drive.ftl().wear())
    }

    /// Use of the map memory; all zeros if the whole map is in memory.
    pub fn map_counts(&self) -> MapCounts {
        each!(&self.kind, drive => drive.map_counts())
    }

    /// Energy and heat; `None` if the profile has no power model.
    pub fn power(&self) -> Option<&Power> {
        each!(&self.kind, drive => drive.power())
    }
}
