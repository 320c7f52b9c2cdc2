//! Power and heat.

use serde::{Deserialize, Serialize};

/// Power and energy of the parts of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerSpec {
    /// Length of a window, which is the resolution of the power trace, in ns.
    pub window_ns: u64,
    /// Consecutive windows over which a limit holds.
    pub limit_windows: u64,
    /// Power that the drive always draws, in mW.
    pub idle_mw: u64,
    /// Additional power of the controller in a window with any work, in mW.
    pub active_mw: u64,
    /// Power of one die during an array read, in mW.
    pub read_mw: u64,
    /// Power of one die during a program, in mW.
    pub program_mw: u64,
    /// Power of one die during an erase, in mW.
    pub erase_mw: u64,
    /// Energy to transfer one unit of 4 KiB over a channel, in pJ.
    pub unit_transfer_pj: u64,
    /// Energy of the controller for one command, in pJ.
    pub command_pj: u64,
    /// Energy of one byte on the link, in pJ.
    pub link_byte_pj: u64,
    /// The power limit in mW; must be at least [`lowest_cap_mw`](Self::lowest_cap_mw).
    pub cap_mw: Option<u64>,
    /// How the drive heats up, and how it then limits itself.
    pub thermal: Option<ThermalSpec>,
    /// Low-power states of a resting drive, shallowest first; unused places are last.
    pub rests: [Option<RestSpec>; RestSpec::MOST],
}

impl PowerSpec {
    /// One part in this many of the power for work is kept back, for credit from lighter work.
    pub const CREDIT_PART: u64 = 40;

    /// Returns the lowest possible limit, in mW: it leaves power for one die beside the fixed power and the part kept back.
    pub fn lowest_cap_mw(fixed_mw: u64, die_mw: u64) -> u64 {
        fixed_mw + (die_mw * Self::CREDIT_PART).div_ceil(Self::CREDIT_PART - 1)
    }
}

/// A low-power state, in which no command is processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestSpec {
    /// Power of the drive in this state, in mW.
    pub mw: u64,
    /// Time to enter the state, in ns.
    pub entry_ns: u64,
    /// Time to leave the state, in ns.
    pub exit_ns: u64,
    /// Idle time after which the drive enters the state by itself, in ns.
    pub after_ns: u64,
}

impl RestSpec {
    /// Most states of a drive.
    pub const MOST: usize = 4;
}

/// How a drive heats up, and how it then limits itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThermalSpec {
    /// Ambient temperature, in thousandths of a degree Celsius.
    pub ambient_mc: i64,
    /// Temperature rise for each W, in thousandths of a degree.
    pub resistance_mk_per_w: i64,
    /// Time until 63 % of a temperature change has happened, in ns.
    pub time_constant_ns: u64,
    /// Temperatures at which the drive limits itself, rising.
    pub throttle: [Option<ThrottlePoint>; 3],
    /// A limit that falls gradually with temperature.
    pub graded: Option<GradedLimit>,
}

/// A power limit that falls linearly between two temperatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GradedLimit {
    /// Temperature from which there is a limit, in thousandths of a degree Celsius.
    pub from_mc: i64,
    /// The limit at `from_mc`, in mW.
    pub from_mw: u64,
    /// Temperature from which the limit falls no further, in thousandths of a degree Celsius.
    pub to_mc: i64,
    /// The limit at `to_mc` and above, in mW.
    pub to_mw: u64,
}

impl GradedLimit {
    /// Returns the limit at a temperature in thousandths of a degree Celsius, in mW; `None` below `from_mc`.
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

/// A temperature from which the drive limits itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThrottlePoint {
    /// Temperature at which throttling starts, in thousandths of a degree Celsius.
    pub above_mc: i64,
    /// Temperature below which throttling ends, in thousandths of a degree Celsius.
    pub until_mc: i64,
    /// The limit while it throttles, in mW.
    pub cap_mw: u64,
}
