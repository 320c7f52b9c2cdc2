//! NAND by generation: what dies of one kind take for their operations, whatever drive they are in.
//!
//! A profile names the generation of its flash (`flash.nand`), and its program time and bus must be within
//! [`TOLERANCE`] of the table's: dies of one kind differ by bin, firmware and age, and not by more.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::check::Check;
use super::{Flash, Profile, ProfileError};

/// How far a profile may be from the table.
pub const TOLERANCE: f64 = 0.3;

/// Dies of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generation {
    /// By which a profile names it.
    pub name: String,
    /// Maker, process and cells.
    pub about: String,
    /// Bits of a cell.
    pub bits_per_cell: u32,
    /// Planes of the dies in drives.
    pub planes: u32,
    /// Page of a plane, in KiB.
    pub page_kib: u32,
    /// Array read, mean over the page types, in us.
    pub read_us: f64,
    /// Passes in which a word line is programmed.
    pub passes: u32,
    /// One pass over a word line of all planes, in us.
    pub pass_us: f64,
    /// Pulses of a pass, each with its verify.
    pub pulses: u32,
    /// Erase of a block of all planes, in ms.
    pub erase_ms: f64,
    /// Transfers a second on the bus, in millions.
    pub bus_mt_s: f64,
    /// Supply of the array, in V.
    pub vcc_v: f64,
    /// Current of one die that reads, all planes together, in mA.
    pub read_ma: f64,
    /// Current of one die that programs, all planes together, in mA.
    pub program_ma: f64,
    /// Current of one die that erases, all planes together, in mA.
    pub erase_ma: f64,
    /// Where these come from.
    pub source: String,
}

impl Generation {
    /// Program of a word line with all its passes, in us.
    pub fn program_us(&self) -> f64 {
        self.pass_us * f64::from(self.passes)
    }

    /// A pulse with its verify, in us.
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

/// All generations that a profile can name.
pub fn generations() -> &'static [Generation] {
    &GENERATIONS
}

impl Profile {
    /// The generation of its flash, if it names one that there is.
    pub fn generation(&self) -> Option<&'static Generation> {
        self.flash.as_ref()?.generation().ok()?
    }
}

impl Flash {
    /// The generation that its dies are of, if it names one.
    ///
    /// # Errors
    /// There is none of that name.
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

    /// Checks the flash against its generation.
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
