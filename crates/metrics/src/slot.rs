//! A worker's private histogram of the current interval. Recording a sample costs a few
//! instructions; handing over visits only the buckets from the smallest to the largest sample.

use crate::histogram::{BUCKETS, Histogram, bucket_of, unbounded_bucket_of};

/// Counts are 32 bits wide, which halves the cache lines touched. The recorder hands over at least
/// once a second, long before a count can overflow.
#[derive(Debug)]
pub(crate) struct Slot {
    /// Empty until the first sample, so that an operation that the worker never does costs no
    /// memory.
    counts: Vec<u32>,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Default for Slot {
    fn default() -> Self {
        Self {
            counts: Vec::new(),
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }
}

impl Slot {
    /// Counts one sample, as [`Histogram::record`] does. The number of samples is counted only at
    /// the handover.
    #[inline]
    pub(crate) fn record(&mut self, value_ns: u64) {
        match self.counts.get_mut(unbounded_bucket_of(value_ns)) {
            Some(count) => *count += 1,
            None => self.record_rarely(value_ns),
        }
        self.sum_ns += u128::from(value_ns);
        if value_ns < self.min_ns || value_ns > self.max_ns {
            self.widen(value_ns);
        }
    }

    /// Counts the first sample, or a sample beyond the range.
    #[cold]
    #[inline(never)]
    fn record_rarely(&mut self, value_ns: u64) {
        self.counts.resize(BUCKETS, 0);
        self.counts[bucket_of(value_ns)] += 1;
    }

    #[cold]
    #[inline(never)]
    fn widen(&mut self, value_ns: u64) {
        self.min_ns = self.min_ns.min(value_ns);
        self.max_ns = self.max_ns.max(value_ns);
    }

    /// Moves all samples into `target` and returns their number.
    pub(crate) fn hand_over(&mut self, target: &mut Histogram) -> u64 {
        if self.min_ns > self.max_ns {
            return 0;
        }
        let first = bucket_of(self.min_ns);
        let touched = &mut self.counts[first..=bucket_of(self.max_ns)];
        let count = touched.iter().map(|&n| u64::from(n)).sum();
        target.add_counts(first, touched);
        target.add_moments(count, self.sum_ns, self.min_ns, self.max_ns);
        touched.fill(0);
        (self.sum_ns, self.min_ns, self.max_ns) = (0, u64::MAX, 0);
        count
    }
}
