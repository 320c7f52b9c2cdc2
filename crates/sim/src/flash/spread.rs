//! Blocks and dies that are faster or slower than others, and reads that need more than one attempt.
//!
//! A hash of seed, die and block fixes a block's factor: lognormal with mean one, from a table of integers. The table
//! is computed with basic IEEE operations only, so it has the same entries on every machine.

use serde::{Deserialize, Serialize};

use workload::random::mix;

use crate::profile::spec::SpreadSpec;

/// The factor one: factors are in 1/65536.
const ONE: u64 = 1 << 16;
/// Entries of a table: quantiles at the midpoints of this many equal parts.
const QUANTILES: usize = 1024;
const MILLION: u64 = 1_000_000;

/// The time factors of a drive's dies and blocks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Spread {
    spec: SpreadSpec,
    #[serde(with = "crate::flash::packed")]
    block: Vec<u32>,
    #[serde(with = "crate::flash::packed")]
    die: Vec<u32>,
    attempts: u64,
    retries: u64,
}

impl Spread {
    /// Creates the factors of the individual drive that the seed names.
    pub fn new(spec: SpreadSpec) -> Self {
        Self {
            spec,
            block: lognormal(spec.block_sigma_milli),
            die: lognormal(spec.die_sigma_milli),
            attempts: 0,
            retries: 0,
        }
    }

    /// Retries of reads so far.
    pub fn retries(&self) -> u64 {
        self.retries
    }

    /// Returns how long this block of this die takes for an operation that takes `duration_ns` on an average block.
    #[inline]
    pub fn stretch(&self, duration_ns: u64, die: u32, block: u32) -> u64 {
        let of_die = mix(self.spec.seed, u64::from(die)) as usize % QUANTILES;
        let key = u64::from(die) << 32 | u64::from(block);
        let of_block = mix(!self.spec.seed, key) as usize % QUANTILES;
        let factor = u64::from(self.die[of_die]) * u64::from(self.block[of_block]) / ONE;
        duration_ns * factor / ONE
    }

    /// Returns the time of the retries that a read of `read_ns` needs on a block with `erases` erases.
    #[inline]
    pub fn retry_ns(&mut self, read_ns: u64, erases: u32) -> u64 {
        let spec = &self.spec;
        let worn = u64::from(spec.retry_ppm_per_kilo_erase) * u64::from(erases) / 1000;
        let ppm = u64::from(spec.retry_ppm) + worn;
        let mut extra_ns = 0;
        for attempt in 0..u64::from(spec.retries_at_most) {
            let random = mix(spec.seed ^ 0x5EED, self.attempts);
            self.attempts += 1;
            if ((u128::from(random) * u128::from(MILLION)) >> 64) as u64 >= ppm {
                break;
            }
            self.retries += 1;
            let pct = u64::from(spec.retry_pct) + attempt * u64::from(spec.retry_step_pct);
            extra_ns += read_ns * pct / 100;
        }
        extra_ns
    }
}

/// Returns the quantiles of a lognormal distribution with mean one, scaled by [`ONE`].
fn lognormal(sigma_milli: u32) -> Vec<u32> {
    let sigma = f64::from(sigma_milli) / 1000.0;
    let quantiles: Vec<f64> = (0..QUANTILES)
        .map(|i| exp(sigma * normal_quantile((i as f64 + 0.5) / QUANTILES as f64)))
        .collect();
    // Divides by the table's own mean, so that a drive with spread is on average as fast as one without.
    let mean = quantiles.iter().sum::<f64>() / QUANTILES as f64;
    quantiles
        .iter()
        .map(|q| (q / mean * ONE as f64 + 0.5) as u32)
        .collect()
}

/// `e^x`: halves `x` until it is small, sums the power series, and squares the sum as often.
fn exp(x: f64) -> f64 {
    const HALVINGS: i32 = 10;
    let small = x / f64::from(1 << HALVINGS);
    let mut sum = 1.0;
    let mut term = 1.0;
    for n in 1..12 {
        term = term * small / f64::from(n);
        sum += term;
    }
    for _ in 0..HALVINGS {
        sum *= sum;
    }
    sum
}

