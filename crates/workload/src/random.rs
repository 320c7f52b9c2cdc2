//! Counter-keyed random numbers.
//!
//! A draw is a pure function of a key and a counter: `fold(key + n * STEP)`. With the odd constant
//! [`STEP`] the argument runs through all 2^64 values before it repeats. [`fold`] multiplies the
//! argument with a masked copy of itself and folds the 128-bit product, so that high and low bits
//! meet. This is Wang Yi's generator `wyrand`, entered at any point; it takes half the instructions of
//! `SplitMix64`'s finaliser, which makes the keys. No state is carried, so that any thread may compute
//! any draw.
//!
//! One I/O needs up to four numbers: the draw itself, and the draw times one of the odd constants
//! below, read from the top. All bits below the top ones of the draw, which the place used up, move
//! into the top of the product; a span of 2^40 blocks still leaves 24 such bits. In a uniform pattern
//! the product of draw and number of blocks already gives two independent numbers, see `split`.

/// Distance of two neighbouring counters.
pub const STEP: u64 = 0xa076_1d64_78bd_642f;

/// Makes the second factor of [`fold`] differ from the first one.
const MASK: u64 = 0xe703_7ed1_a0b4_28db;

/// Spreads the draw for the choice between read and write, where no [`split`] gives it.
pub(crate) const FOR_OP: u64 = 0xd1b5_4a32_d192_ed03;
/// Spreads the draw for the choice of the block size.
pub(crate) const FOR_SIZE: u64 = 0x8cb9_2ba7_2f3d_8dd7;
/// Spreads the draw for the place inside a chosen part of the span.
pub(crate) const FOR_PLACE: u64 = 0xaef1_7502_108e_f2d9;

/// Keys of one stream differ by what they are for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    /// Offsets, sizes and operations of one source.
    Io = 1,
    /// Arrival times of one source.
    Arrival = 2,
    /// Where the hot blocks lie: the same for all sources of a stream.
    Scatter = 3,
}

/// The draw that a key advanced by its counter means.
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

/// Distance of two neighbouring counters of [`mix`].
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The `n`-th number that `SplitMix64` draws from `key` (the same source): for contents and for parts of a simulated drive,
/// where no I/O depends on how long a draw takes.
#[inline]
pub fn mix(key: u64, n: u64) -> u64 {
    finalise(key.wrapping_add(n.wrapping_add(1).wrapping_mul(GOLDEN)))
}

/// Key of the draws of one source.
pub(crate) fn key(seed: u64, purpose: Purpose, stream: u32, source: u32) -> u64 {
    let place = (u64::from(stream) << 32) | u64::from(source);
    let seeded = finalise(seed.wrapping_add(STEP.wrapping_mul(purpose as u64)));
    finalise(seeded ^ finalise(place.wrapping_add(STEP)))
}

/// A uniform number of `0..count`, and a second, independent one of 64 bits: the high and the low
/// half of `draw * count`. No division and no rejection.
///
/// The low half says where in the range of draws that mean the same value the draw lies. The bias of
/// a value is below `count / 2^64`.
#[inline]
pub(crate) fn split(draw: u64, count: u64) -> (u64, u64) {
    let product = u128::from(draw) * u128::from(count);
    ((product >> 64) as u64, product as u64)
}

/// The first number of [`split`].
#[inline]
pub(crate) fn below(draw: u64, count: u64) -> u64 {
    split(draw, count).0
}

/// The numbers of one source, in order.
#[derive(Debug, Clone)]
pub(crate) struct Draws {
    word: u64,
}

impl Draws {
    pub(crate) fn new(key: u64) -> Self {
        Self { word: key }
    }

    /// The next draw; the n-th call gives `fold(key + n * STEP)`, n from 0.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let draw = fold(self.word);
        self.word = self.word.wrapping_add(STEP);
        draw
    }
}

#[cfg(test)]
impl Draws {
    /// The next so many draws.
    pub(crate) fn take_some(mut self, count: usize) -> impl Iterator<Item = u64> {
        (0..count).map(move |_| self.next())
    }
}

#[cfg(test)]
mod tests {
    use super::{Draws, Purpose, key};

    const DRAWS: usize = 1 << 17;

    /// Keys as they occur: neighbouring sources, and seeds that differ in one bit.
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
            // A bit against the others of its own word.
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
