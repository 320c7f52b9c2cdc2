//! Samples of a drive's state, once a second of virtual time, as a monitor polls a real drive.

use serde::Serialize;
use workload::units::SECOND_NS;

use crate::drive::Device;

/// Bytes that the host moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HostBytes {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

/// Temperature, power limit and counters at one moment of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// Time since the start of the run, in ns.
    pub at_ns: u64,
    /// Temperature in thousandths of a degree Celsius, if it is modelled.
    pub temperature_mc: Option<i64>,
    /// The power limit in force, in mW.
    pub cap_mw: Option<u64>,
    /// How often a throttle point has come into force since the drive was made.
    pub throttle_events: u64,
    /// Bytes that the host has read in this run so far.
    pub host_read_bytes: u64,
    /// Bytes that the host has written in this run so far.
    pub host_written_bytes: u64,
    /// Bytes programmed since the drive was made.
    pub nand_written_bytes: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Samples {
    taken: Vec<Sample>,
}

impl Samples {
    /// Returns when the next sample is due, since the start of the run.
    pub(crate) fn due_ns(&self) -> u64 {
        self.taken.last().map_or(SECOND_NS, |last| {
            (last.at_ns / SECOND_NS + 1).saturating_mul(SECOND_NS)
        })
    }

    /// Takes a sample for `at_ns` of the run: the drive's state after the last event before that time.
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

    /// Returns all samples, with one at the end of the run.
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
