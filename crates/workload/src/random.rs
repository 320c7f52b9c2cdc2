//! Counter-keyed random numbers.
//!
//! A draw is a pure function of a key and a counter: `fold(key + n * STEP)`. As [`STEP`] is odd,
//! the argument takes all 2^64 values before it repeats. [`fold`] multiplies the argument by a
//! masked copy of itself and folds the 128-bit product, so that high and low bits mix. This is Wang
//! Yi's generator `wyrand` with random access. It takes half the instructions of `SplitMix64`'s
//! finaliser, which makes the keys. There is no state to carry, so any thread may compute any draw.
//!
//! One I/O needs up to four numbers: the draw itself, and its products with the odd constants
//! below, each read from the top bit down. The place of the I/O uses up the top bits of the draw.
//! The multiplication moves all lower bits into the top of the product; a span of 2^40 blocks
//! leaves 24 such bits. In a uniform pattern the product of the draw and the number of blocks
//! already gives two independent numbers, see `split`.

/// Distance between neighbouring counters.
pub const STEP: u64 = 0xa076_1d64_78bd_642f;

/// Makes the second factor of [`fold`] differ from the first.
const MASK: u64 = 0xe703_7ed1_a0b4_28db;

/// Multiplies the draw for the choice between read and write, unless [`split`] gives that number.
pub(crate) const FOR_OP: u64 = 0xd1b5_4a32_d192_ed03;
/// Multiplies the draw for the choice of the block size.
pub(crate) const FOR_SIZE: u64 = 0x8cb9_2ba7_2f3d_8dd7;
/// Multiplies the draw for the place inside a chosen part of the span.
pub(crate) const FOR_PLACE: u64 = 0xaef1_7502_108e_f2d9;

/// What a key is for; each purpose has its own keys.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    /// Offsets, sizes and operations of one source.
    Io = 1,
    /// Arrival times of one source.
    Arrival = 2,
    /// The order of the blocks in Zipf, one-pass and shuffled patterns. In a Zipf pattern all
    /// sources of a stream share one key, so that they share the hot blocks.
    Scatter = 3,
}

/// Returns the draw of a word, which is a key advanced by its counter.
#[inline]
pub fn fold(word: u64) -> u64 {
    let product = u128::from(word) * u128::from(word ^ MASK);
    (product >> 64) as u64 ^ product as u64
}

/// `SplitMix64`'s finaliser: a bijection of 64-bit words (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", OOPSLA 2014, with Stafford's 13th set of constants).
#[inline]
pub fn finalise(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Distance between neighbouring counters of [`mix`].
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the `n`-th number that `SplitMix64` draws from `key` (reference: [`finalise`]). Used for
/// data contents and parts of a simulated drive, where no I/O waits for the draw.
#[inline]
pub fn mix(key: u64, n: u64) -> u64 {
    finalise(key.wrapping_add(n.wrapping_add(1).wrapping_mul(GOLDEN)))
}

/// Returns the key for the draws of one source.
pub(crate) fn key(seed: u64, purpose: Purpose, stream: u32, source: u32) -> u64 {
    let place = (u64::from(stream) << 32) | u64::from(source);
    let seeded = finalise(seed.wrapping_add(STEP.wrapping_mul(purpose as u64)));
    finalise(seeded ^ finalise(place.wrapping_add(STEP)))
}

/// Returns a uniform number of `0..count` and an independent one of 64 bits: the high and the low
/// half of `draw * count`. Takes no division and no rejection.
///
/// All draws with the same high half form a range; the low half is the position of the draw in it.
/// The bias of a value is below `count / 2^64`.
#[inline]
pub(crate) fn split(draw: u64, count: u64) -> (u64, u64) {
    let product = u128::from(draw) * u128::from(count);
    ((product >> 64) as u64, product as u64)
}

/// Returns the first number of [`split`].
#[inline]
pub(crate) fn below(draw: u64, count: u64) -> u64 {
    split(draw, count).0
}

/// The draws of one key, in order.
#[derive(Debug, Clone)]
pub(crate) struct Draws {
    word: u64,
}

impl Draws {
    pub(crate) fn new(key: u64) -> Self {
        Self { word: key }
    }

    /// Returns the next draw; the n-th call returns `fold(key + n * STEP)`, n from 0.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let draw = fold(self.word);
        self.word = self.word.wrapping_add(STEP);
        draw
    }
}

