//! Equal distances: arrival n is due at exactly `floor(n * den * 10^9 / num)` ns, for every n.

use crate::spec::Rate;
use crate::units::SECOND_NS;

/// Every `stride`-th arrival of an even sequence, summed up with a carried remainder.
#[derive(Debug, Clone)]
pub(crate) struct Even {
    at_ns: u64,
    /// Fraction of a nanosecond carried over, in units of `1 / denominator`.
    remainder: u64,
    step_ns: u64,
    step_remainder: u64,
    denominator: u64,
}

impl Even {
    /// Returns the arrivals `first`, `first + stride`, `first + 2 * stride`, ... of a sequence with
    /// this rate.
    pub(crate) fn new(rate: Rate, first: u64, stride: u64) -> Self {
        let (at_ns, remainder) = divided(rate, first);
        let (step_ns, step_remainder) = divided(rate, stride);
        Self {
            at_ns,
            remainder,
            step_ns,
            step_remainder,
            denominator: rate.num,
        }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let due_ns = self.at_ns;
        // Both remainders are below the denominator, which `validate` keeps far below 2^63.
        self.remainder += self.step_remainder;
        let carry = self.remainder >= self.denominator;
        if carry {
            self.remainder -= self.denominator;
        }
        self.at_ns = due_ns
            .saturating_add(self.step_ns)
            .saturating_add(u64::from(carry));
        due_ns
    }
}

/// Returns the time of arrival n: whole nanoseconds, and the remainder in units of `1 / num`.
fn divided(rate: Rate, n: u64) -> (u64, u64) {
    let numerator = u128::from(n) * u128::from(rate.den) * u128::from(SECOND_NS);
    let denominator = u128::from(rate.num);
    (
        u64::try_from(numerator / denominator).unwrap_or(u64::MAX),
        (numerator % denominator) as u64,
    )
}
