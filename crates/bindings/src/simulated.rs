//! Simulated drives: made from a profile, run like real drives, and copied, which real drives cannot be.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use engine::{Control, Phase, Ruling};
use metrics::{LogWriter, Row};
use pyo3::prelude::*;
use serde::Serialize;
use sim::drive::Counters;
use sim::runner::Progress;
use sim::snapshot;
use sim::{AnyDrive, Options, Owner, Profile, Size};

use crate::measurement::Measurement;
use crate::power::{Drawn, PowerState, saving_of, told_of};
use crate::profiles::{profile_with_room, settings};
use crate::run::{Nudge, Watch, conclude, log_header};
use crate::{errors, json, simulated_state, workloads};

/// A simulated drive.
#[pyclass(frozen, module = "ssdlab._core")]
#[derive(Debug)]
pub(crate) struct SimulatedDrive {
    profile: Arc<Profile>,
    scale: u32,
    seed: u64,
    capacity_bytes: u64,
    logical_block_bytes: u32,
    /// Locked as long as a run takes.
    drive: Arc<Mutex<AnyDrive>>,
}

/// The state of a simulated drive at one moment.
#[pyclass(frozen, module = "ssdlab._core")]
#[derive(Debug)]
pub(crate) struct SimulatedState {
    profile: Arc<Profile>,
    drive: AnyDrive,
}

/// All counters of a drive.
#[derive(Debug, Serialize)]
struct Counts {
    host_bytes_read: u64,
    host_bytes_written: u64,
    nand_bytes_written: u64,
    moved_bytes: u64,
    cached_bytes: u64,
    folded_bytes: u64,
    map_bytes: u64,
    parity_bytes: u64,
    write_amplification: Option<f64>,
    erases: u64,
    effective_spare: Option<f64>,
}

impl Counts {
    fn new(counters: Counters, effective_spare: Option<f64>) -> Self {
        Self {
            host_bytes_read: counters.host_read_bytes,
            host_bytes_written: counters.host_written_bytes,
            nand_bytes_written: counters.nand_written_bytes,
            moved_bytes: counters.moved_bytes,
            cached_bytes: counters.cached_bytes,
            folded_bytes: counters.folded_bytes,
            map_bytes: counters.map_bytes,
            parity_bytes: counters.parity_bytes,
            write_amplification: counters.write_amplification(),
            erases: counters.erases,
            effective_spare,
        }
    }
}

/// The run's side of the control that the waiting side holds.
struct Reins<'a> {
    control: &'a Control,
    nudge: &'a Nudge,
}

impl Owner for Reins<'_> {
    fn wants_end(&mut self) -> bool {
        self.control.is_stopping()
    }

    fn closed(&mut self, progress: &Progress, rows: Vec<Row>) -> Option<u64> {
        let phase = match () {
            () if progress.draining => Phase::Draining,
            () if progress.ramp => Phase::Ramp,
            () => Phase::Measuring,
        };
        let shown = engine::Progress {
            phase,
            elapsed_ns: progress.elapsed_ns,
            counts: progress.counts,
            last_row: progress.last_row.clone(),
        };
        self.control.show(shown, rows);
        if self.control.ruling() == Ruling::Open {
            // Fails only if nobody waits any more.
            let _ = self.nudge.send(());
        }
        match self.control.await_ruling() {
            Ruling::LastRow(row) => Some(row),
            Ruling::Open | Ruling::GoOn => None,
        }
    }
}

