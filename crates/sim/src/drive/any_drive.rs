//! A simulated drive of any kind, for callers that do not care which: the kind is looked at once a run, not once an I/O.

use serde::Serialize;
use workload::Op;
use workload::random::mix;

use crate::drive::kind::{Kind, each};
use crate::ftl::{MapCounts, Translation};
use crate::power::{Power, Saving};
use crate::profile::spec::{DriveSpec, UNIT};
use crate::profile::{Profile, ProfileError, Rule, Settings, Size};

/// What the host moved and the flash did since the drive was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Bytes that the host read.
    pub host_read_bytes: u64,
    /// Bytes that the host wrote.
    pub host_written_bytes: u64,
    /// Bytes programmed into flash: the host's, those moved by collection or folded, those of the map, and padding.
    pub nand_written_bytes: u64,
    /// Of these the bytes moved by collection.
    pub moved_bytes: u64,
    /// Of these the host's bytes that were written with one bit a cell.
    pub cached_bytes: u64,
    /// Of these the bytes moved from flash with one bit a cell to flash with all.
    pub folded_bytes: u64,
    /// Of these the bytes of the map, where not all of it is in memory.
    pub map_bytes: u64,
    /// Of these the bytes that hold the parity of others.
    pub parity_bytes: u64,
    /// Superblocks erased.
    pub erases: u64,
}

impl Counters {
    /// What was counted since `earlier`.
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

    /// Bytes programmed for each byte the host wrote; `None` where it wrote nothing.
    pub fn write_amplification(self) -> Option<f64> {
        (self.host_written_bytes > 0)
            .then(|| self.nand_written_bytes as f64 / self.host_written_bytes as f64)
    }
}

/// A simulated drive. A copy of it is an independent drive in the same state.
#[derive(Debug, Clone)]
pub struct AnyDrive {
    kind: Kind,
    spec: DriveSpec,
    /// Bytes that the host read and wrote.
    host: (u64, u64),
}

/// What is read back of a snapshot, in the order of [`AnyDrive::state`].
pub(crate) type KeptState = (Kind, (u64, u64));

/// Bytes of one trim command: what a command's length can say, in whole units.
const TRIM_BYTES: u32 = 1 << 30;

impl AnyDrive {
    /// An erased drive of a profile.
    ///
    /// # Errors
    /// A size that the profile cannot have.
    pub fn new(profile: &Profile, size: Size, seed: u64) -> Result<Self, ProfileError> {
        Self::with_settings(profile, size, Settings::default(), seed)
    }

    /// The same with settings of its own.
    ///
    /// # Errors
    /// A size or a setting that the profile cannot have.
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
            // Drives of several profiles do not stop at one time, as they would by the seed alone.
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

    /// A run has moved so many bytes.
    pub(crate) fn count_host_bytes(&mut self, read: u64, written: u64) {
        self.host.0 += read;
        self.host.1 += written;
    }

    /// For what is done on whichever drive it is.
    pub(crate) fn kind_mut(&mut self) -> &mut Kind {
        &mut self.kind
    }

