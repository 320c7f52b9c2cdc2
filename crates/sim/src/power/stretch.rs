//! The stretches of time over which a limit on power holds. One begins when the last ends, when the limit comes into force, and when
//! work begins after a rest: what was not used then is not there for more work later.

use serde::{Deserialize, Serialize};

/// So many windows each, one stretch after another since the first of them began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stretches {
    begun: u64,
    windows: u64,
}

impl Stretches {
    /// The first begins with window `begun`.
    pub(crate) fn new(begun: u64, windows: u64) -> Self {
        Self { begun, windows }
    }

    /// Windows of each.
    pub(crate) fn windows(&self) -> u64 {
        self.windows
    }

    /// The first window of the stretch that a window lies in.
    pub(crate) fn first(&self, window: u64) -> u64 {
        let since = window.saturating_sub(self.begun);
        self.begun + since / self.windows * self.windows
    }

    /// The first window behind the stretch that a window lies in.
    pub(crate) fn end(&self, window: u64) -> u64 {
        self.first(window) + self.windows
    }
}

/// What the stretch that is not over holds, and the most that one held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StretchMeter {
    /// In its windows that are over, in pJ.
    over_pj: u64,
    /// So many of those.
    windows: u64,
    /// The most that a whole stretch held, in pJ.
    most_pj: Option<u64>,
}

impl StretchMeter {
    /// Stretches begin anew.
    pub(crate) fn begin(&mut self) {
        (self.over_pj, self.windows) = (0, 0);
    }

    /// The drive rests, and after that they begin anew: the stretch ends in the rest.
    pub(crate) fn rest(&mut self) {
        self.most_pj = self.most_pj.max(Some(self.over_pj));
        self.begin();
    }

    /// So many windows from number `first` on are over, each with so much energy.
    pub(crate) fn pass(&mut self, stretches: Stretches, first: u64, windows: u64, each_pj: u64) {
        let (mut window, end) = (first, first + windows);
        while window < end {
            let stretch_end = stretches.end(window);
            let part = end.min(stretch_end) - window;
            self.over_pj += part * each_pj;
            self.windows += part;
            window += part;
            if window == stretch_end {
                self.most_pj = self.most_pj.max(Some(self.over_pj));
                self.begin();
                // Whole stretches of the same hold the same.
                let whole = (end - window) / stretches.windows * stretches.windows;
                if whole > 0 {
                    self.most_pj = self.most_pj.max(Some(stretches.windows * each_pj));
                }
                window += whole;
            }
        }
    }

    /// The highest mean of a whole stretch in pJ for each window; before one is over the mean so far.
    pub(crate) fn highest_pj(&self, stretches: Stretches) -> f64 {
        match self.most_pj {
            Some(most_pj) => most_pj as f64 / stretches.windows as f64,
            None => self.over_pj as f64 / self.windows.max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_follow_one_another_from_where_the_limit_came_into_force() {
        let stretches = Stretches::new(7, 10);
        assert_eq!([7, 16, 17, 36].map(|w| stretches.first(w)), [7, 7, 17, 27]);
        assert_eq!([7, 16, 17, 36].map(|w| stretches.end(w)), [17, 17, 27, 37]);
    }

    #[test]
    fn the_most_is_that_of_a_whole_stretch_and_a_long_time_is_one_step() {
        let stretches = Stretches::new(0, 10);
        let mut meter = StretchMeter::default();
        meter.pass(stretches, 0, 4, 50);
        assert!((meter.highest_pj(stretches) - 50.0).abs() < 1e-9, "so far");
        meter.pass(stretches, 4, 6, 20);
        assert!((meter.highest_pj(stretches) - 32.0).abs() < 1e-9);
        meter.pass(stretches, 10, 5, 0);
        meter.pass(stretches, 15, 10_000_000_003, 40);
        assert!((meter.highest_pj(stretches) - 40.0).abs() < 1e-9);
        assert_eq!(meter.over_pj, 8 * 40);
        meter.begin();
        meter.pass(Stretches::new(10_000_000_018, 10), 10_000_000_018, 10, 30);
        assert!((meter.highest_pj(stretches) - 40.0).abs() < 1e-9);
    }
}
