//! NAND generations: operation times of one kind of die, whatever drive it is in.
//!
//! A profile names the generation of its flash (`flash.nand`). Its program time and bus rate must be within [`TOLERANCE`] of
//! the table: dies of one kind differ by bin, firmware and age, but not by more.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::check::Check;
use super::{Flash, Profile, ProfileError};

/// Largest deviation of a profile from the table, as a share.
pub const TOLERANCE: f64 = 0.3;

/// One kind of die.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generation {
    /// The name that profiles use.
    pub name: String,
    /// Maker, process and cell type.
    pub about: String,
    /// Bits per cell.
    pub bits_per_cell: u32,
    /// Planes of the dies that drives use.
    pub planes: u32,
    /// Page size of a plane, in KiB.
    pub page_kib: u32,
    /// Array read time, mean over the page types, in us.
    pub read_us: f64,
    /// Passes to program a word line.
    pub passes: u32,
    /// Time of one pass over a word line of all planes, in us.
    pub pass_us: f64,
    /// Pulses of a pass, each with its verify.
    pub pulses: u32,
    /// Time to erase a block of all planes, in ms.
    pub erase_ms: f64,
    /// Transfers per second on the bus, in millions.
    pub bus_mt_s: f64,
    /// Supply voltage of the array, in V.
    pub vcc_v: f64,
    /// Current of one die during an array read of all planes, in mA.
    pub read_ma: f64,
    /// Current of one die during a program of all planes, in mA.
    pub program_ma: f64,
    /// Current of one die during an erase of all planes, in mA.
    pub erase_ma: f64,
    /// Sources of these figures.
    pub source: String,
}

impl Generation {
    /// Returns the time to program a word line in all its passes, in us.
    pub fn program_us(&self) -> f64 {
        self.pass_us * f64::from(self.passes)
    }

    /// Returns the time of one pulse with its verify, in us.
    pub fn pulse_us(&self) -> f64 {
        self.pass_us / f64::from(self.pulses)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    generation: Vec<Generation>,
}

static GENERATIONS: LazyLock<Vec<Generation>> = LazyLock::new(|| {
    let table: Table =
        toml::from_str(include_str!("generations.toml")).expect("the table is checked by a test");
    table.generation
});

/// Returns all generations that a profile can name.
pub fn generations() -> &'static [Generation] {
    &GENERATIONS
}

impl Profile {
    /// Returns the generation of the flash; `None` if the profile names none, or one that is unknown.
    pub fn generation(&self) -> Option<&'static Generation> {
        self.flash.as_ref()?.generation().ok()?
    }
}

impl Flash {
    /// Returns the generation of the dies, if the profile names one.
    ///
    /// # Errors
    /// The name is unknown.
    pub fn generation(&self) -> Result<Option<&'static Generation>, ProfileError> {
        let Some(name) = self.nand.as_ref().map(|nand| nand.value.as_str()) else {
            return Ok(None);
        };
        let found = GENERATIONS.iter().find(|each| each.name == name);
        found.map(Some).ok_or_else(|| {
            let known: Vec<&str> = GENERATIONS.iter().map(|g| g.name.as_str()).collect();
            let why = format!("no generation of that name; there are {}", known.join(", "));
            ProfileError::new("flash.nand", name, why)
        })
    }

    pub(super) fn check_generation(&self) -> Check {
        let Some(generation) = self.generation()? else {
            return Ok(());
        };
        let name = &generation.name;
        if self.bits_per_cell.value != generation.bits_per_cell {
            let why = format!("{name} has {}", generation.bits_per_cell);
            let bits = self.bits_per_cell.value;
            return Err(ProfileError::new("flash.bits_per_cell", bits, why));
        }
        let near = |field, value: f64, table: f64, unit: &str| {
            if (value / table - 1.0).abs() <= TOLERANCE + 1e-9 {
                return Ok(());
            }
            let why = format!("more than 30 % from the {table} {unit} of flash.nand = {name}");
            Err(ProfileError::new(field, value, why))
        };
        near(
            "flash.program_us",
            self.program_us.value,
            generation.program_us(),
            "us",
        )?;
        if let Some(pulse) = &self.pulse_us {
            near("flash.pulse_us", pulse.value, generation.pulse_us(), "us")?;
        }
        near(
            "flash.bus_mt_s",
            self.bus_mt_s.value,
            generation.bus_mt_s,
            "MT/s",
        )
    }
}
