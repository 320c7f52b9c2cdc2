//! Rules that choose the superblock to collect next.
//!
//! Sources: greedy, d-choices and random: Van Houdt, "A mean field model for a class of garbage collection algorithms in
//! flash-based solid state drives", SIGMETRICS 2013. FIFO: Desnoyers, "Analytic modeling of SSD write performance",
//! SYSTOR 2012. Cost-benefit: Rosenblum and Ousterhout, "The design and implementation of a log-structured file system",
//! SOSP 1991.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::ftl::mapping::Blocks;

/// A rule that chooses the next victim. Each rule is a type of its own, so that the write path is compiled for it.
pub trait VictimRule: Clone {
    /// Called when a superblock has been written to its end. `clock` counts the superblocks closed so far.
    fn closed(&mut self, block: u32, clock: u64);

    /// Called when a closed superblock is collected or freed without having been chosen by this rule.
    fn withdrawn(&mut self, block: u32) {
        let _ = block;
    }

    /// Called when all superblocks have been erased at once.
    fn purged(&mut self) {}

    /// Number of superblocks that the rule draws at random to take the emptiest; `None` if it considers all.
    fn candidates(&self) -> Option<u32> {
        None
    }

    /// Chooses a closed superblock; `None` if there is none.
    fn choose(&mut self, blocks: &Blocks, clock: u64) -> Option<u32>;
}

/// Chooses the superblock with the fewest valid units.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Greedy;

impl VictimRule for Greedy {
    fn closed(&mut self, _block: u32, _clock: u64) {}

    fn choose(&mut self, blocks: &Blocks, _clock: u64) -> Option<u32> {
        blocks.min_valid()
    }
}

/// Chooses the emptiest of `d` superblocks drawn at random; `d = 1` is random selection.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DChoices {
    d: u32,
    key: u64,
    draws: u64,
}

impl DChoices {
    /// Creates a rule that draws `d` candidates for each choice (at least one), seeded with `seed`.
    pub fn new(d: u32, seed: u64) -> Self {
        Self {
            d: d.max(1),
            key: seed,
            draws: 0,
        }
    }

    fn draw(&mut self, blocks: &Blocks) -> u32 {
        loop {
            let random = workload::random::mix(self.key, self.draws);
            self.draws += 1;
            let block = ((u128::from(random) * blocks.count() as u128) >> 64) as u32;
            if blocks.is_closed(block) {
                return block;
            }
        }
    }
}

impl VictimRule for DChoices {
    fn candidates(&self) -> Option<u32> {
        Some(self.d)
    }

    fn closed(&mut self, _block: u32, _clock: u64) {}

    fn choose(&mut self, blocks: &Blocks, _clock: u64) -> Option<u32> {
        if blocks.closed_count() == 0 {
            return None;
        }
        (0..self.d)
            .map(|_| self.draw(blocks))
            .min_by_key(|&b| blocks.valid(b))
    }
}

/// Chooses the superblock that was closed longest ago.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Fifo {
    order: VecDeque<u32>,
}

impl VictimRule for Fifo {
    fn closed(&mut self, block: u32, _clock: u64) {
        self.order.push_back(block);
    }

    fn withdrawn(&mut self, block: u32) {
        self.order.retain(|&other| other != block);
    }

    fn purged(&mut self) {
        self.order.clear();
    }

    fn choose(&mut self, _blocks: &Blocks, _clock: u64) -> Option<u32> {
        self.order.pop_front()
    }
}

/// Chooses the superblock with the largest `age * (1 - u) / (1 + u)`. `u` is its share of valid units; `age` counts the
/// superblocks closed since it was.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CostBenefit {
    #[serde(with = "crate::flash::packed")]
    closed_at: Vec<u64>,
}

impl CostBenefit {
    /// Creates the rule for a drive with this number of superblocks.
    pub fn new(superblocks: usize) -> Self {
        Self {
            closed_at: vec![0; superblocks],
        }
    }
}

impl VictimRule for CostBenefit {
    fn closed(&mut self, block: u32, clock: u64) {
        self.closed_at[block as usize] = clock;
    }

    fn choose(&mut self, blocks: &Blocks, clock: u64) -> Option<u32> {
        let units = u128::from(blocks.units_per_block());
        // Fractions are compared by cross-multiplication, so that floating-point rounding never decides what the drive does.
        let score = |b: u32| {
            let valid = u128::from(blocks.valid(b));
            (
                u128::from(clock - self.closed_at[b as usize]) * (units - valid),
                units + valid,
            )
        };
        let mut best: Option<(u32, (u128, u128))> = None;
        for block in (0..blocks.count() as u32).filter(|&b| blocks.is_closed(b)) {
            let (num, den) = score(block);
            if best.is_none_or(|(_, (bn, bd))| num * bd > bn * den) {
                best = Some((block, (num, den)));
            }
        }
        best.map(|(block, _)| block)
    }
}