/// Distribution function of the normal distribution: `1/2 + density(x) (x + x^3/3 + x^5/(3*5) + ...)` (Marsaglia, "Evaluating
/// the normal distribution", Journal of Statistical Software 11(4), 2004).
fn normal_below(x: f64) -> f64 {
    const ONE_OVER_ROOT_OF_TWO_PI: f64 = 0.398_942_280_401_432_7;
    let mut term = x;
    let mut sum = x;
    for n in 1..120 {
        term = term * x * x / f64::from(2 * n + 1);
        sum += term;
    }
    0.5 + ONE_OVER_ROOT_OF_TWO_PI * exp(-0.5 * x * x) * sum
}

fn normal_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-5.0, 5.0);
    for _ in 0..50 {
        let middle = (low + high) * 0.5;
        if normal_below(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) * 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> SpreadSpec {
        SpreadSpec {
            seed: 7,
            block_sigma_milli: 80,
            die_sigma_milli: 30,
            retry_ppm: 10_000,
            retry_ppm_per_kilo_erase: 5_000,
            retries_at_most: 4,
            retry_pct: 100,
            retry_step_pct: 50,
        }
    }

    #[test]
    fn the_quantiles_are_those_of_the_distribution() {
        // NIST handbook of statistics, table of the standard normal distribution.
        assert!((normal_quantile(0.975) - 1.959_963_985).abs() < 1e-8);
        assert!((normal_quantile(0.5)).abs() < 1e-8);
        assert!((exp(1.0) - std::f64::consts::E).abs() < 1e-12);
        assert!((exp(-3.0) - (-3.0_f64).exp()).abs() < 1e-12);
    }

    #[test]
    fn blocks_differ_as_the_specification_says() {
        let spread = Spread::new(spec());
        let dies = 64;
        let blocks = 2000;
        let factors: Vec<f64> = (0..dies * blocks)
            .map(|i| spread.stretch(1_000_000, i / blocks, i % blocks) as f64 / 1e6)
            .collect();
        let n = factors.len() as f64;
        let mean = factors.iter().sum::<f64>() / n;
        let logs: Vec<f64> = factors.iter().map(|f| f.ln()).collect();
        let centre = logs.iter().sum::<f64>() / n;
        let sigma = (logs.iter().map(|l| (l - centre).powi(2)).sum::<f64>() / n).sqrt();
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        let expected = 0.08_f64.hypot(0.03);
        assert!((sigma / expected - 1.0).abs() < 0.05, "{sigma}");
        let other = Spread::new(SpreadSpec { seed: 8, ..spec() });
        assert!((0..100).any(|b| other.stretch(1000, 0, b) != spread.stretch(1000, 0, b)));
    }

    #[test]
    fn no_sigma_stretches_nothing() {
        let spread = Spread::new(SpreadSpec {
            block_sigma_milli: 0,
            die_sigma_milli: 0,
            ..spec()
        });
        assert!((0..1000).all(|block| spread.stretch(60_000, block % 7, block) == 60_000));
    }

    #[test]
    fn retries_come_as_often_as_asked_and_oftener_on_worn_blocks() {
        for (erases, share) in [(0, 0.01), (2000, 0.02)] {
            let mut spread = Spread::new(spec());
            let reads = 1_000_000;
            let slow = (0..reads).filter(|_| spread.retry_ns(100, erases) > 0);
            let got = slow.count() as f64 / f64::from(reads);
            assert!((got / share - 1.0).abs() < 0.05, "{got}");
        }
        let mut always = Spread::new(SpreadSpec {
            retry_ppm: 1_000_000,
            ..spec()
        });
        assert_eq!(always.retry_ns(100, 0), 100 + 150 + 200 + 250);
        assert_eq!(always.retries(), 4);
    }
}
