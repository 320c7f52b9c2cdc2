//! A choice among weighted alternatives in constant time.
//!
//! Walker's alias method (M. D. Vose, "A linear algorithm for generating random numbers with a
//! given distribution", IEEE Transactions on Software Engineering 17(9), 1991), built in integers.
//! The probabilities are exact except for the last bit of a 64-bit threshold.

use crate::random::split;

/// One column: a draw below its threshold selects the column's own alternative, any other its
/// alias.
#[derive(Debug, Clone, Copy)]
struct Column {
    keep_below: u64,
    alias: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Weighted {
    columns: Box<[Column]>,
}

impl Weighted {
    /// Builds the table. The weights must sum to at least 1 and to less than 2^64.
    pub(crate) fn new(weights: &[u64]) -> Self {
        let count = weights.len() as u128;
        let total: u128 = weights.iter().map(|&w| u128::from(w)).sum();
        debug_assert!(total > 0 && total < 1 << 64);
        // Scaled by the count, the mean weight is `total`, which is the share of a column.
        let mut scaled: Vec<u128> = weights.iter().map(|&w| u128::from(w) * count).collect();
        let mut columns: Vec<Column> = (0..weights.len())
            .map(|index| Column {
                keep_below: u64::MAX,
                alias: index as u32,
            })
            .collect();
        let (mut poor, mut rich): (Vec<usize>, Vec<usize>) =
            (0..weights.len()).partition(|&index| scaled[index] < total);
        while let (Some(&giver), Some(taker)) = (rich.last(), poor.pop()) {
            columns[taker] = Column {
                keep_below: ((scaled[taker] << 64) / total) as u64,
                alias: giver as u32,
            };
            scaled[giver] -= total - scaled[taker];
            if scaled[giver] < total {
                rich.pop();
                poor.push(giver);
            }
        }
        Self {
            columns: columns.into_boxed_slice(),
        }
    }

    /// Returns the alternative that a draw selects.
    #[inline]
    pub(crate) fn pick(&self, draw: u64) -> usize {
        let (index, inside) = split(draw, self.columns.len() as u64);
        let column = &self.columns[index as usize];
        if inside < column.keep_below {
            index as usize
        } else {
            column.alias as usize
        }
    }

    /// Returns the probabilities of the table, in units of `2^-64 / n`.
    #[cfg(test)]
    pub(crate) fn masses(&self) -> Vec<u128> {
        let mut masses = vec![0u128; self.columns.len()];
        for (index, column) in self.columns.iter().enumerate() {
            let kept = u128::from(column.keep_below);
            masses[index] += kept;
            masses[column.alias as usize] += (1u128 << 64) - kept;
        }
        masses
    }
}

#[cfg(test)]
mod tests {
    use super::Weighted;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn probabilities_are_the_weights(weights in prop::collection::vec(0u64..1000, 1..40)) {
            let total: u64 = weights.iter().sum();
            prop_assume!(total > 0);
            let count = weights.len() as u128;
            let masses = Weighted::new(&weights).masses();
            for (mass, weight) in masses.iter().zip(&weights) {
                let exact = ((u128::from(*weight) << 64) * count) / u128::from(total);
                // Each column's threshold is rounded down once.
                prop_assert!(mass.abs_diff(exact) <= count);
                prop_assert!(*weight > 0 || *mass <= count);
            }
        }
    }

    #[test]
    fn a_single_alternative_is_always_taken() {
        let table = Weighted::new(&[7]);
        assert_eq!(table.pick(0), 0);
        assert_eq!(table.pick(u64::MAX), 0);
    }
}