impl SimulatedDrive {
    fn idle_drive(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, AnyDrive>> {
        match self.drive.try_lock() {
            Ok(drive) => Ok(drive),
            // A run that panicked has left the drive between two I/Os.
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(errors::busy(py, &self.profile.name)),
        }
    }

    /// Returns the drive itself, for a server.
    pub(crate) fn shared(&self) -> Arc<Mutex<AnyDrive>> {
        Arc::clone(&self.drive)
    }

    fn holding(&self, drive: AnyDrive) -> Self {
        Self {
            profile: Arc::clone(&self.profile),
            drive: Arc::new(Mutex::new(drive)),
            ..*self
        }
    }
}

#[pymethods]
impl SimulatedDrive {
    #[new]
    #[pyo3(signature = (
        profile_toml, *, scale = 1, spare = None, power_w = None, power_state = None, honours_trim = None,
        write_cache = None, seed = 1
    ))]
    // The arguments of the stub, and `py`.
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        profile_toml: &str,
        scale: u32,
        spare: Option<f64>,
        power_w: Option<f64>,
        power_state: Option<u32>,
        honours_trim: Option<bool>,
        write_cache: Option<bool>,
        seed: u64,
    ) -> PyResult<Self> {
        let settings = settings(power_w, power_state, honours_trim, write_cache);
        let size = Size { scale, spare };
        let profile = profile_with_room(py, profile_toml, size)?;
        let made = py.detach(|| AnyDrive::with_settings(&profile, size, settings, seed));
        let drive = made.map_err(|error| errors::profile(py, &error))?;
        Ok(Self {
            profile: Arc::new(profile),
            scale,
            seed,
            capacity_bytes: drive.user_bytes(),
            logical_block_bytes: drive.spec().logical_block_bytes,
            drive: Arc::new(Mutex::new(drive)),
        })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.profile.name
    }

    #[getter]
    fn scale(&self) -> u32 {
        self.scale
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.seed
    }

    #[getter]
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    #[getter]
    fn logical_block_bytes(&self) -> u32 {
        self.logical_block_bytes
    }

    /// Figures of the profile that do not shrink with the scale.
    #[getter]
    fn unscaled(&self) -> Vec<&'static str> {
        self.profile.unscaled()
    }

    /// Number of smaller blocks into which each block is cut, in addition to the scale.
    #[getter]
    fn blocks_cut(&self, py: Python<'_>) -> PyResult<u32> {
        Ok((self.idle_drive(py)?.spec().erase_every / self.scale).max(1))
    }

    /// Return mean power and energy between two times on the drive's clock, and their source; None without a power model.
    fn power<'py>(
        &self,
        py: Python<'py>,
        start_ns: u64,
        end_ns: u64,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let drawn = self
            .idle_drive(py)?
            .power()
            .map(|power| Drawn::between(power, start_ns, end_ns));
        drawn.map(|drawn| json::to_python(py, &drawn)).transpose()
    }

    /// Return power limit, temperature and energy by class now; None without a power model.
    fn power_state<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let state = self.idle_drive(py)?.power().map(PowerState::of);
        state.map(|state| json::to_python(py, &state)).transpose()
    }

    /// Time on the drive's own clock.
    #[getter]
    fn now_ns(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.idle_drive(py)?.now_ns())
    }

    /// Run a workload to its end in the drive's own time, and return what was measured.
    #[pyo3(signature = (
        workload_json, *, log_path = None, keep_interval_histograms = false, on_tick = None, until = None, header = None
    ))]
    // The arguments of the stub, and `py`.
    #[allow(clippy::too_many_arguments)]
    fn run(
        &self,
        py: Python<'_>,
        workload_json: &str,
        log_path: Option<PathBuf>,
        keep_interval_histograms: bool,
        on_tick: Option<Bound<'_, PyAny>>,
        until: Option<Bound<'_, PyAny>>,
        header: Option<&str>,
    ) -> PyResult<Measurement> {
        let workload = workloads::parse(py, workload_json)?;
        drop(self.idle_drive(py)?);
        let header = log_header(&workload, header)?;
        let log = log_path
            .map(LogWriter::create)
            .transpose()
            .map_err(|error| errors::log(py, &error))?;
        let options = Options {
            log,
            header,
            keep_interval_histograms,
        };
        let watch = Watch::new(py, &workload, on_tick, until, None);
        let (drive, asked) = (Arc::clone(&self.drive), workload.clone());
        let (watched, ended) = watch.over(py, move |control, nudge| {
            let mut drive = drive
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            drive.run(&asked, &mut Reins { control, nudge }, options)
        })?;
        let outcome = ended.map_err(|message| errors::panicked(py, &message))?;
        let failure = outcome
            .as_ref()
            .err()
            .map(|error| errors::simulation(py, error, &self.profile.name));
        let measured = match outcome {
            Ok(outcome) => Some(outcome),
            Err(error) => error.into_measured(),
        };
        let measurement = measured
            .map(|outcome| {
                let (measurement, cursors) = (outcome.measurement, outcome.cursors);
                Measurement::new(py, measurement, Some(workload), cursors)
                    .map(|measured| measured.with_samples(outcome.samples))
            })
            .transpose()?;
        conclude(py, watched, failure, measurement)
    }

    /// Discard a range.
    fn trim(&self, py: Python<'_>, offset: u64, length: u64) -> PyResult<()> {
        let mut drive = self.idle_drive(py)?;
        let drive = &mut *drive;
        py.detach(|| drive.trim(offset, length));
        Ok(())
    }

    /// Return whether every byte of a range holds data.
    fn written(&self, py: Python<'_>, offset: u64, length: u64) -> PyResult<bool> {
        Ok(self.idle_drive(py)?.holds(offset, length))
    }

    /// Make all written data durable.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.idle_drive(py)?.flush();
        Ok(())
    }

    /// Erase everything, as a format does.
    fn purge(&self, py: Python<'_>) -> PyResult<()> {
        let mut drive = self.idle_drive(py)?;
        let drive = &mut *drive;
        py.detach(|| drive.purge());
        Ok(())
    }

    /// Place the steady state of random writes into the erased drive; return whether the drive allows that.
    fn place_steady(&self, py: Python<'_>) -> PyResult<bool> {
        let mut drive = self.idle_drive(py)?;
        let (drive, seed) = (&mut *drive, self.seed);
        Ok(py.detach(|| drive.place_steady(seed)))
    }

    /// Let the drive idle for `ns` nanoseconds.
    fn idle(&self, py: Python<'_>, ns: u64) -> PyResult<()> {
        self.idle_drive(py)?.idle(ns);
        Ok(())
    }

    /// Let the drive use its first `by_itself` low-power states by itself, or send it into one now. Return whether it has any.
    #[pyo3(signature = (by_itself, *, sent = None))]
    fn save_power(&self, py: Python<'_>, by_itself: u8, sent: Option<u8>) -> PyResult<bool> {
        Ok(self.idle_drive(py)?.save_power(saving_of(by_itself, sent)))
    }

    /// Return how many low-power states the drive may use by itself, and the index of the state that it was sent into.
    /// None for a drive without such states.
    fn saves_power(&self, py: Python<'_>) -> PyResult<Option<(u8, Option<u8>)>> {
        Ok(told_of(self.idle_drive(py)?.power()))
    }

    /// Bring the drive to ambient temperature, as after it was switched on.
    fn cool(&self, py: Python<'_>) -> PyResult<()> {
        self.idle_drive(py)?.cool();
        Ok(())
    }

    /// Return what the host transferred and what the flash did since the drive was made.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let drive = self.idle_drive(py)?;
        let counts = Counts::new(drive.counters(), drive.effective_spare());
        drop(drive);
        json::to_python(py, &counts)
    }

    /// Return a copy of the drive's current state.
    fn snapshot(&self, py: Python<'_>) -> PyResult<SimulatedState> {
        let drive = self.idle_drive(py)?;
        let copy = py.detach(|| drive.clone());
        Ok(SimulatedState {
            profile: Arc::clone(&self.profile),
            drive: copy,
        })
    }

    /// Go back to a state that `snapshot` returned.
    fn restore(&self, py: Python<'_>, state: &SimulatedState) -> PyResult<()> {
        let mut drive = self.idle_drive(py)?;
        if !Arc::ptr_eq(&self.profile, &state.profile)
            || drive.user_bytes() != state.drive.user_bytes()
        {
            return Err(errors::foreign_state(py, &self.profile.name));
        }
        let drive = &mut *drive;
        py.detach(|| drive.clone_from(&state.drive));
        Ok(())
    }

    /// Return a short text that identifies the drive's current state.
    fn digest(&self, py: Python<'_>) -> PyResult<String> {
        let drive = self.idle_drive(py)?;
        let drive = &*drive;
        Ok(py.detach(|| snapshot::digest(drive)))
    }

    /// Write the state into a new file, durably.
    // Python passes arguments by value.
    #[allow(clippy::needless_pass_by_value)]
    fn save_state(
        &self,
        py: Python<'_>,
        path: PathBuf,
        identity: BTreeMap<String, String>,
    ) -> PyResult<()> {
        simulated_state::save(py, &*self.idle_drive(py)?, &path, &identity)
    }

    /// Load a state that was saved.
    // Python passes arguments by value.
    #[allow(clippy::needless_pass_by_value)]
    fn load_state(
        &self,
        py: Python<'_>,
        path: PathBuf,
        identity: BTreeMap<String, String>,
    ) -> PyResult<()> {
        let mut drive = self.idle_drive(py)?;
        *drive = simulated_state::load(py, &drive, &path, &identity)?;
        Ok(())
    }

    /// Return a copy of this drive in its current state; the two are independent from then on.
    fn fork(&self, py: Python<'_>) -> PyResult<Self> {
        let drive = self.idle_drive(py)?;
        let copy = py.detach(|| drive.clone());
        drop(drive);
        Ok(self.holding(copy))
    }

    /// Return an independent drive in a state of this one; they share memory until one of them changes.
    fn begun_from(&self, py: Python<'_>, state: &SimulatedState) -> PyResult<Self> {
        if !Arc::ptr_eq(&self.profile, &state.profile)
            || self.capacity_bytes != state.drive.user_bytes()
        {
            return Err(errors::foreign_state(py, &self.profile.name));
        }
        let copy = py.detach(|| state.drive.clone());
        Ok(self.holding(copy))
    }

    /// Swap states with another drive of the same profile.
    fn adopt(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        if !Arc::ptr_eq(&self.profile, &other.profile)
            || self.capacity_bytes != other.capacity_bytes
        {
            return Err(errors::foreign_state(py, &self.profile.name));
        }
        let (mut drive, mut copy) = (self.idle_drive(py)?, other.idle_drive(py)?);
        std::mem::swap(&mut *drive, &mut *copy);
        Ok(())
    }

    fn __repr__(&self) -> String {
        format!(
            "SimulatedDrive({:?}, scale={}, seed={})",
            self.profile.name, self.scale, self.seed
        )
    }
}
