//! Valid units of each superblock after long random writes, by the mean-field model of Van Houdt.
//!
//! `s_i` is the share of closed superblocks with at least `i` of `b` units valid; `rho` is the share of valid units in all.
//! If collection takes the emptiest of `d` superblocks drawn at random, `h i (s_i - s_(i+1)) / (rho b) = 1 - s_i^d` for `i`
//! from `b` down to 1, with `s_(b+1) = 0`. `h` is the number of host writes per collection, such that the `s_i` add up to
//! `rho b`.
//! If collection takes the emptiest of all superblocks, `s_i^d` is 0 for every `s_i` below 1. The shares are then
//! `s_i = min(1, rho b / h (1/b + ... + 1/i))`. Rules that go by age come close to this when superblocks are large.
//!
//! Source: Van Houdt, "A mean field model for a class of garbage collection algorithms in flash-based solid state drives",
//! SIGMETRICS 2013. Only additions, multiplications and divisions are used: they give the same bits on any machine.

/// Larger superblocks get the shares of one with this many units, which differ by less than a thousandth.
const MOST_UNITS: u32 = 4096;
/// Bisection steps: more would make no difference in an `f64`.
const HALVINGS: usize = 60;

/// Returns the valid units of each of `count` closed superblocks of `units` units, fewest first. They add up to `held`.
///
/// `candidates` is the number of superblocks drawn for each collection; `None` if all are considered.
pub(crate) fn valid_units(count: u32, units: u32, held: u64, candidates: Option<u32>) -> Vec<u32> {
    let all = u64::from(count) * u64::from(units);
    let rho = held as f64 / all as f64;
    let steps = units.min(MOST_UNITS);
    let shares = match candidates {
        Some(drawn) => of_drawn(steps, rho, drawn),
        None => of_all(steps, rho),
    };
    let mut valid = quantiles(&shares, count, units);
    settle(&mut valid, units, held);
    valid
}

fn bisect(mut low: f64, mut high: f64, below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// Returns `s_1` to `s_b` where the emptiest of all superblocks is collected.
fn of_all(b: u32, rho: f64) -> Vec<f64> {
    // The sums 1/b + ... + 1/i, for i from 1.
    let mut sums = vec![0.0; b as usize];
    let mut sum = 0.0;
    for i in (1..=b).rev() {
        sum += 1.0 / f64::from(i);
        sums[i as usize - 1] = sum;
    }
    let total = |factor: f64| sums.iter().map(|s| (factor * s).min(1.0)).sum::<f64>();
    let held = rho * f64::from(b);
    // A larger factor leaves more units valid; from `b` on, every share is 1.
    let factor = bisect(0.0, f64::from(b), |factor| total(factor) < held);
    sums.iter().map(|s| (factor * s).min(1.0)).collect()
}

/// Returns `s_1` to `s_b` where the emptiest of `d` superblocks drawn at random is collected.
fn of_drawn(b: u32, rho: f64, d: u32) -> Vec<f64> {
    let held = rho * f64::from(b);
    let shares = |h: f64| {
        let mut shares = vec![0.0; b as usize];
        let mut next = 0.0_f64;
        for i in (1..=b).rev() {
            let slope = h * f64::from(i) / held;
            next = bisect(next, 1.0, |s| slope * (s - next) < 1.0 - power(s, d));
            shares[i as usize - 1] = next;
        }
        shares
    };
    // More host writes per collection leave fewer units valid.
    let h = bisect(1e-6, f64::from(b), |h| shares(h).iter().sum::<f64>() > held);
    shares(h)
}

fn power(base: f64, mut exponent: u32) -> f64 {
    let (mut square, mut product) = (base, 1.0);
    while exponent > 0 {
        if exponent & 1 == 1 {
            product *= square;
        }
        square *= square;
        exponent >>= 1;
    }
    product
}

/// Returns the valid units of `count` superblocks at even steps of the distribution, fewest first.
fn quantiles(shares: &[f64], count: u32, units: u32) -> Vec<u32> {
    let unit = f64::from(units) / shares.len() as f64;
    let mut above = shares.len();
    let rank = |k: u32| (f64::from(count - k) - 0.5) / f64::from(count);
    let mut valid: Vec<u32> = (0..count)
        .rev()
        .map(|k| {
            while above > 0 && shares[above - 1] < rank(k) {
                above -= 1;
            }
            // Interpolates linearly between `s_(i+1)` and `s_i`.
            let (this, next) = (
                shares.get(above.wrapping_sub(1)).copied().unwrap_or(1.0),
                shares.get(above).copied().unwrap_or(0.0),
            );
            let within = if this > next {
                (this - rank(k)) / (this - next)
            } else {
                0.0
            };
            ((above as f64 + within.clamp(0.0, 1.0)).min(shares.len() as f64) * unit) as u32
        })
        .collect();
    valid.reverse();
    valid
}

/// Adds or removes units, one per superblock in turn, until all superblocks hold `held` together.
fn settle(valid: &mut [u32], units: u32, held: u64) {
    let mut sum: u64 = valid.iter().map(|&v| u64::from(v)).sum();
    while sum != held {
        for v in valid.iter_mut().rev() {
            if sum < held && *v < units {
                *v += 1;
                sum += 1;
            } else if sum > held && *v > 0 {
                *v -= 1;
                sum -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{of_all, of_drawn, valid_units};

    #[test]
    fn the_emptiest_of_all_are_those_of_the_closed_form() {
        // Van Houdt's table, greedy with blocks of 256 units: write amplification 7.12 at a spare of 7 %, 1.98 at 28 %.
        for (rho, expected) in [(0.93, 7.12), (0.72, 1.98), (0.875, 4.12)] {
            let shares = of_all(256, rho);
            let emptiest = shares.iter().filter(|&&s| s >= 1.0).count();
            let amplification = 256.0 / (256.0 - emptiest as f64);
            assert!(
                (amplification / expected - 1.0).abs() < 0.03,
                "{rho}: {amplification}"
            );
        }
    }

    #[test]
    fn one_drawn_at_random_is_a_closed_form_too() {
        // With `d = 1`, `h = b (1 - rho)`, since a victim has the mean share of valid units.
        let shares = of_drawn(128, 0.875, 1);
        assert!((shares.iter().sum::<f64>() / 128.0 - 0.875).abs() < 1e-9);
        assert!(shares.windows(2).all(|pair| pair[0] >= pair[1]));
    }

    #[test]
    fn they_hold_what_they_are_to_hold() {
        for candidates in [None, Some(1), Some(4)] {
            for (count, units, rho) in [(2000, 777, 0.93), (50, 65_536, 0.8), (300, 32, 0.72)] {
                let held = (f64::from(count) * f64::from(units) * rho) as u64;
                let valid = valid_units(count, units, held, candidates);
                assert_eq!(valid.iter().map(|&v| u64::from(v)).sum::<u64>(), held);
                assert!(valid.iter().all(|&v| v <= units));
                assert!(valid[0] < valid[valid.len() - 1]);
            }
        }
    }
}
