//! Independent arrivals: distances with an exponential distribution.
//!
//! A distance is `-ln(U)` times the mean, where U comes from the counter-keyed draw. The logarithm
//! is fixed-point: the draw's leading zeros give the power of two, the next eight bits select an
//! entry in a table of logarithms, and a cubic gives the remainder. Its error is below 2^-36 of a
//! mean distance.
//!
//! Nothing is truncated to whole nanoseconds: the mean has at least 62 significant bits, and the
//! time carries fractions of a nanosecond.

use std::f64::consts::LN_2;
use std::sync::Arc;

use crate::elementary::{TWO_POW_64, ln};
use crate::random::Draws;
use crate::spec::Rate;
use crate::units::SECOND_NS;

const INDEX_BITS: u32 = 8;
/// Fraction bits of a logarithm. The largest, 64 ln 2 = 44.4, needs six bits before the point.
const LOG_BITS: u32 = 58;
const LOG_ONE: f64 = (1u64 << LOG_BITS) as f64;

/// Logarithms at the middles of 256 equal parts of 1..2.
#[derive(Debug)]
pub(crate) struct LogTable {
    entries: [Entry; 1 << INDEX_BITS],
    /// ln 2.
    octave: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// `ln(middle)`.
    log: u64,
    /// `1 / middle`, times 2^64.
    reciprocal: u64,
}

impl LogTable {
    pub(crate) fn new() -> Self {
        let entry = |index: usize| {
            let middle = 1.0 + (index as f64 + 0.5) / f64::from(1u32 << INDEX_BITS);
            Entry {
                log: (ln(middle) * LOG_ONE) as u64,
                reciprocal: (TWO_POW_64 / middle) as u64,
            }
        };
        Self {
            entries: std::array::from_fn(entry),
            octave: (LN_2 * LOG_ONE) as u64,
        }
    }

    /// Returns `-ln(U)` in units of 2^-58; U is the draw over 2^64, with its last bit set.
    #[inline]
    pub(crate) fn exponential(&self, draw: u64) -> u64 {
        let draw = draw | 1;
        let zeros = draw.leading_zeros();
        let mantissa = draw << zeros;
        let index = (mantissa >> (63 - INDEX_BITS)) as usize & ((1 << INDEX_BITS) - 1);
        let entry = &self.entries[index];
        // mantissa / 2^63 = middle * (1 + rest), |rest| <= 2^-9; rest is in units of 2^-63.
        let ratio = ((u128::from(mantissa) * u128::from(entry.reciprocal)) >> 64) as u64;
        let log = entry.log as i64 + cubic(ratio.wrapping_sub(1 << 63) as i64);
        // Close to U = 1 the error of the series may exceed the logarithm itself.
        ((u64::from(zeros) + 1) * self.octave).saturating_sub(log.max(0) as u64)
    }
}

/// Returns `ln(1 + rest)` by its series. The argument is in units of 2^-63, the result in 2^-58.
#[inline]
fn cubic(rest: i64) -> i64 {
    let times = |a: i64, b: i64| ((i128::from(a) * i128::from(b)) >> 63) as i64;
    let square = times(rest, rest);
    let cube = times(square, rest);
    (rest - square / 2 + cube / 3) >> (63 - LOG_BITS)
}

/// The arrivals of one source.
#[derive(Debug, Clone)]
pub(crate) struct Poisson {
    draws: Draws,
    table: Arc<LogTable>,
    /// Mean distance in ns, times `2^fraction_bits`; below 2^63, at least 2^62.
    mean: u64,
    fraction_bits: u32,
    /// Time of the previous arrival in ns, times `2^fraction_bits`.
    at: u128,
}

impl Poisson {
    pub(crate) fn new(rate: Rate, key: u64, table: Arc<LogTable>) -> Self {
        let numerator = u128::from(rate.den) * u128::from(SECOND_NS);
        let denominator = u128::from(rate.num);
        let whole = numerator / denominator;
        // `validate` keeps the mean between 1 ns and 90 days, under 2^53 ns.
        let fraction_bits = 62 - whole.ilog2();
        let rest = ((numerator % denominator) << fraction_bits) / denominator;
        Self {
            draws: Draws::new(key),
            table,
            mean: ((whole << fraction_bits) + rest) as u64,
            fraction_bits,
            at: 0,
        }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let exponential = u128::from(self.table.exponential(self.draws.next()));
        self.at += (exponential * u128::from(self.mean)) >> LOG_BITS;
        u64::try_from(self.at >> self.fraction_bits).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::{LOG_ONE, LogTable, TWO_POW_64};
    use crate::random::Draws;

    #[test]
    fn logarithms_are_right_everywhere() {
        let table = LogTable::new();
        let edges = (0..64).flat_map(|bit| [1u64 << bit, (1 << bit) - 1, u64::MAX >> bit]);
        let parts = (0..=1024).map(|part: u64| (1 << 63) | (part << 53).wrapping_sub(1) >> 1);
        let random = Draws::new(1).take_some(100_000);
        for draw in edges.chain(parts).chain(random) {
            let got = table.exponential(draw) as f64 / LOG_ONE;
            let wanted = -((draw | 1) as f64 / TWO_POW_64).ln();
            let allowed = 1.0 / f64::from(1u32 << 30) / 64.0;
            assert!(
                (got - wanted).abs() < allowed,
                "{draw:#x}: {got} for {wanted}"
            );
        }
    }
}
