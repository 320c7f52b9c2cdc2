//! What the user sets of a drive besides its profile and size.

use super::making::milli;
use super::{Profile, ProfileError};
use crate::profile::spec::{DriveSpec, TrimRule};

/// Settings of one drive; what is `None` is as the profile says.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Settings {
    /// The limit on its power.
    pub power: Option<PowerSetting>,
    /// What becomes of trim commands.
    pub trim: Option<TrimRule>,
    /// Whether a write is complete when it is in the buffer.
    pub write_cache: Option<bool>,
}

/// A limit on power.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PowerSetting {
    /// That of the profile's power state of this number, from 0.
    State(u32),
    /// So many W.
    Watts(f64),
}

impl Profile {
    /// Sets a drive of this profile.
    ///
    /// # Errors
    /// A limit on power below what the drive draws, a state that it does not have, or a limit where nothing is known of power.
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

    /// What the drive is limited to by a setting, in mW.
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
