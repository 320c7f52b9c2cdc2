//! Temperature, by one thermal resistance and one time constant, and the points at which a hot drive limits itself.
//!
//! Power is constant within a window, so the temperature follows the exact solution of `dT/dt = (T_end - T) / tau` with
//! `T_end = ambient + power * resistance`. A long idle time is one step.

use serde::{Deserialize, Serialize};

use crate::profile::spec::ThermalSpec;

/// Temperatures are kept in billionths of a degree, because one window changes them so little.
const NANO_PER_MILLI: i64 = 1_000_000;
/// Decay factors are fixed-point fractions with this many bits.
const FRACTION_BITS: u32 = 60;
/// How far a drive must cool below the graded limit, in thousandths of a degree, before the limit's return counts as another
/// event.
const COOLED_MC: i64 = 1_000;

/// The temperature of a drive.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Thermal {
    spec: ThermalSpec,
    window_ns: u64,
    idle_mw: u64,
    now_nc: i64,
    /// `e^(-window / tau)`.
    decay: u64,
    /// Throttle points in force: the first `level` of them.
    level: usize,
    /// Whether the graded limit is in force, or was and the drive has cooled by less than `COOLED_MC` since.
    graded: bool,
    throttle_events: u64,
}

impl Thermal {
    /// A drive at ambient temperature, as if it had just been switched on.
    pub fn new(spec: ThermalSpec, window_ns: u64, idle_mw: u64) -> Self {
        Self {
            spec,
            window_ns,
            idle_mw,
            now_nc: spec.ambient_mc * NANO_PER_MILLI,
            decay: decay(window_ns, spec.time_constant_ns),
            level: 0,
            graded: false,
            throttle_events: 0,
        }
    }

    /// Resets to ambient temperature, without a limit and without counted events.
    pub fn cool(&mut self) {
        *self = Self::new(self.spec, self.window_ns, self.idle_mw);
    }

    /// Returns the temperature in thousandths of a degree Celsius.
    pub fn temperature_mc(&self) -> i64 {
        self.now_nc / NANO_PER_MILLI
    }

    /// Returns how often a throttle point or the graded limit has come into force.
    pub fn throttle_events(&self) -> u64 {
        self.throttle_events
    }

    /// Returns the limit in force, in mW.
    pub fn cap_mw(&self) -> Option<u64> {
        let points = self.spec.throttle[..self.level].iter().flatten();
        let graded = self.spec.graded;
        let graded_mw = graded.and_then(|graded| graded.mw_at(self.temperature_mc()));
        points.map(|point| point.cap_mw).chain(graded_mw).min()
    }

    /// Returns whether the limit changes gradually with temperature, instead of in steps.
    pub fn is_graded(&self) -> bool {
        self.spec.graded.is_some()
    }

    /// Temperature that the drive approaches if each window holds `each_pj` beside the idle power; negative at rest.
    fn end_nc(&self, each_pj: i64) -> i64 {
        let mw = each_pj / self.window_ns as i64 + self.idle_mw as i64;
        // mW times mK/W is millionths of a degree.
        self.spec.ambient_mc * NANO_PER_MILLI + mw * self.spec.resistance_mk_per_w * 1000
    }

    /// Advances by `windows` windows, each with the same energy.
    pub fn pass(&mut self, windows: u64, each_pj: i64) {
        let end = self.end_nc(each_pj);
        let left = i128::from(self.now_nc - end) * i128::from(power_of(self.decay, windows));
        let half = 1_i128 << (FRACTION_BITS - 1);
        self.now_nc = end + ((left + half) >> FRACTION_BITS) as i64;
        self.set_level();
    }

    fn set_level(&mut self) {
        let now_mc = self.temperature_mc();
        while let Some(Some(next)) = self.spec.throttle.get(self.level)
            && now_mc >= next.above_mc
        {
            self.level += 1;
            self.throttle_events += 1;
        }
        if let Some(graded) = &self.spec.graded {
            let was = self.graded;
            let until_mc = graded.from_mc - if was { COOLED_MC } else { 0 };
            self.graded = now_mc >= until_mc;
            self.throttle_events += u64::from(self.graded && !was);
        }
        while let Some(Some(last)) = self.level.checked_sub(1).map(|l| self.spec.throttle[l])
            && now_mc < last.until_mc
        {
            self.level -= 1;
        }
    }
}

/// `e^(-time / tau)` as a fraction, from its power series. IEEE basic operations give the same bits on every machine.
fn decay(time_ns: u64, tau_ns: u64) -> u64 {
    let x = time_ns as f64 / tau_ns.max(1) as f64;
    let (mut sum, mut term) = (1.0, 1.0);
    for n in 1..40 {
        term = -term * x / f64::from(n);
        sum += term;
    }
    let one = (1_u64 << FRACTION_BITS) as f64;
    (sum.clamp(0.0, 1.0) * one) as u64
}

