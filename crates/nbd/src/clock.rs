//! The drive's clock, tied to the wall clock, and the cost of serving.

use std::time::Instant;

/// The drive's clock, which runs in step with the wall clock from a given moment on.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin: Instant,
    origin_ns: u64,
}

impl Clock {
    /// Returns a clock that starts now, at `drive_ns` on the drive's own clock.
    pub fn starting_at(drive_ns: u64) -> Self {
        Self {
            origin: Instant::now(),
            origin_ns: drive_ns,
        }
    }

    /// Returns the drive's time in ns.
    pub fn now_ns(&self) -> u64 {
        self.origin_ns + self.origin.elapsed().as_nanos() as u64
    }
}

/// Time that a command takes in addition to the drive's own time: from the client's call to the drive, and back.
///
/// A client that has nothing to do sleeps. The longer it sleeps, the longer it takes to wake, because its processor has
/// entered an idle state too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    /// Cost of a 4 KiB command after different pauses; pauses and costs rise. Never empty.
    by_pause: Vec<AfterPause>,
    /// Additional cost of each MiB of data beyond 4 KiB, in ns.
    per_mib_ns: u64,
}

/// Cost of a command whose reply comes a certain time after the previous reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AfterPause {
    /// Time from the previous reply to this one, in ns.
    pub pause_ns: u64,
    /// Cost of the command, in ns.
    pub command_ns: u64,
}

impl Cost {
    const OF_A_COMMAND: u64 = 4096;

    /// Returns a cost that does not depend on the pause; `per_mib_ns` is added for each MiB beyond 4 KiB.
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

    /// Returns measured costs: `min_ns` for the shortest pause, then `more` by rising pauses. A longer pause never costs less.
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

    /// Returns the cost of a command that moves `bytes` for a client that is awake, in ns.
    pub fn of(&self, bytes: u64) -> u64 {
        let beyond = bytes.saturating_sub(Self::OF_A_COMMAND);
        self.by_pause[0].command_ns + self.per_mib_ns * beyond / (1 << 20)
    }

    /// Returns the additional cost after a pause of `pause_ns`, in ns; interpolates linearly between measured pauses.
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

    /// Returns the costs of a 4 KiB command by pause.
    pub fn by_pause(&self) -> &[AfterPause] {
        &self.by_pause
    }

    /// Returns the additional cost of each MiB of data beyond 4 KiB, in ns.
    pub fn per_mib_ns(&self) -> u64 {
        self.per_mib_ns
    }
}
