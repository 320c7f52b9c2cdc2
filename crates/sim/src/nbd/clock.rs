//! The drive's clock beside the wall clock, and what serving itself costs.

use std::time::Instant;

/// The drive's time as the wall clock goes: from a moment on they run side by side.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin: Instant,
    origin_ns: u64,
}

impl Clock {
    /// From now on, for a drive whose own clock says `drive_ns`.
    pub fn starting_at(drive_ns: u64) -> Self {
        Self {
            origin: Instant::now(),
            origin_ns: drive_ns,
        }
    }

    /// The drive's time, ns.
    pub fn now_ns(&self) -> u64 {
        self.origin_ns + self.origin.elapsed().as_nanos() as u64
    }
}

/// What a command takes beside the drive's own time: from the client's call to the drive and back again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// Of a command of 4 KiB, ns.
    pub command_ns: u64,
    /// Of each MiB of data beyond that, ns.
    pub mib_ns: u64,
}

impl Cost {
    const OF_A_COMMAND: u64 = 4096;

    /// Of a command that moves so many bytes, ns.
    pub fn of(&self, bytes: u64) -> u64 {
        let beyond = bytes.saturating_sub(Self::OF_A_COMMAND);
        self.command_ns + self.mib_ns * beyond / (1 << 20)
    }
}