/// A fraction to an integer power, by squaring.
fn power_of(fraction: u64, mut exponent: u64) -> u64 {
    let multiply = |a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> FRACTION_BITS) as u64;
    let (mut result, mut square) = (1 << FRACTION_BITS, fraction);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(result, square);
        }
        square = multiply(square, square);
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::profile::spec::{GradedLimit, ThrottlePoint};

    const MS: i64 = 1_000_000;

    fn spec() -> ThermalSpec {
        let point = |above_mc, cap_mw| {
            Some(ThrottlePoint {
                above_mc,
                until_mc: above_mc - 3_000,
                cap_mw,
            })
        };
        ThermalSpec {
            ambient_mc: 25_000,
            resistance_mk_per_w: 10_000,
            time_constant_ns: 100_000 * MS as u64,
            throttle: [point(70_000, 3_000), point(80_000, 1_500), None],
            graded: None,
        }
    }

    /// Temperature in °C, `t` seconds after ambient, at 2 W of idle power and `mw` on top.
    fn closed_form(mw: f64, t: f64) -> f64 {
        25.0 + (2_000.0 + mw) * 0.01 * (1.0 - (-t / 100.0).exp())
    }

    #[test]
    fn follows_the_exact_solution_window_by_window_and_in_one_step() {
        let mut thermal = Thermal::new(spec(), MS as u64, 2_000);
        assert_eq!(thermal.temperature_mc(), 25_000);
        for second in 1..=300 {
            (0..1000).for_each(|_| thermal.pass(1, 2_000 * MS));
            let expected = closed_form(2_000.0, f64::from(second));
            assert!((thermal.temperature_mc() as f64 / 1000.0 - expected).abs() < 0.02);
        }
        let hot = thermal.temperature_mc() as f64 / 1000.0;
        thermal.pass(200_000, 0);
        let expected = 45.0 + (hot - 45.0) * (-2.0_f64).exp();
        assert!((thermal.temperature_mc() as f64 / 1000.0 - expected).abs() < 0.02);
        thermal.pass(u64::from(u32::MAX), 0);
        assert_eq!(thermal.temperature_mc(), 45_000);
        thermal.pass(10_000_000, 4_000 * MS);
        assert!(thermal.throttle_events() > 0);
        thermal.cool();
        assert_eq!(
            (
                thermal.temperature_mc(),
                thermal.cap_mw(),
                thermal.throttle_events()
            ),
            (25_000, None, 0)
        );
    }

    #[test]
    fn throttle_points_hold_until_the_drive_has_cooled() {
        let mut thermal = Thermal::new(spec(), MS as u64, 2_000);
        assert_eq!(thermal.cap_mw(), None);
        thermal.pass(10_000_000, 3_000 * MS);
        assert_eq!(
            (thermal.cap_mw(), thermal.throttle_events()),
            (Some(3_000), 1)
        );
        thermal.pass(10_000_000, 4_000 * MS);
        assert_eq!(
            (thermal.cap_mw(), thermal.throttle_events()),
            (Some(1_500), 2)
        );
        thermal.pass(10_000_000, 2_300 * MS);
        assert_eq!(
            thermal.cap_mw(),
            Some(3_000),
            "68 degrees: below one point, not out of the other"
        );
        thermal.pass(10_000_000, 2_000 * MS);
        assert_eq!(thermal.cap_mw(), None);
    }

    #[test]
    fn a_graded_limit_falls_evenly_and_comes_into_force_once() {
        let graded = GradedLimit {
            from_mc: 60_000,
            from_mw: 6_000,
            to_mc: 80_000,
            to_mw: 2_000,
        };
        let limits = [59_999, 60_000, 65_000, 80_000, 95_000].map(|mc| graded.mw_at(mc));
        assert_eq!(
            limits,
            [None, Some(6_000), Some(5_000), Some(2_000), Some(2_000)]
        );
        let mut thermal = Thermal::new(
            ThermalSpec {
                throttle: [None; 3],
                graded: Some(graded),
                ..spec()
            },
            MS as u64,
            2_000,
        );
        // A load that draws as much as it may settles where `T = 25 + 10 P` degrees and `P = 6 - (T - 60) / 5` W.
        for _ in 0..1_000_000 {
            let mw = thermal.cap_mw().unwrap_or(8_000);
            thermal.pass(1, (mw as i64 - 2_000) * MS);
        }
        let expected_mc = (25_000.0 + 10.0 * 18_000.0) / 3.0;
        assert!((thermal.temperature_mc() as f64 - expected_mc).abs() < 20.0);
        assert_eq!(thermal.throttle_events(), 1);
        thermal.pass(10_000_000, 0);
        assert_eq!(thermal.cap_mw(), None);
        thermal.pass(10_000_000, 6_000 * MS);
        assert_eq!(thermal.throttle_events(), 2);
    }
}
