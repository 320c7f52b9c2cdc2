//! Counter-keyed random numbers.
//!
//! A draw is a pure function of a key and a counter: `finalise(key + n * STEP)`. With the odd
//! constant [`STEP`] the argument runs through all 2^64 values before it repeats, and the finaliser
//! (the second half of `SplitMix64`: Steele, Lea and Flood, "Fast splittable pseudorandom number
//! generators", OOPSLA 2014, with Stafford's 13th set of constants) is a bijection that spreads each
//! bit over the word. No state is carried, so that any thread may compute any draw.
//!
//! One I/O needs up to four numbers. The first is the draw itself. The others are the draw times an
//! odd constant, read from the top: all bits below the top ones of the draw, which the offset used
//! up, move into the top of the product. A span of 2^40 blocks still leaves 24 such bits.

/// Distance of two neighbouring counters: 2^64 divided by the golden ratio, made odd.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads the draw for the choice between read and write.
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

/// `SplitMix64`'s finaliser: a bijection of 64-bit words.
#[inline]
pub fn finalise(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Key of the draws of one source.
pub(crate) fn key(seed: u64, purpose: Purpose, stream: u32, source: u32) -> u64 {
    let place = (u64::from(stream) << 32) | u64::from(source);
    let seeded = finalise(seed.wrapping_add(STEP.wrapping_mul(purpose as u64)));
    finalise(seeded ^ finalise(place.wrapping_add(STEP)))
}

/// The draw, scaled to `0..count` by the high half of the product: no division and no rejection.
///
/// The bias of a value is below `count / 2^64`.
#[inline]
pub(crate) fn below(draw: u64, count: u64) -> u64 {
    ((u128::from(draw) * u128::from(count)) >> 64) as u64
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

    /// The next draw; the n-th call gives `finalise(key + n * STEP)`, n from 0.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let draw = finalise(self.word);
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
