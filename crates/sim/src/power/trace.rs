//! The energy of a drive over time: open windows, which can still gain energy, and closed ones.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Consecutive windows that hold equal energy, or that are so old that only their sum is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) first: u64,
    pub(crate) windows: u64,
    pub(crate) all_pj: u128,
}

impl Run {
    /// Energy of the part between two times, in pJ.
    fn pj_between(&self, window_ns: u64, from_ns: u64, to_ns: u64) -> f64 {
        let start = (self.first * window_ns).max(from_ns);
        let end = ((self.first + self.windows) * window_ns).min(to_ns);
        let share = end.saturating_sub(start) as f64 / (self.windows * window_ns) as f64;
        share * self.all_pj as f64
    }
}

/// Closed runs that are kept apart. Beyond this number each two neighbours are merged, so that memory stays bounded when a
/// drive works for weeks. Sums stay exact.
pub(crate) const MAX_RUNS: usize = 1 << 18;

/// Energy by window, without the idle power.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Trace {
    window_ns: u64,
    /// Windows that can still gain energy; the first is number `first_open`.
    open: VecDeque<u64>,
    first_open: u64,
    closed: Vec<Run>,
}

impl Trace {
    pub(crate) fn new(window_ns: u64) -> Self {
        Self {
            window_ns,
            open: VecDeque::new(),
            first_open: 0,
            closed: Vec::new(),
        }
    }

    /// Returns the energy between two times, in pJ. A window that lies only partly between them counts in proportion.
    pub(crate) fn pj_between(&self, from_ns: u64, to_ns: u64) -> f64 {
        self.runs_from(from_ns / self.window_ns)
            .take_while(|run| run.first * self.window_ns < to_ns)
            .map(|run| run.pj_between(self.window_ns, from_ns, to_ns))
            .sum()
    }

    /// Yields the runs in order of time, without those that end before `window`.
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

    #[cfg(test)]
    pub(crate) fn stretches(&self) -> usize {
        self.closed.len()
    }

    /// Returns when the first open window ends, in ns.
    #[inline]
    pub(crate) fn first_open_end_ns(&self) -> u64 {
        (self.first_open + 1) * self.window_ns
    }

    /// Closes the first open window, or all windows before `window` if none of them holds energy. Returns how many it closed
    /// and the energy of each; `None` if all windows before `window` were closed.
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

    /// Merges each two neighbours.
    #[cold]
    fn halve(&mut self) {
        let pairs = self.closed.chunks(2).map(|pair| Run {
            first: pair[0].first,
            windows: pair.iter().map(|run| run.windows).sum(),
            all_pj: pair.iter().map(|run| run.all_pj).sum(),
        });
        self.closed = pairs.collect();
    }

    /// Returns the number of the first open window, and the energy of that window and all later ones.
    pub(crate) fn open(&self) -> (u64, impl Iterator<Item = u64> + '_) {
        (self.first_open, self.open.iter().copied())
    }

    /// Returns the energy of a window so far; for a closed window, that of the first open one.
    pub(crate) fn used_pj(&self, window: u64) -> u64 {
        let index = window.saturating_sub(self.first_open) as usize;
        self.open.get(index).copied().unwrap_or(0)
    }

    /// Adds energy to a window. Energy for a closed window goes to the first open one.
    pub(crate) fn put(&mut self, window: u64, pj: u64) {
        let index = window.saturating_sub(self.first_open) as usize;
        if index >= self.open.len() {
            self.open.resize(index + 1, 0);
        }
        self.open[index] += pj;
    }
}