#[cfg(test)]
impl Draws {
    /// Returns the next `count` draws.
    pub(crate) fn take_some(mut self, count: usize) -> impl Iterator<Item = u64> {
        (0..count).map(move |_| self.next())
    }
}

#[cfg(test)]
mod tests {
    use super::{Draws, Purpose, key};

    const DRAWS: usize = 1 << 17;

    /// Returns keys as they occur: neighbouring sources, and seeds that differ in one bit.
    fn keys() -> Vec<u64> {
        let source = |source| key(1, Purpose::Io, 0, source);
        let seed = |bit| key(1u64 << bit, Purpose::Io, 0, 0);
        (0..4).map(source).chain([1, 31, 63].map(seed)).collect()
    }

    fn draws(key: u64) -> Vec<u64> {
        Draws::new(key).take_some(DRAWS).collect()
    }

    /// Checks that each bit is set in half of the words, to within six standard deviations.
    fn assert_fair_bits(words: impl Iterator<Item = u64>, what: &str) {
        let (mut set, mut count) = ([0u32; 64], 0u32);
        for word in words {
            for (bit, set) in set.iter_mut().enumerate() {
                *set += (word >> bit & 1) as u32;
            }
            count += 1;
        }
        let half = f64::from(count) / 2.0;
        let allowed = 3.0 * f64::from(count).sqrt();
        for (bit, set) in set.into_iter().enumerate() {
            let off = (f64::from(set) - half).abs();
            assert!(off < allowed, "{what}, bit {bit}: {set} of {count}");
        }
    }

    #[test]
    fn bits_are_fair_and_do_not_follow_their_neighbours() {
        for key in keys() {
            let draws = draws(key);
            assert_fair_bits(draws.iter().copied(), "draw");
            for distance in [1, 2, 8, 32] {
                let pairs = draws.iter().zip(&draws[distance..]);
                assert_fair_bits(pairs.map(|(a, b)| a ^ b), "draws apart");
            }
            // Compares each bit with another bit of its own word.
            for turn in [1, 7, 32] {
                let turned = draws.iter().map(|d| d ^ d.rotate_left(turn));
                assert_fair_bits(turned, "bits apart");
            }
        }
    }

    #[test]
    fn sources_and_seeds_do_not_follow_each_other() {
        let all: Vec<Vec<u64>> = keys().into_iter().map(draws).collect();
        for (index, one) in all.iter().enumerate() {
            for other in &all[index + 1..] {
                assert_fair_bits(one.iter().zip(other).map(|(a, b)| a ^ b), "two keys");
            }
        }
    }

    #[test]
    fn parts_of_a_draw_are_evenly_spread() {
        for key in keys() {
            for shift in [0, 13, 26, 39, 52] {
                let mut cells = vec![0u32; 1 << 12];
                for draw in draws(key) {
                    cells[(draw >> shift & 0xfff) as usize] += 1;
                }
                let wanted = DRAWS as f64 / cells.len() as f64;
                let off = |seen: &u32| (f64::from(*seen) - wanted).powi(2) / wanted;
                let chi_square: f64 = cells.iter().map(off).sum();
                let freedom = (cells.len() - 1) as f64;
                let deviations = (chi_square - freedom) / (2.0 * freedom).sqrt();
                assert!(deviations.abs() < 6.0, "shift {shift}: {deviations}");
            }
        }
    }

    #[test]
    fn keys_differ_by_purpose_stream_and_source() {
        let mut keys = std::collections::HashSet::new();
        for purpose in [Purpose::Io, Purpose::Arrival, Purpose::Scatter] {
            for stream in 0..50 {
                for source in 0..50 {
                    assert!(keys.insert(key(7, purpose, stream, source)));
                }
            }
        }
    }
}
