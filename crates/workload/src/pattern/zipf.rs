//! Zipf's law: the probability of the block of rank k = 1, 2, ... is proportional to k^-theta.
//!
//! A draw takes one table lookup, whatever the number of blocks. Each of the first [`EXACT_RANKS`]
//! ranks has its own entry. The later ranks share entries, [`SEGMENTS_PER_OCTAVE`] for every
//! doubling of the rank.
//!
//! The mass of a shared entry is the sum over its ranks. It is computed as the integral over the
//! cells of width 1 around them, by Simpson's rule, with a relative error below 1e-6. Inside an
//! entry the density falls linearly; the quantile `u - s u (1 - u)` is the first-order solution.
//! The relative error of a rank's probability is then at most about `(theta / 128)^2`.
//!
//! Neighbouring ranks would be neighbouring blocks; a [`Scatter`] spreads them over the span.

use super::scatter::Scatter;
use crate::elementary::{TWO_POW_64, exp, ln};
use crate::random::{FOR_PLACE, below};
use crate::weighted::Weighted;

/// Number of the first ranks, which have an entry each; a power of two.
const EXACT_RANKS: u64 = 512;
/// Entries for each doubling of the later ranks; a power of two, at most `EXACT_RANKS`.
const SEGMENTS_PER_OCTAVE: u64 = 64;

/// Neighbouring ranks that share a table entry. Ranks count from 0 here.
#[derive(Debug, Clone, Copy)]
struct Segment {
    first: u64,
    ranks: u64,
    /// `(d0 - d1) / (d0 + d1)` of the densities at both ends, times 2^64.
    skew: u64,
}

/// Draws slots below a count.
#[derive(Debug)]
pub(crate) struct Zipf {
    choice: Weighted,
    segments: Box<[Segment]>,
    scatter: Scatter,
}

impl Zipf {
    pub(crate) fn new(theta_milli: u32, slots: u64, key: u64) -> Self {
        let theta = f64::from(theta_milli) / 1000.0;
        let density = |rank: f64| exp(-theta * ln(rank));
        let mut segments = Vec::new();
        let mut masses = Vec::new();
        let mut first = 0;
        while first < slots {
            let ranks = segment_ranks(first).min(slots - first);
            let (mass, skew) = if ranks == 1 {
                (density((first + 1) as f64), 0.0)
            } else {
                // Index i stands for rank k = i + 1, whose cell begins at k - 1/2.
                let (low, high) = (first as f64 + 0.5, (first + ranks) as f64 + 0.5);
                let (at_low, at_high) = (density(low), density(high));
                let middle = density(low + (high - low) / 2.0);
                let mass = (at_low + 4.0 * middle + at_high) * (high - low) / 6.0;
                (mass, (at_low - at_high) / (at_low + at_high))
            };
            segments.push(Segment {
                first,
                ranks,
                skew: (skew * TWO_POW_64) as u64,
            });
            masses.push(mass);
            first += ranks;
        }
        Self {
            choice: Weighted::new(&integer_weights(&masses)),
            segments: segments.into_boxed_slice(),
            scatter: Scatter::new(slots, key),
        }
    }

    /// Returns the rank, from 0, that a draw selects.
    #[inline]
    fn rank(&self, draw: u64) -> u64 {
        let segment = &self.segments[self.choice.pick(draw)];
        let uniform = draw.wrapping_mul(FOR_PLACE);
        let sagged = uniform - below(segment.skew, below(uniform, !uniform));
        segment.first + below(sagged, segment.ranks)
    }

    #[inline]
    pub(crate) fn slot(&self, draw: u64) -> u64 {
        self.scatter.place(self.rank(draw))
    }
}

/// Returns the number of ranks in the entry that begins at this index.
fn segment_ranks(first: u64) -> u64 {
    if first < EXACT_RANKS {
        1
    } else {
        // `first` begins an entry, so the octave's width is a multiple of the entry's.
        (1 << first.ilog2()) / SEGMENTS_PER_OCTAVE
    }
}

/// Returns the masses as integers that sum to about 2^62. Rounding their sum does no harm, because
/// the table divides by the true sum of the integers.
fn integer_weights(masses: &[f64]) -> Vec<u64> {
    const SUM: f64 = (1u64 << 62) as f64;
    // Summed from the end, so that small masses are not lost in rounding.
    let total: f64 = masses.iter().rev().sum();
    masses.iter().map(|m| (m / total * SUM) as u64).collect()
}

#[cfg(test)]
mod tests {
    use super::{EXACT_RANKS, Zipf};
    use crate::random::Draws;

