//! The power that a simulated drive draws, in the units that people use.

use serde::Serialize;
use sim::power::{Energy, Power, Saving};

/// Source of these figures: nothing was measured.
const SOURCE: &str = "model";
const PJ_PER_J: f64 = 1e12;
const MW_PER_W: f64 = 1e3;

/// Mean power and energy between two times.
#[derive(Debug, Serialize)]
pub(crate) struct Drawn {
    mean_w: f64,
    energy_j: f64,
    source: &'static str,
}

impl Drawn {
    pub(crate) fn between(power: &Power, start_ns: u64, end_ns: u64) -> Self {
        let mean_w = power.mean_mw(start_ns, end_ns) / MW_PER_W;
        Self {
            mean_w,
            energy_j: mean_w * end_ns.saturating_sub(start_ns) as f64 / 1e9,
            source: SOURCE,
        }
    }
}

/// Power limit, temperature and energy at one moment.
#[derive(Debug, Serialize)]
pub(crate) struct PowerState {
    power_cap_w: Option<f64>,
    highest_w: f64,
    temperature_c: Option<f64>,
    throttle_events: u64,
    energy_j: ByClass,
    source: &'static str,
}

/// Energy by class since the drive was made, without the drive's constant power.
#[derive(Debug, Serialize)]
struct ByClass {
    reads: f64,
    programs: f64,
    erases: f64,
    transfers: f64,
    commands: f64,
    link: f64,
    awake: f64,
}

impl PowerState {
    pub(crate) fn of(power: &Power) -> Self {
        Self {
            power_cap_w: power.cap_mw().map(|mw| mw as f64 / MW_PER_W),
            highest_w: power.highest_mw() / MW_PER_W,
            temperature_c: power.temperature_mc().map(|mc| mc as f64 / 1e3),
            throttle_events: power.throttle_events(),
            energy_j: ByClass::of(power.energy()),
            source: SOURCE,
        }
    }
}

impl ByClass {
    fn of(energy: Energy) -> Self {
        let joules = |pj: u128| pj as f64 / PJ_PER_J;
        Self {
            reads: joules(energy.reads_pj),
            programs: joules(energy.programs_pj),
            erases: joules(energy.erases_pj),
            transfers: joules(energy.transfers_pj),
            commands: joules(energy.commands_pj),
            link: joules(energy.link_pj),
            awake: joules(energy.awake_pj),
        }
    }
}

/// Returns the low-power states that the host lets a drive use: the first `by_itself` states, or one state that the
/// drive is sent into.
pub(crate) fn saving_of(by_itself: u8, sent: Option<u8>) -> Saving {
    match (by_itself, sent) {
        (_, Some(index)) => Saving::Sent(index),
        (0, None) => Saving::Off,
        (count, None) => Saving::ByItself(count),
    }
}

/// Returns the setting as the two arguments of [`saving_of`]; `None` for a drive without low-power states.
pub(crate) fn told_of(power: Option<&Power>) -> Option<(u8, Option<u8>)> {
    power.and_then(Power::saving).map(|saving| match saving {
        Saving::Off => (0, None),
        Saving::ByItself(count) => (count, None),
        Saving::Sent(index) => (0, Some(index)),
    })
}
