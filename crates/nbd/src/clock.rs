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
///
/// A client that has had nothing to do for a while sleeps, and the longer it slept, the longer it takes to wake: the
/// processor that it slept on has gone to rest too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    /// Of a command of 4 KiB; pauses and costs rise. Never empty.
    by_pause: Vec<AfterPause>,
    /// Of each MiB of data beyond that, ns.
    per_mib_ns: u64,
}

/// The cost of a command whose reply comes so long after the reply before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AfterPause {
    /// Time from one reply to the next, ns.
    pub pause_ns: u64,
    /// Cost, ns.
    pub command_ns: u64,
}

impl Cost {
    const OF_A_COMMAND: u64 = 4096;

    /// Always the same, and the same for every MiB beyond a command of 4 KiB.
    pub fn fixed(command_ns: u64, per_mib_ns: u64) -> Self {
        let always = AfterPause {
            pause_ns: 0,
            command_ns,
        };
        Self {
            by_pause: vec![always],
            per_mib_ns,
        }
    }

    /// As it was measured, by rising pauses; a longer pause never costs less.
    pub fn measured(min_ns: u64, more: &[AfterPause], per_mib_ns: u64) -> Self {
        let mut cost = Self::fixed(min_ns, per_mib_ns);
        cost.by_pause[0].pause_ns = min_ns;
        for point in more {
            let last = cost.by_pause[cost.by_pause.len() - 1];
            if point.pause_ns > last.pause_ns {
                let command_ns = point.command_ns.max(last.command_ns);
                cost.by_pause.push(AfterPause {
                    command_ns,
                    ..*point
                });
            }
        }
        cost
    }

    /// Of a command that moves so many bytes for a client that is awake, ns.
    pub fn of(&self, bytes: u64) -> u64 {
        let beyond = bytes.saturating_sub(Self::OF_A_COMMAND);
        self.by_pause[0].command_ns + self.per_mib_ns * beyond / (1 << 20)
    }

    /// What comes on top after so long a pause, ns; between two that were measured, in proportion.
    pub fn of_waking(&self, pause_ns: u64) -> u64 {
        let above = self
            .by_pause
            .partition_point(|point| point.pause_ns <= pause_ns);
        let min_ns = self.by_pause[0].command_ns;
        let Some(low) = above.checked_sub(1).map(|below| self.by_pause[below]) else {
            return 0;
        };
        let Some(high) = self.by_pause.get(above) else {
            return low.command_ns - min_ns;
        };
        let rise = u128::from(high.command_ns - low.command_ns);
        let part =
            rise * u128::from(pause_ns - low.pause_ns) / u128::from(high.pause_ns - low.pause_ns);
        low.command_ns - min_ns + part as u64
    }

    /// Of a command of 4 KiB by pause.
    pub fn by_pause(&self) -> &[AfterPause] {
        &self.by_pause
    }

    /// Of each MiB of data beyond 4 KiB, ns.
    pub fn per_mib_ns(&self) -> u64 {
        self.per_mib_ns
    }
}
