//! How a drive's energy spreads over time: windows that can still get some, and those that are closed.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Windows one after another: they hold the same energy, or are so long past that only their sum is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) first: u64,
    pub(crate) windows: u64,
    pub(crate) all_pj: u128,
}

impl Run {
    /// Energy in the part of it that lies between two times, in pJ.
    fn pj_between(&self, window_ns: u64, from_ns: u64, to_ns: u64) -> f64 {
        let start = (self.first * window_ns).max(from_ns);
        let end = ((self.first + self.windows) * window_ns).min(to_ns);
        let share = end.saturating_sub(start) as f64 / (self.windows * window_ns) as f64;
        share * self.all_pj as f64
    }
}

/// Runs that are kept apart. Beyond that each two neighbours become one, so that a drive that works for weeks needs no more
/// memory; their sum stays exact.
pub(crate) const MAX_RUNS: usize = 1 << 18;

/// Energy by windows of time, without what is always drawn.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Trace {
    window_ns: u64,
    /// Windows that can still get energy; the first is number `first_open`.
    open: VecDeque<u64>,
    first_open: u64,
    closed: Vec<Run>,
}

impl Trace {
    /// Nothing used yet, at time zero.
    pub(crate) fn new(window_ns: u64) -> Self {
        Self {
            window_ns,
            open: VecDeque::new(),
            first_open: 0,
            closed: Vec::new(),
        }
    }

    /// Energy between two times in pJ. Where a time lies within a window, the window counts in proportion.
    pub(crate) fn pj_between(&self, from_ns: u64, to_ns: u64) -> f64 {
        self.runs_from(from_ns / self.window_ns)
            .take_while(|run| run.first * self.window_ns < to_ns)
            .map(|run| run.pj_between(self.window_ns, from_ns, to_ns))
            .sum()
    }

    /// Runs in order, without those that end before a window.
    pub(crate) fn runs_from(&self, window: u64) -> impl Iterator<Item = Run> + '_ {
        let past = |run: &Run| run.first + run.windows <= window;
        let kept = &self.closed[self.closed.partition_point(past)..];
        let open = self.open.iter().zip(self.first_open..);
        kept.iter().copied().chain(open.map(|(&pj, first)| Run {
            first,
            windows: 1,
            all_pj: pj.into(),
        }))
    }

    /// Runs of closed windows.
    #[cfg(test)]
    pub(crate) fn stretches(&self) -> usize {
        self.closed.len()
    }

    /// When the first window ends that can still get energy.
    #[inline]
    pub(crate) fn first_open_end_ns(&self) -> u64 {
        (self.first_open + 1) * self.window_ns
    }

    /// Closes the first open window, or all of those before `window` if none of them holds anything. Returns how many, and the
    /// energy of each; `None` when all before `window` are closed.
    pub(crate) fn close_before(&mut self, window: u64) -> Option<(u64, u64)> {
        let left = window
            .checked_sub(self.first_open)
            .filter(|&left| left > 0)?;
        let (windows, each_pj) = self
            .open
            .pop_front()
            .map_or((left, 0), |each_pj| (1, each_pj));
        self.close(windows, each_pj);
        Some((windows, each_pj))
    }

    fn close(&mut self, windows: u64, each_pj: u64) {
        let (first, all_pj) = (self.first_open, u128::from(windows) * u128::from(each_pj));
        match self.closed.last_mut() {
            Some(run)
                if run.first + run.windows == first
                    && run.all_pj == u128::from(run.windows) * u128::from(each_pj) =>
            {
                run.windows += windows;
                run.all_pj += all_pj;
            }
            _ => self.closed.push(Run {
                first,
                windows,
                all_pj,
            }),
        }
        if self.closed.len() > MAX_RUNS {
            self.halve();
        }
        self.first_open += windows;
    }

    /// Makes one run of each two neighbours.
    #[cold]
    fn halve(&mut self) {
        let pairs = self.closed.chunks(2).map(|pair| Run {
            first: pair[0].first,
            windows: pair.iter().map(|run| run.windows).sum(),
            all_pj: pair.iter().map(|run| run.all_pj).sum(),
        });
        self.closed = pairs.collect();
    }

    /// The number of the first window that can still get energy, and what that and those behind it hold.
    pub(crate) fn open(&self) -> (u64, impl Iterator<Item = u64> + '_) {
        (self.first_open, self.open.iter().copied())
    }

    /// Energy that a window holds so far; if it is closed, that of the first that is open.
    pub(crate) fn used_pj(&self, window: u64) -> u64 {
        let index = window.saturating_sub(self.first_open) as usize;
        self.open.get(index).copied().unwrap_or(0)
    }

    /// Adds energy to a window; what comes late for it goes to the first that is open.
    pub(crate) fn put(&mut self, window: u64, pj: u64) {
        let index = window.saturating_sub(self.first_open) as usize;
        if index >= self.open.len() {
            self.open.resize(index + 1, 0);
        }
        self.open[index] += pj;
    }
}
