//! Writes that bring a fresh drive to the steady state of random writing, in one pass as long as
//! its raw flash.
//!
//! # The steady state
//!
//! Take uniform random writes to a drive that holds `U` mapping units of data. A superblock is
//! filled completely, and then each host write invalidates any given unit of it with probability
//! `1/U`. After `t` host writes its valid share is `exp(-t/U)`. In the limit of large superblocks,
//! the one with the least valid data is the oldest. The valid share is then a function of the
//! position `x` in the order of writing alone (0 the oldest): `v(x) = exp(-tau (1 - x))`. The share
//! of the flash that holds data, `rho = 1 - spare`, determines `tau`: the mean of `v`,
//! `(1 - exp(-tau)) / tau`, equals `rho`. The mean field of Van Houdt (SIGMETRICS 2013) and the fixed
//! point of Desnoyers (SYSTOR 2012) approach this result from below as blocks grow.
//!
//! # The pass
//!
//! The pass is as long as the raw flash. It writes every block of the span once, in a random order.
//! A block written at `x` is written again with probability `1 - v(x)`, a fixed number of I/Os
//! later. The stale copy that stays behind makes the superblock at `x` as empty as in steady state.
//! As `v` has the mean `rho`, the rewrites are the share `spare` of the pass, so the pass ends when
//! the raw flash is full. A rewrite follows at the distance of a cache size, so that a cache in the
//! drive cannot merge both writes.
//!
//! One random pass with planned rewrites is the idea of `SPRandom` (`SanDisk`, fio pull request
//! 1954). `SPRandom` divides the drive into regions, each with its own rate of rewrites; fio
//! issue 2043 says that the rewrites must stay clear of the cache. The streaming form, which stores
//! no regions, is ours.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::blocks::Grid;
use crate::elementary::exp;
use crate::pattern::scatter::Scatter;
use crate::random::FOR_PLACE;

/// Pieces of the pass; within a piece the probability of a rewrite counts as constant. The error of
/// the first is below a thousandth.
const PIECES: usize = 4096;

/// Probability of a rewrite for each piece of the pass, in units of 2^-32.
#[derive(Debug)]
pub(crate) struct Profile {
    chances: Box<[u32]>,
}

impl Profile {
    /// Computes the profile of `data` blocks on `raw` blocks of flash; `raw` must be greater.
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

/// Returns the `tau` at which `(1 - exp(-tau)) / tau` equals `held`, which is between 0 and 1.
fn decay(held: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 700.0_f64);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        // This mean falls as tau rises.
        if (1.0 - exp(-middle)) / middle > held {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// One source's part of the pass. Each source has a part of the span of its own, so that all
/// sources do the same side by side.
#[derive(Debug, Clone)]
pub(crate) struct OnePass {
    grid: Grid,
    first: u64,
    scatter: Scatter,
    profile: Arc<Profile>,
    /// Blocks of this part, and (`fresh`) how many of them have been written.
    data: u64,
    fresh: u64,
    /// I/Os of this part's pass, and (`issued`) how many have been issued.
    total: u64,
    issued: u64,
    /// I/Os between a write and its rewrite.
    behind: u64,
    /// Pending rewrites: the number of the I/O from which each is due, and its slot.
    again: VecDeque<(u64, u64)>,
}

impl OnePass {
    /// Covers the blocks from `first` up to, but not including, `end` in `total` I/Os; `key` draws
    /// their order.
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

    /// Returns the place of the next write; after the pass, a uniform place in the part.
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
                // A part has at least 10,000 I/Os, so the standard error of a share is at most
                // 0.005; the curve bends by less within a part.
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
        // Only after the last new block do writes go to random blocks, while no rewrite is due. A
        // few of them may hit a block that was written recently.
        assert!(near < 10, "{near}");
    }
}
