//! Places the steady state of random writes into an erased drive without writing it: *prepared, not written*.
//!
//! Each closed superblock gets the number of valid units that [`valid_units`] computes for it. Their positions are drawn at
//! random, since random writes invalidate all positions alike; so is the data that lies there. The emptiest superblock counts
//! as the one closed first.

use workload::random::mix;

use crate::ftl::layer::Ftl;
use crate::ftl::mapping::Map;
use crate::ftl::steady_shares::valid_units;
use crate::ftl::victim_rule::VictimRule;
use crate::profile::spec::{DriveSpec, Layout};

/// Mapping units whose map entries are prefetched together before they are placed, so that the entries have time to arrive.
const BATCH: usize = 64;

impl DriveSpec {
    /// Whether the steady state of random writes can be placed into an erased drive of this kind. Theory covers superblocks
    /// that one layer collects, without an SLC cache.
    pub fn can_be_placed(&self) -> bool {
        self.options.layout == Layout::Superblocks && self.options.slc.is_none()
    }
}

impl<R: VictimRule> Ftl<R> {
    /// Places the steady state of random writes over all logical units. Returns whether this was possible: the drive must be
    /// erased, [`DriveSpec::can_be_placed`] must hold for it, and its superblocks must have room for all data.
    pub fn place_steady(&mut self, seed: u64) -> bool {
        let blocks = self.map.blocks.count();
        let per_block = self.map.blocks.units_per_block();
        // Left free: the reserve, and one superblock for the two that the streams will open, each half written on average.
        let kept = self.reserve + 1;
        let held = u64::from(self.map.logical_units());
        let closed = blocks.saturating_sub(kept) as u32;
        let fits = held < u64::from(closed) * u64::from(per_block);
        if self.slc.is_some() || self.map.mapped() > 0 || self.free.len() != blocks || !fits {
            return false;
        }
        let together = self.together;
        let valid = valid_units(
            closed,
            per_block / together,
            held / u64::from(together),
            self.rule.candidates(),
        );
        let mut order = Order::new(self.map.logical_units() / together, seed);
        for (n, units) in valid.into_iter().enumerate() {
            let Some(block) = self.free.pop_front() else {
                return false;
            };
            let key = mix(seed, n as u64 + 1);
            place_block(&mut self.map, block, (units, together), &mut order, key);
            self.closed_clock += 1;
            self.map.blocks.close(block);
            self.rule.closed(block, self.closed_clock);
        }
        true
    }
}

/// Places the next `valid` mapping units of `order`, each of `together` units, at random positions in a superblock. All
/// positions are equally likely.
fn place_block(
    map: &mut Map,
    block: u32,
    (valid, together): (u32, u32),
    order: &mut Order,
    key: u64,
) {
    let places = map.blocks.units_per_block() / together;
    let (mut needed, mut draws) = (valid, 0);
    let mut pending = [(0u32, 0u32); BATCH];
    let mut waiting = 0;
    for place in 0..places {
        // Selection sampling: draws the positions needed from those left, all choices alike (Knuth, 3.4.2, algorithm S).
        let choice = (u128::from(mix(key, draws)) * u128::from(places - place)) >> 64;
        draws += 1;
        if choice >= u128::from(needed) {
            continue;
        }
        needed -= 1;
        let logical = order.next() * together;
        map.expect_logical(logical);
        pending[waiting] = (logical, (block * places + place) * together);
        waiting += 1;
        if waiting == BATCH {
            place_all(map, &pending, together);
            waiting = 0;
        }
    }
    place_all(map, &pending[..waiting], together);
}

/// Places mapping units, each given by its first logical and its first physical unit.
fn place_all(map: &mut Map, pending: &[(u32, u32)], together: u32) {
    for &(logical, unit) in pending {
        for n in 0..together {
            map.place(logical + n, unit + n);
        }
    }
}

/// All logical mapping units in a random order: a bijection on the next power of two, iterated until the result is below the
/// count (cycle walking: Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002).
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