    /// What a snapshot keeps; the parts follow from profile and size.
    pub(crate) fn state(&self) -> impl Serialize + '_ {
        (&self.kind, self.host)
    }

    /// The same drive in a state that was kept; `None` if that is of a drive of another kind.
    pub(crate) fn with_state(&self, (kind, host): KeptState) -> Option<Self> {
        let alike = std::mem::discriminant(&kind) == std::mem::discriminant(&self.kind);
        let drive = Self {
            kind,
            spec: self.spec,
            host,
        };
        (alike && drive.user_bytes() == self.user_bytes()).then_some(drive)
    }

    /// The drive's parts.
    pub fn spec(&self) -> &DriveSpec {
        &self.spec
    }

    /// Bytes that can be addressed.
    pub fn user_bytes(&self) -> u64 {
        each!(&self.kind, drive => drive.user_bytes())
    }

    /// The drive's clock, ns since it was made.
    pub fn now_ns(&self) -> u64 {
        each!(&self.kind, drive => drive.now())
    }

    /// Trims a range of bytes.
    pub fn trim(&mut self, start: u64, length: u64) {
        let end = start.saturating_add(length).min(self.user_bytes());
        let mut at = start;
        while at < end {
            // Commands meet at multiples of it, so that none has half of a mapping unit.
            let whole = u64::from(TRIM_BYTES);
            let part = (end - at).min(whole - at % whole) as u32;
            each!(&mut self.kind, drive => {
                let done = drive.submit(drive.now(), Op::Trim, at, part);
                drive.wait_until(done);
            });
            at += u64::from(part);
        }
    }

    /// Whether every unit that a range touches holds data.
    pub fn holds(&self, start: u64, length: u64) -> bool {
        let end = start.saturating_add(length);
        let units = start / UNIT..end.div_ceil(UNIT);
        end <= self.user_bytes()
            && each!(&self.kind, drive => {
                drive.is_full() || units.into_iter().all(|unit| drive.holds(unit))
            })
    }

    /// Makes all written data durable; the clock goes on by what that takes.
    pub fn flush(&mut self) {
        each!(&mut self.kind, drive => {
            let done = drive.flush(drive.now());
            drive.wait_until(done);
        });
    }

    /// Submits one command, as a server does: at `now` on the drive's clock, or at the clock itself where that is later.
    /// Returns when the host sees it complete.
    ///
    /// # Panics
    /// If the range passes the end of the drive.
    pub fn submit(&mut self, now: u64, op: Op, offset: u64, length: u32) -> u64 {
        match op {
            Op::Read => self.host.0 += u64::from(length),
            Op::Write => self.host.1 += u64::from(length),
            Op::Trim => {}
        }
        each!(&mut self.kind, drive => drive.submit(now.max(drive.now()), op, offset, length))
    }

    /// Submits a flush, as [`Self::submit`] does. Returns when the host sees it done.
    pub fn submit_flush(&mut self, now: u64) -> u64 {
        each!(&mut self.kind, drive => drive.flush(now.max(drive.now())))
    }

    /// When all that was written by `at` is safe from a loss of power: what a write with FUA waits for.
    pub fn durable_at(&mut self, at: u64) -> u64 {
        each!(&mut self.kind, drive => drive.durable_at(at))
    }

    /// Lets the drive rest.
    pub fn idle(&mut self, ns: u64) {
        each!(&mut self.kind, drive => drive.wait_until(drive.now().saturating_add(ns)));
    }

    /// Lets the drive use other states of less power from now on. Returns whether it has any.
    pub fn save_power(&mut self, saving: Saving) -> bool {
        each!(&mut self.kind, drive => drive.save_power(saving))
    }

    /// The drive is at ambient temperature again, as one that has just been switched on.
    pub fn cool(&mut self) {
        each!(&mut self.kind, drive => drive.cool());
    }

    /// Erases everything, as a format does: the drive holds nothing then, and its counters go on.
    pub fn purge(&mut self) {
        each!(&mut self.kind, drive => {
            let done_ns = drive.purge(drive.now());
            drive.wait_until(done_ns);
        });
    }

    /// Places the steady state of random writes, as theory has it, without a write: prepared, not written. Returns whether that can be
    /// done of this drive; it must be erased.
    pub fn place_steady(&mut self, seed: u64) -> bool {
        each!(&mut self.kind, drive => drive.place_steady(seed))
    }

    /// What the host moved and the flash did since the drive was made.
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

    /// Share of the usable flash that holds no user data at this moment: what theory calls the spare. `None` while superblocks are
    /// left that hold nothing and that collection does not keep free, since it grows by each write until then.
    pub fn effective_spare(&self) -> Option<f64> {
        each!(&self.kind, drive => {
            let ftl = drive.ftl();
            ftl.is_in_use().then(|| ftl.effective_spare())
        })
    }

    /// Fewest and most erases of any block since the drive was made.
    pub fn wear(&self) -> (u32, u32) {
        each!(&self.kind, drive => drive.ftl().wear())
    }

    /// How the memory for the map was used, where not all of it is there.
    pub fn map_counts(&self) -> MapCounts {
        each!(&self.kind, drive => drive.map_counts())
    }

    /// Energy and heat, if the profile says anything of them.
    pub fn power(&self) -> Option<&Power> {
        each!(&self.kind, drive => drive.power())
    }
}
