//! Logarithm and exponential from IEEE additions, multiplications and divisions only.
//!
//! The mathematics libraries of two platforms may differ in the last bit. The tables built with
//! them, and so every digest, would then differ too. These series give the same bits everywhere.
//! They are used to build tables, never per I/O.

use std::f64::consts::LN_2;

/// Number of possible draws.
pub(crate) const TWO_POW_64: f64 = 18_446_744_073_709_551_616.0;

/// Returns the natural logarithm of a positive, normal number. The relative error is below 1e-14
/// away from 1.
pub(crate) fn ln(x: f64) -> f64 {
    const MANTISSA_BITS: u32 = 52;
    const ONE: u64 = 1023 << MANTISSA_BITS;
    debug_assert!(x.is_normal() && x > 0.0);
    let bits = x.to_bits();
    let mut exponent = (bits >> MANTISSA_BITS) as i64 - 1023;
    let mut mantissa = f64::from_bits((bits & ((1 << MANTISSA_BITS) - 1)) | ONE);
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 artanh((m - 1) / (m + 1)); the argument is at most 0.172 here.
    let argument = (mantissa - 1.0) / (mantissa + 1.0);
    let square = argument * argument;
    let mut sum = 0.0;
    for odd in (1..=23).rev().step_by(2) {
        sum = sum * square + 1.0 / f64::from(odd);
    }
    exponent as f64 * LN_2 + 2.0 * argument * sum
}

/// Returns the exponential of a number between -700 and 700. The relative error is below 3e-13.
pub(crate) fn exp(x: f64) -> f64 {
    debug_assert!(x.abs() <= 700.0);
    let doublings = (x / LN_2 + if x < 0.0 { -0.5 } else { 0.5 }) as i64;
    let rest = x - doublings as f64 * LN_2;
    let mut sum = 1.0;
    for order in (1..=18).rev() {
        sum = 1.0 + sum * rest / f64::from(order);
    }
    sum * f64::from_bits(((1023 + doublings) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::{exp, ln};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ln_agrees_with_the_platform(x in 1e-30f64..1e30) {
            prop_assert!((ln(x) - x.ln()).abs() <= 1e-14 * x.ln().abs().max(1.0));
        }

        #[test]
        fn exp_agrees_with_the_platform(x in -600f64..600.0) {
            prop_assert!((exp(x) / x.exp() - 1.0).abs() <= 3e-13);
        }
    }

    #[test]
    fn exact_at_the_ends() {
        assert!(ln(1.0).abs() < f64::EPSILON);
        assert!((exp(0.0) - 1.0).abs() < f64::EPSILON);
    }
}
