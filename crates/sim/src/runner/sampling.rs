//! What a drive tells of itself while it works, once a second of its own time, as a real one is asked for it.

use serde::Serialize;
use workload::units::SECOND_NS;

use crate::drive::Device;

/// Bytes that the host moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HostBytes {
    /// Read.
    pub read_bytes: u64,
    /// Written.
    pub written_bytes: u64,
}

/// Heat and counters at one moment of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// Time since the start of the run.
    pub at_ns: u64,
    /// Temperature in thousandths of a degree Celsius, where it is modelled.
    pub temperature_mc: Option<i64>,
    /// The limit on power in force, in mW.
    pub cap_mw: Option<u64>,
    /// How often a throttle point has come into force since the drive was made.
    pub throttle_events: u64,
    /// Bytes that the host read in this run so far.
    pub host_read_bytes: u64,
    /// Bytes that the host wrote in this run so far.
    pub host_written_bytes: u64,
    /// Bytes programmed since the drive was made.
    pub nand_written_bytes: u64,
}

/// The samples of a run so far.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    taken: Vec<Sample>,
}

impl Samples {
    /// When the next one is due, since the start of the run.
    pub(crate) fn due_ns(&self) -> u64 {
        self.taken.last().map_or(SECOND_NS, |last| {
            (last.at_ns / SECOND_NS + 1).saturating_mul(SECOND_NS)
        })
    }

    /// Takes one at a time of the run: what the drive knew after the last thing that happened before it.
    pub(crate) fn take<D: Device>(&mut self, at_ns: u64, drive: &D, host: HostBytes) {
        let power = drive.power();
        self.taken.push(Sample {
            at_ns,
            temperature_mc: power.and_then(crate::power::Power::temperature_mc),
            cap_mw: power.and_then(crate::power::Power::cap_mw),
            throttle_events: power.map_or(0, crate::power::Power::throttle_events),
            host_read_bytes: host.read_bytes,
            host_written_bytes: host.written_bytes,
            nand_written_bytes: drive.nand_written_bytes(),
        });
    }

    /// All of them, with one of the end of the run.
    pub(crate) fn ended<D: Device>(
        mut self,
        at_ns: u64,
        drive: &D,
        host: HostBytes,
    ) -> Vec<Sample> {
        if self.taken.last().is_none_or(|last| last.at_ns < at_ns) {
            self.take(at_ns, drive, host);
        }
        self.taken
    }
}