    /// Returns the probability of each of `0..slots` by the definition.
    fn exact(theta: f64, slots: u64) -> Vec<f64> {
        let masses: Vec<f64> = (1..=slots).map(|k| (k as f64).powf(-theta)).collect();
        let total: f64 = masses.iter().rev().sum();
        masses.iter().map(|m| m / total).collect()
    }

    #[test]
    fn table_masses_are_zipfs() {
        for (theta_milli, slots) in [
            (1, 3),
            (500, 1000),
            (990, 100_000),
            (1000, 1_000_003),
            (1100, 300_000),
            (2500, 65_536),
        ] {
            let zipf = Zipf::new(theta_milli, slots, 1);
            let exact = exact(f64::from(theta_milli) / 1000.0, slots);
            let masses = zipf.choice.masses();
            let unit = masses.len() as f64 * super::TWO_POW_64;
            for (segment, mass) in zipf.segments.iter().zip(&masses) {
                let ranks = segment.first as usize..(segment.first + segment.ranks) as usize;
                let wanted: f64 = exact[ranks].iter().sum();
                let got = *mass as f64 / unit;
                // Shared entries carry the error of Simpson's rule; the others are exact.
                let allowed = if segment.first < EXACT_RANKS {
                    1e-7
                } else {
                    2e-6
                };
                assert!(
                    (got / wanted - 1.0).abs() < allowed,
                    "theta {theta_milli}, {slots} slots, rank {}: {got} for {wanted}",
                    segment.first
                );
            }
        }
    }

    #[test]
    fn ranks_cover_every_segment_and_no_more() {
        for slots in [1, 2, 511, 512, 513, 1023, 1024, 1025, (1 << 38) - 1] {
            let zipf = Zipf::new(1100, slots, 1);
            let total: u64 = zipf.segments.iter().map(|s| s.ranks).sum();
            assert_eq!(total, slots);
            for draw in Draws::new(slots).take_some(2000) {
                assert!(zipf.rank(draw) < slots);
                assert!(zipf.slot(draw) < slots);
            }
        }
    }

    #[test]
    fn drawn_ranks_follow_the_law() {
        // A chi-square test of 4 million draws, in cells that do not coincide with the table's
        // entries.
        let (slots, draws) = (100_000, 4_000_000);
        let zipf = Zipf::new(900, slots, 1);
        let exact = exact(0.9, slots);
        let cell = |rank: u64| {
            if rank < 100 {
                rank
            } else {
                100 + (rank - 100) / 777
            }
        };
        let cells = cell(slots - 1) as usize + 1;
        let (mut seen, mut wanted) = (vec![0f64; cells], vec![0f64; cells]);
        for (rank, p) in exact.iter().enumerate() {
            wanted[cell(rank as u64) as usize] += p * f64::from(draws);
        }
        for draw in Draws::new(99).take_some(draws as usize) {
            seen[cell(zipf.rank(draw)) as usize] += 1.0;
        }
        let chi_square: f64 = seen
            .iter()
            .zip(&wanted)
            .map(|(s, w)| (s - w) * (s - w) / w)
            .sum();
        let freedom = (cells - 1) as f64;
        // Six standard deviations of the statistic.
        assert!(
            (chi_square - freedom).abs() < 6.0 * (2.0 * freedom).sqrt(),
            "chi-square {chi_square} with {freedom} degrees of freedom"
        );
    }

    #[test]
    fn density_falls_inside_a_segment() {
        // The last entry of 2^20 ranks, in quarters, against the law. Without the skew, the first
        // quarter would fall short by 1.2 %.
        let (slots, theta) = (1u64 << 20, 3.0);
        let zipf = Zipf::new(3000, slots, 1);
        let segment = *zipf.segments.last().unwrap();
        let mut quarters = [0u64; 4];
        let draws = 2_000_000u64;
        for step in 0..draws {
            // Evenly spaced numbers instead of random ones, so that there is no sampling error.
            let uniform = (u128::from(step) << 64) / u128::from(draws);
            let uniform = uniform as u64;
            let sag = crate::random::below(segment.skew, crate::random::below(uniform, !uniform));
            let rank = crate::random::below(uniform - sag, segment.ranks);
            quarters[(rank * 4 / segment.ranks) as usize] += 1;
        }
        let law =
            |from: u64, to: u64| -> f64 { (from..to).map(|i| ((i + 1) as f64).powf(-theta)).sum() };
        let whole = law(segment.first, segment.first + segment.ranks);
        for (index, seen) in quarters.iter().enumerate() {
            let from = segment.first + segment.ranks / 4 * index as u64;
            let wanted = law(from, from + segment.ranks / 4) / whole;
            let got = *seen as f64 / draws as f64;
            assert!(
                (got / wanted - 1.0).abs() < 6e-4,
                "quarter {index}: {got} for {wanted}"
            );
        }
    }
}
