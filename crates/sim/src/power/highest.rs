//! The highest mean of a number of consecutive windows, wherever they begin.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// A sliding sum over the last windows, and its maximum.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Highest {
    /// Windows in a sum.
    together: u64,
    /// The last windows, at most `together`, as runs: number of windows, and energy of each in pJ, which is negative at rest.
    last: VecDeque<(u64, i64)>,
    /// Number and energy of the windows in `last`.
    windows: u64,
    held_pj: i128,
    /// The highest sum so far, in pJ.
    most_pj: Option<i128>,
}

impl Highest {
    pub(crate) fn new(together: u64) -> Self {
        Self {
            together,
            last: VecDeque::new(),
            windows: 0,
            held_pj: 0,
            most_pj: None,
        }
    }

    /// Adds windows that are over, each with the same energy.
    pub(crate) fn pass(&mut self, mut windows: u64, each_pj: i64) {
        while windows > 0 {
            // While each window that leaves the sum holds the same energy, the sum moves in one direction: its maximum is at an
            // end of the step.
            let room = self.together - self.windows;
            let step = match self.last.front() {
                Some(&(first, _)) if room == 0 => first,
                _ => room,
            };
            let step = step.min(windows);
            if room == 0 {
                self.take(step);
            }
            self.put(step, each_pj);
            windows -= step;
            if self.windows == self.together {
                self.most_pj = self.most_pj.max(Some(self.held_pj));
            }
        }
    }

    fn put(&mut self, windows: u64, each_pj: i64) {
        match self.last.back_mut() {
            Some((same, pj)) if *pj == each_pj => *same += windows,
            _ => self.last.push_back((windows, each_pj)),
        }
        self.windows += windows;
        self.held_pj += i128::from(windows) * i128::from(each_pj);
    }

    /// Removes windows from the first run; it has at least that many.
    fn take(&mut self, windows: u64) {
        let Some((same, each_pj)) = self.last.front_mut() else {
            return;
        };
        *same -= windows;
        self.windows -= windows;
        self.held_pj -= i128::from(windows) * i128::from(*each_pj);
        if *same == 0 {
            self.last.pop_front();
        }
    }

    /// Returns the highest mean energy of a window, in pJ. Before there are enough windows, returns the mean so far.
    pub(crate) fn mean_pj(&self) -> f64 {
        match self.most_pj {
            Some(most_pj) => most_pj as f64 / self.together as f64,
            None => self.held_pj as f64 / self.windows.max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn before_there_are_enough_it_is_the_mean_so_far() {
        let mut highest = Highest::new(10);
        assert!(highest.mean_pj().abs() < 1e-9);
        highest.pass(4, 50);
        assert!((highest.mean_pj() - 50.0).abs() < 1e-9);
        highest.pass(6, 20);
        assert!((highest.mean_pj() - 32.0).abs() < 1e-9);
    }

    #[test]
    fn a_long_time_is_a_few_steps() {
        let mut highest = Highest::new(10);
        highest.pass(5, 0);
        highest.pass(10_000_000_003, 40);
        highest.pass(u64::from(u32::MAX), 0);
        assert!((highest.mean_pj() - 40.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn it_is_the_most_of_all_that_follow_one_another(
            runs in proptest::collection::vec((1_u64..8, -2_i64..4), 1..30),
            together in 1_usize..12,
        ) {
            let mut highest = Highest::new(together as u64);
            for &(windows, each_pj) in &runs {
                highest.pass(windows, each_pj);
            }
            let all: Vec<i64> = runs
                .iter()
                .flat_map(|&(windows, each_pj)| (0..windows).map(move |_| each_pj))
                .collect();
            let sums = all.windows(together.min(all.len())).map(|some| some.iter().sum::<i64>());
            let most = sums.max().unwrap_or(0) as f64 / together.min(all.len()) as f64;
            prop_assert!((highest.mean_pj() - most).abs() < 1e-9);
        }
    }
}
