//! Profiles of simulated drives: what a profile says, and what a drive made from it would be.

use pyo3::prelude::*;
use serde::Serialize;
use sim::flash::has_room;
use sim::profile::spec::{Layout, TrimRule};
use sim::profile::{Generation, PowerSetting, Settings};
use sim::{Profile, Size};

use crate::{errors, json};

/// Returns the settings of a drive; a power state takes precedence over a limit in W.
pub(crate) fn settings(
    power_w: Option<f64>,
    power_state: Option<u32>,
    honours_trim: Option<bool>,
    write_cache: Option<bool>,
) -> Settings {
    let state = power_state.map(PowerSetting::State);
    Settings {
        power: state.or(power_w.map(PowerSetting::Watts)),
        trim: honours_trim.map(|honours| {
            if honours {
                TrimRule::Honoured
            } else {
                TrimRule::Ignored
            }
        }),
        write_cache,
    }
}

/// Reads a profile, and checks that a drive of this size fits into memory.
pub(crate) fn profile_with_room(py: Python<'_>, text: &str, size: Size) -> PyResult<Profile> {
    let parsed = Profile::parse(text).and_then(|profile| Ok((profile.spec(size)?, profile)));
    let (spec, profile) = parsed.map_err(|error| errors::profile(py, &error))?;
    if has_room(spec.map_bytes()) {
        Ok(profile)
    } else {
        Err(errors::no_memory(py, spec.map_bytes()))
    }
}

/// What a drive of a profile would be at a given size and with given settings.
#[derive(Debug, Serialize)]
struct Made {
    profile: Profile,
    capacity_bytes: u64,
    logical_block_bytes: u32,
    raw_bytes: u64,
    /// `None` for a drive without garbage collection.
    superblocks: Option<u32>,
    spare: f64,
    effective_spare: f64,
    /// Whether the steady state of random writes can be placed into the erased drive.
    placeable: bool,
    /// Number of smaller blocks into which each block is cut, in addition to the scale.
    blocks_cut: u32,
    unscaled: Vec<&'static str>,
    /// Entry for the flash's generation in the table of generations, if the profile names one.
    generation: Option<&'static Generation>,
    power_cap_w: Option<f64>,
    honours_trim: bool,
    write_cache: bool,
}

/// Raise `UsageError` unless the text is a profile that allows this size and these settings. Return what the profile
/// says and what the drive would be.
#[pyfunction]
#[pyo3(signature = (
    profile_toml, *, scale = 1, spare = None, power_w = None, power_state = None, honours_trim = None, write_cache = None
))]
// The arguments of the stub, and `py`.
#[allow(clippy::too_many_arguments)]
pub(crate) fn check_profile<'py>(
    py: Python<'py>,
    profile_toml: &str,
    scale: u32,
    spare: Option<f64>,
    power_w: Option<f64>,
    power_state: Option<u32>,
    honours_trim: Option<bool>,
    write_cache: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let checked = Profile::parse(profile_toml).and_then(|profile| {
        let mut spec = profile.spec(Size { scale, spare })?;
        let settings = settings(power_w, power_state, honours_trim, write_cache);
        profile.set(&mut spec, settings)?;
        Ok((spec, profile))
    });
    let (spec, profile) = checked.map_err(|error| errors::profile(py, &error))?;
    let collected = spec.options.layout != Layout::InPlace;
    let cap_mw = spec.options.power.and_then(|power| power.cap_mw);
    let made = Made {
        capacity_bytes: spec.user_bytes,
        logical_block_bytes: spec.logical_block_bytes,
        raw_bytes: spec.geometry.raw_bytes(),
        superblocks: collected.then_some(spec.geometry.superblocks),
        spare: spec.spare(),
        effective_spare: spec.effective_spare(),
        placeable: spec.can_be_placed(),
        blocks_cut: (spec.erase_every / scale).max(1),
        unscaled: profile.unscaled(),
        generation: profile.generation(),
        power_cap_w: cap_mw.map(|mw| mw as f64 / 1e3),
        honours_trim: spec.options.trim == TrimRule::Honoured,
        write_cache: !spec.options.write_through,
        profile,
    };
    json::to_python(py, &made)
}
