//! Division by a number that stays the same: a multiplication instead of a division, which takes three times as long.

use serde::{Deserialize, Serialize};

/// A number to divide by.
///
/// With `f = floor((2^64 - 1) / d)` is `floor(n / d) = floor(f (n + 1) / 2^64)` for all `n` and `d` of 32 bits: what `f` falls short of
/// `2^64 / d` takes less than `1 / d` from `(n + 1) / d`, and more than nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Divisor {
    by: u32,
    factor: u64,
}

impl Divisor {
    /// For divisions by `by`.
    ///
    /// # Panics
    /// If that is zero.
    pub fn new(by: u32) -> Self {
        Self {
            by,
            factor: u64::MAX / u64::from(by),
        }
    }

    /// What is divided by.
    #[inline]
    pub fn by(self) -> u32 {
        self.by
    }

    /// `number / by`.
    #[inline]
    pub fn quotient(self, number: u32) -> u32 {
        ((u128::from(self.factor) * u128::from(u64::from(number) + 1)) >> 64) as u32
    }

    /// `number % by`.
    #[inline]
    pub fn rest(self, number: u32) -> u32 {
        number - self.quotient(number) * self.by
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn is_exact_at_the_edges() {
        let edges = [
            1,
            2,
            3,
            7,
            1 << 16,
            (1 << 31) - 1,
            1 << 31,
            u32::MAX - 1,
            u32::MAX,
        ];
        for by in edges {
            let divisor = Divisor::new(by);
            let multiples = edges.map(|n| n / by * by);
            for number in [0].into_iter().chain(edges).chain(multiples) {
                for number in [number, number.saturating_sub(1), number.saturating_add(1)] {
                    assert_eq!(divisor.quotient(number), number / by, "{number} / {by}");
                    assert_eq!(divisor.rest(number), number % by, "{number} % {by}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn equals_division(number in any::<u32>(), by in prop_oneof![1_u32..5000, 1_u32..=u32::MAX]) {
            let divisor = Divisor::new(by);
            prop_assert_eq!(divisor.quotient(number), number / by);
            prop_assert_eq!(divisor.rest(number), number % by);
        }
    }
}
