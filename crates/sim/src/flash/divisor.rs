//! Division by a fixed number as a multiplication. A hardware division takes three times as long.

use serde::{Deserialize, Serialize};

/// A fixed divisor.
///
/// With `f = floor((2^64 - 1) / d)`, `floor(n / d) = floor(f (n + 1) / 2^64)` for all 32-bit `n` and `d`. The reason:
/// `f` falls short of `2^64 / d`, which lowers `(n + 1) / d` by more than zero and by less than `1 / d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Divisor {
    by: u32,
    factor: u64,
}

impl Divisor {
    /// Creates a divisor.
    ///
    /// # Panics
    /// If `by` is zero.
    pub fn new(by: u32) -> Self {
        Self {
            by,
            factor: u64::MAX / u64::from(by),
        }
    }

    /// The divisor as a plain number.
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
