//! A seeded bijection of `0..count`, which spreads the hot blocks of a skewed pattern over the
//! span.
//!
//! It permutes words of just enough bits for `count` in invertible rounds: addition of a key,
//! multiplication by an odd constant, xor with the word's own upper half. A result of `count` or
//! more is permuted again until it is below `count`, which keeps the whole a bijection of
//! `0..count` ("cycle walking": Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA
//! 2002). This takes fewer than two passes on average.

use crate::random::{STEP, finalise};

const ROUNDS: usize = 3;

#[derive(Debug, Clone)]
pub(crate) struct Scatter {
    count: u64,
    mask: u64,
    half_bits: u32,
    addends: [u64; ROUNDS],
    factors: [u64; ROUNDS],
}

impl Scatter {
    pub(crate) fn new(count: u64, key: u64) -> Self {
        let bits = (64 - (count - 1).leading_zeros()).max(1);
        let constant = |index: usize| finalise(key.wrapping_add(STEP.wrapping_mul(index as u64)));
        Self {
            count,
            mask: u64::MAX >> (64 - bits),
            half_bits: bits.div_ceil(2),
            addends: std::array::from_fn(|round| constant(2 * round)),
            factors: std::array::from_fn(|round| constant(2 * round + 1) | 1),
        }
    }

    /// Returns the image of an index below `count`.
    #[inline]
    pub(crate) fn place(&self, index: u64) -> u64 {
        let mut word = index;
        loop {
            for (addend, factor) in self.addends.iter().zip(&self.factors) {
                word = word.wrapping_add(*addend).wrapping_mul(*factor) & self.mask;
                word ^= word >> self.half_bits;
            }
            if word < self.count {
                return word;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Scatter;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_place_is_taken_once(count in 1u64..5000, key: u64) {
            let scatter = Scatter::new(count, key);
            let mut places: Vec<u64> = (0..count).map(|index| scatter.place(index)).collect();
            places.sort_unstable();
            prop_assert!(places.iter().copied().eq(0..count));
        }
    }

    #[test]
    fn neighbours_do_not_stay_together() {
        let count = 1 << 20;
        let scatter = Scatter::new(count, 5);
        // Each of sixteen equal parts of the span holds about a sixteenth of the hottest blocks.
        let mut parts = [0u32; 16];
        for index in 0..4096 {
            parts[(scatter.place(index) * 16 / count) as usize] += 1;
        }
        assert!(parts.iter().all(|&n| (180..340).contains(&n)), "{parts:?}");
    }
}
