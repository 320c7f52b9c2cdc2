//! The steady state of random writes placed into an erased drive: prepared, not written.
//!
//! Each closed superblock gets as many valid units as [`valid_units`] has of it, at random places, since random writes strike all
//! of them alike; which data lies there is drawn too. The emptiest was closed first.

use workload::random::mix;

use crate::ftl::layer::Ftl;
use crate::ftl::mapping::Map;
use crate::ftl::steady_shares::valid_units;
use crate::ftl::victim_rule::VictimRule;

/// Placed together, so that the map has time to come.
const TOGETHER: usize = 64;

impl<R: VictimRule> Ftl<R> {
    /// Places the steady state of random writes over all logical units. Returns whether that could be done: the drive must be
    /// erased, without a cache of one bit a cell, and its superblocks must hold all data.
    pub fn place_steady(&mut self, seed: u64) -> bool {
        let blocks = self.map.blocks.count();
        let per_block = self.map.blocks.units_per_block();
        // Kept free, and one for each stream to open: where collection holds them, halfway.
        let kept = self.reserve + 1;
        let held = u64::from(self.map.logical_units());
        let closed = blocks.saturating_sub(kept) as u32;
        let fits = held < u64::from(closed) * u64::from(per_block);
        if self.slc.is_some() || self.map.mapped() > 0 || self.free.len() != blocks || !fits {
            return false;
        }
        let valid = valid_units(closed, per_block, held, self.rule.candidates());
        let mut order = Order::new(self.map.logical_units(), seed);
        for (n, units) in valid.into_iter().enumerate() {
            let Some(block) = self.free.pop_front() else {
                return false;
            };
            place_block(
                &mut self.map,
                block,
                units,
                &mut order,
                mix(seed, n as u64 + 1),
            );
            self.closed_clock += 1;
            self.map.blocks.close(block);
            self.rule.closed(block, self.closed_clock);
        }
        true
    }
}

/// Places so many of the next logical units in a superblock, each place as likely as another.
fn place_block(map: &mut Map, block: u32, valid: u32, order: &mut Order, key: u64) {
    let per_block = map.blocks.units_per_block();
    let (mut needed, mut draws) = (valid, 0);
    let mut pending = [(0u32, 0u32); TOGETHER];
    let mut waiting = 0;
    for place in 0..per_block {
        // Selection sampling: of the places left, as many as are needed, all choices alike (Knuth, 3.4.2, algorithm S).
        let choice = (u128::from(mix(key, draws)) * u128::from(per_block - place)) >> 64;
        draws += 1;
        if choice >= u128::from(needed) {
            continue;
        }
        needed -= 1;
        let logical = order.next();
        map.expect_logical(logical);
        pending[waiting] = (logical, block * per_block + place);
        waiting += 1;
        if waiting == TOGETHER {
            for &(logical, unit) in &pending {
                map.place(logical, unit);
            }
            waiting = 0;
        }
    }
    for &(logical, unit) in &pending[..waiting] {
        map.place(logical, unit);
    }
}

/// All logical units in a random order: a bijection of the next power of two, walked until it lies below the count (Black and Rogaway,
/// "Ciphers with arbitrary finite domains", CT-RSA 2002).
struct Order {
    count: u32,
    mask: u32,
    half: u32,
    keys: [u32; 6],
    next: u32,
}

impl Order {
    fn new(count: u32, seed: u64) -> Self {
        let bits = (u32::BITS - (count.max(2) - 1).leading_zeros()).max(1);
        Self {
            count,
            mask: u32::MAX >> (u32::BITS - bits),
            half: bits.div_ceil(2),
            keys: std::array::from_fn(|n| mix(seed, u64::MAX - n as u64) as u32),
            next: 0,
        }
    }

    #[inline]
    fn next(&mut self) -> u32 {
        let mut word = self.next;
        self.next += 1;
        loop {
            for pair in self.keys.chunks_exact(2) {
                word = word.wrapping_add(pair[0]).wrapping_mul(pair[1] | 1) & self.mask;
                word ^= word >> self.half;
            }
            if word < self.count {
                return word;
            }
        }
    }
}
