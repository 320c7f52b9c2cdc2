//! Random numbers by counter: the n-th draw of a key, whatever was drawn before.

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The `n`-th 64-bit number of `key` (the `SplitMix64` sequence of Steele, Lea and Flood, OOPSLA 2014).
#[inline]
pub fn mix(key: u64, n: u64) -> u64 {
    let mut z = key.wrapping_add(n.wrapping_add(1).wrapping_mul(GOLDEN));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
