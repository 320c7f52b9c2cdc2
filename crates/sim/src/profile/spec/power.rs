//! Power and heat.

use serde::{Deserialize, Serialize};

/// What the parts of a drive draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerSpec {
    /// Length of a window: the resolution of the power trace.
    pub window_ns: u64,
    /// Windows over which together a limit holds.
    pub limit_windows: u64,
    /// What the drive always draws, in mW.
    pub idle_mw: u64,
    /// What the controller draws beside that in a window in which anything is done, in mW.
    pub active_mw: u64,
    /// One die while it reads, in mW.
    pub read_mw: u64,
    /// One die while it programs, in mW.
    pub program_mw: u64,
    /// One die while it erases, in mW.
    pub erase_mw: u64,
    /// One unit of 4 KiB that crosses a channel, in pJ.
    pub unit_transfer_pj: u64,
    /// The controller's part in one command, in pJ.
    pub command_pj: u64,
    /// One byte that crosses the link, in pJ.
    pub link_byte_pj: u64,
    /// The limit on the drive's power, in mW; at least [`lowest_cap_mw`](Self::lowest_cap_mw) of what it draws.
    pub cap_mw: Option<u64>,
    /// How the drive gets warm, and what it does then.
    pub thermal: Option<ThermalSpec>,
    /// States of less power for when it rests, the nearest to work first; those that it has come first.
    pub rests: [Option<RestSpec>; RestSpec::MOST],
}

impl PowerSpec {
    /// The part of the power for work that a limit keeps for the credit of lighter work.
    pub const CREDIT_PART: u64 = 40;

    /// The lowest limit that holds, in mW.
    pub fn lowest_mw(&self) -> u64 {
        let die_mw = self.read_mw.max(self.program_mw).max(self.erase_mw);
        Self::lowest_cap_mw(self.idle_mw + self.active_mw, die_mw)
    }

    /// The lowest limit, in mW: beside what is always drawn and that part, one die can work.
    pub fn lowest_cap_mw(fixed_mw: u64, die_mw: u64) -> u64 {
        fixed_mw + (die_mw * Self::CREDIT_PART).div_ceil(Self::CREDIT_PART - 1)
    }
}

/// A state of less power, in which no command is worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestSpec {
    /// What the drive draws in it, in mW.
    pub mw: u64,
    /// Time to get into it.
    pub entry_ns: u64,
    /// Time to get out of it.
    pub exit_ns: u64,
    /// It goes there by itself when it has rested for so long.
    pub after_ns: u64,
}

impl RestSpec {
    /// States that a drive can have.
    pub const MOST: usize = 4;
}

/// How a drive gets warm, and what it does then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThermalSpec {
    /// Temperature around the drive, in thousandths of a degree Celsius.
    pub ambient_mc: i64,
    /// How much warmer the drive gets for each W, in thousandths of a degree.
    pub resistance_mk_per_w: i64,
    /// Time constant: after so long 63 % of a change has come.
    pub time_constant_ns: u64,
    /// Where the drive limits itself, by rising temperature.
    pub throttle: [Option<ThrottlePoint>; 3],
    /// How it limits itself the more the warmer it is.
    pub graded: Option<GradedLimit>,
}

/// A limit on power that falls evenly from one temperature to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GradedLimit {
    /// From here on there is a limit, in thousandths of a degree Celsius.
    pub from_mc: i64,
    /// The limit there, in mW.
    pub from_mw: u64,
    /// From here on it falls no further.
    pub to_mc: i64,
    /// The limit there.
    pub to_mw: u64,
}

impl GradedLimit {
    /// The limit at a temperature in thousandths of a degree, in mW.
    pub fn mw_at(&self, at_mc: i64) -> Option<u64> {
        if at_mc < self.from_mc {
            return None;
        }
        let past = (at_mc - self.from_mc) as u64;
        let all = (self.to_mc - self.from_mc) as u64;
        let falls_mw = (self.from_mw - self.to_mw) * past.min(all) / all;
        Some(self.from_mw - falls_mw)
    }
}

/// A temperature from which the drive draws no more than a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThrottlePoint {
    /// From here on, in thousandths of a degree Celsius.
    pub above_mc: i64,
    /// Until the drive is as cool as this again.
    pub until_mc: i64,
    /// The limit in mW.
    pub cap_mw: u64,
}
