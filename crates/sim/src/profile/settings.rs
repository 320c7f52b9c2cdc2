//! User settings of a drive, beside its profile and size.

use super::making::milli;
use super::{Profile, ProfileError};
use crate::profile::spec::{DriveSpec, TrimRule};

/// Settings of one drive. `None` keeps what the profile says.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Settings {
    /// The power limit.
    pub power: Option<PowerSetting>,
    /// How the drive treats trim commands.
    pub trim: Option<TrimRule>,
    /// Whether a write completes when it is in the buffer.
    pub write_cache: Option<bool>,
}

/// A power limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PowerSetting {
    /// The limit of this power state of the profile, counted from 0.
    State(u32),
    /// A limit in W.
    Watts(f64),
}

impl Profile {
    /// Applies settings to the parts of a drive of this profile.
    ///
    /// # Errors
    /// A power limit below what the drive draws, an unknown power state, or a power limit for a profile without a power model.
    pub fn set(&self, spec: &mut DriveSpec, settings: Settings) -> Result<(), ProfileError> {
        let options = &mut spec.options;
        if let Some(trim) = settings.trim {
            options.trim = trim;
        }
        if let Some(on) = settings.write_cache {
            options.write_through = !on;
            if !on {
                options.stripe_dies = 1;
            }
        }
        if let Some(setting) = settings.power {
            let cap_mw = self.cap_mw(setting)?;
            if let Some(power) = &mut options.power {
                power.cap_mw = Some(cap_mw);
            }
        }
        Ok(())
    }

    /// Returns the power limit of a setting, in mW.
    ///
    /// # Errors
    /// As [`set`](Self::set).
    pub fn cap_mw(&self, setting: PowerSetting) -> Result<u64, ProfileError> {
        let shown = match setting {
            PowerSetting::State(state) => format!("ps{state}"),
            PowerSetting::Watts(watts) => format!("{watts} W"),
        };
        let Some(power) = &self.power else {
            let why = format!("{} has no power model to limit", self.name);
            return Err(ProfileError::new("power", shown, why));
        };
        let watts = match setting {
            PowerSetting::Watts(watts) => watts,
            PowerSetting::State(state) => {
                let states = power.states_w.as_ref().map_or(&[][..], |s| &s.value);
                *states.get(state as usize).ok_or_else(|| {
                    let why = match states.len() {
                        0 => format!("{} has no power states", self.name),
                        count => format!("{} has power states 0 to {}", self.name, count - 1),
                    };
                    ProfileError::new("power", &shown, why)
                })?
            }
        };
        power.check_cap("power", watts)?;
        Ok(milli(watts) as u64)
    }
}
