//! Writes that leave a fresh drive as long random writing would, in one pass over as much as its raw flash holds.
//!
//! Under uniform random writes a superblock is written whole and then loses its units at random, each host write of `U`
//! units of data striking each of them with a chance of `1/U`: its valid share falls as `exp(-t/U)`. In the limit of
//! large superblocks the emptiest is the oldest, so the valid share is a function of the place `x` in the order of
//! writing alone (0 the oldest), `v(x) = exp(-tau (1 - x))`, and `tau` follows from the share of the flash that holds data,
//! `rho = 1 - spare`: the mean of `v`, `(1 - exp(-tau)) / tau`, is `rho` (the mean field of Van Houdt, SIGMETRICS 2013,
//! and the fixed point of Desnoyers, SYSTOR 2012, come to this from below as blocks grow).
//!
//! The pass is as long as the raw flash. Every block of the span is written once, in a random order, and what was
//! written at `x` is written once more with probability `1 - v(x)`, a fixed number of I/Os later: the copy that stays behind is
//! what makes the superblock at `x` as empty as it has to be. The rewrites come to `spare` of the pass, since `v` has the mean
//! `rho`; so the pass and the raw flash end together. That they come a cache size behind keeps a cache in the drive
//! from taking both for one write.
//!
//! One random pass with planned rewrites is the idea of `SPRandom` (`SanDisk`, fio pull request 1954, which divides the drive
//! into regions with a rate of rewrites each; that they have to stay clear of the cache is its issue 2043). The streaming
//! form, which remembers no region, is ours.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::blocks::Grid;
use crate::elementary::exp;
use crate::pattern::scatter::Scatter;
use crate::random::FOR_PLACE;

/// Pieces of the pass within which the chance of a rewrite is taken as the same: the first is off by less than a thousandth.
const PIECES: usize = 4096;

/// Chance of a rewrite for each piece of the pass, in 2^-32.
#[derive(Debug)]
pub(crate) struct Profile {
    chances: Box<[u32]>,
}

impl Profile {
    /// `data` blocks over `raw` blocks of flash; `raw` is the greater.
    pub(crate) fn new(data: u64, raw: u64) -> Self {
        let tau = decay(data as f64 / raw as f64);
        let chance = |piece: usize| {
            let place = (piece as f64 + 0.5) / PIECES as f64;
            let valid = exp(-tau * (1.0 - place));
            ((1.0 - valid) * f64::from(u32::MAX)) as u32
        };
        Self {
            chances: (0..PIECES).map(chance).collect(),
        }
    }
}

/// The `tau` at which `(1 - exp(-tau)) / tau` is `held`, which lies between 0 and 1.
fn decay(held: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 700.0_f64);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        // The mean falls as tau rises.
        if (1.0 - exp(-middle)) / middle > held {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// One source's part of the pass: a part of the span of its own, so that all sources do alike side by side.
#[derive(Debug, Clone)]
pub(crate) struct OnePass {
    grid: Grid,
    first: u64,
    scatter: Scatter,
    profile: Arc<Profile>,
    /// Blocks of this part, and how many of them have been written.
    data: u64,
    fresh: u64,
    /// I/Os of the pass, and how many there were.
    total: u64,
    issued: u64,
    /// I/Os between a write and its rewrite.
    behind: u64,
    /// What is written once more, and from which I/O on.
    again: VecDeque<(u64, u64)>,
}

impl OnePass {
    /// The blocks from `first` to before `end` in `total` I/Os, their order drawn by `key`.
    pub(crate) fn new(
        grid: Grid,
        (first, end): (u64, u64),
        total: u64,
        behind: u64,
        key: u64,
        profile: Arc<Profile>,
    ) -> Self {
        let data = end - first;
        Self {
            grid,
            first,
            scatter: Scatter::new(data, key),
            profile,
            data,
            fresh: 0,
            total,
            issued: 0,
            behind,
            again: VecDeque::new(),
        }
    }

    /// Where the next write goes. After the pass: anywhere in the part.
    pub(crate) fn next(&mut self, draw: u64) -> (u64, u32) {
        let left = self.total.saturating_sub(self.issued);
        let unwritten = self.data - self.fresh;
        let due = self.again.front().is_some_and(|&(at, _)| at <= self.issued);
        let slot = if due
            && unwritten < left
            && let Some((_, slot)) = self.again.pop_front()
        {
            slot
        } else if unwritten > 0 {
            self.fresh += 1;
            self.scatter.place(self.fresh - 1)
        } else {
            crate::random::below(draw, self.data)
        };
        if left > 0 {
            let piece =
                (u128::from(self.issued) * PIECES as u128 / u128::from(self.total)) as usize;
            let drawn = (draw.wrapping_mul(FOR_PLACE) >> 32) as u32;
            if drawn < self.profile.chances[piece] {
                self.again.push_back((self.issued + self.behind, slot));
            }
        }
        self.issued += 1;
        (self.grid.offset(self.first + slot), self.grid.bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{OnePass, Profile, decay};
    use crate::blocks::Grid;
    use crate::random::mix;
    use crate::spec::Span;

    const DATA: u64 = 200_000;

    fn pass(raw: u64, behind: u64) -> Vec<u64> {
        let grid = Grid::new(
            Span {
                start: 0,
                length: DATA * 4096,
            },
            4096,
        );
        let profile = Arc::new(Profile::new(DATA, raw));
        let mut pass = OnePass::new(grid, (0, DATA), raw, behind, 7, profile);
        (0..raw).map(|n| pass.next(mix(3, n)).0 / 4096).collect()
    }

    #[test]
    fn the_decay_has_the_mean_that_was_asked_for() {
        for held in [0.5, 0.72, 0.875, 0.93, 0.99] {
            let tau = decay(held);
            assert!(((1.0 - (-tau).exp()) / tau - held).abs() < 1e-12, "{held}");
        }
    }

    #[test]
    fn all_is_written_and_the_valid_shares_are_those_of_steady_state() {
        for raw in [DATA * 107 / 100, DATA * 8 / 7, DATA * 25 / 18] {
            let slots = pass(raw, 2000);
            let mut last = vec![u64::MAX; DATA as usize];
            for (at, &slot) in slots.iter().enumerate() {
                last[slot as usize] = at as u64;
            }
            assert!(
                last.iter().all(|&at| at != u64::MAX),
                "every block is written"
            );
            let tau = decay(DATA as f64 / raw as f64);
            let parts = 20;
            let mut valid = vec![0.0; parts];
            for &at in &last {
                valid[(at * parts as u64 / raw) as usize] += parts as f64 / raw as f64;
            }
            for (part, share) in valid.iter().enumerate() {
                let place = (part as f64 + 0.5) / parts as f64;
                let expected = (-tau * (1.0 - place)).exp();
                // 10,000 blocks a part: a hundredth is 2.5 standard errors at least, and the curve bends less than that.
                assert!(
                    (share - expected).abs() < 0.013,
                    "{raw} {part}: {share} {expected}"
                );
            }
        }
    }

    #[test]
    fn rewrites_come_a_cache_size_behind() {
        let behind = 3000;
        let slots = pass(DATA * 8 / 7, behind);
        let mut before = vec![None; DATA as usize];
        let mut near = 0;
        for (at, &slot) in slots.iter().enumerate() {
            if let Some(then) = before[slot as usize].replace(at) {
                near += u64::from(((at - then) as u64) < behind);
            }
        }
        // Only behind the last new block may a write be anywhere: as many as were still to be rewritten then.
        assert!(near < 10, "{near}");
    }
}
