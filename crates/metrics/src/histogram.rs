//! A log-linear latency histogram with a stated error bound.
//!
//! Each octave (doubling) is divided into [`SUB_BUCKETS`] buckets of equal width. A bucket is at
//! most 1/64 of its lower bound wide, so its midpoint is at most 1/128 (0.78 %) away from any value
//! in it. Each value below 128 ns has its own bucket. The layout is fixed, so any two histograms
//! merge by adding counts, whoever recorded them.

use std::ops::Range;

/// Buckets per octave.
pub const SUB_BUCKETS: usize = 64;
const SUB_BUCKET_BITS: u32 = SUB_BUCKETS.trailing_zeros();
/// Values from here on (18 min 20 s) share one overflow bucket; their sum and maximum stay exact.
pub const OVERFLOW_NS: u64 = 1 << 40;
/// Buckets of a histogram. The last is the overflow bucket.
pub const BUCKETS: usize = unbounded_bucket_of(OVERFLOW_NS) + 1;

/// Returns the index of the bucket that counts `value_ns`.
#[inline]
pub const fn bucket_of(value_ns: u64) -> usize {
    let index = unbounded_bucket_of(value_ns);
    if index < BUCKETS { index } else { BUCKETS - 1 }
}

/// Returns the bucket index in an unlimited histogram: for values of [`OVERFLOW_NS`] or more, the
/// index of the overflow bucket or one beyond all buckets. Recording uses this index, because the
/// bounds check that it needs anyway then catches the values beyond the range too.
#[inline]
pub(crate) const fn unbounded_bucket_of(value_ns: u64) -> usize {
    // Setting bit `SUB_BUCKET_BITS` makes the shift zero for every small value, without a branch.
    let octave = u64::BITS - 1 - (value_ns | SUB_BUCKETS as u64).leading_zeros();
    let shift = octave - SUB_BUCKET_BITS;
    ((shift as usize) << SUB_BUCKET_BITS) + (value_ns >> shift) as usize
}

/// Returns the values that bucket `index` counts, in ns; the overflow bucket ends at `u64::MAX`.
///
/// # Panics
/// If `index` is not below [`BUCKETS`].
pub const fn bucket_bounds_ns(index: usize) -> Range<u64> {
    assert!(index < BUCKETS, "no such bucket");
    if index == BUCKETS - 1 {
        return OVERFLOW_NS..u64::MAX;
    }
    let shift = (index >> SUB_BUCKET_BITS).saturating_sub(1);
    let low = ((index - (shift << SUB_BUCKET_BITS)) as u64) << shift;
    low..low + (1 << shift)
}

/// A quantile as an exact fraction, in parts per million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantile(u32);

impl Quantile {
    /// The median.
    pub const P50: Self = Self(500_000);
    /// The 90th percentile.
    pub const P90: Self = Self(900_000);
    /// The 99th percentile.
    pub const P99: Self = Self(990_000);
    /// The 99.9th percentile.
    pub const P99_9: Self = Self(999_000);
    /// The 99.99th percentile.
    pub const P99_99: Self = Self(999_900);
    /// The 99.999th percentile.
    pub const P99_999: Self = Self(999_990);

    /// Returns the quantile of `parts` per million; `None` above one million.
    pub const fn per_million(parts: u32) -> Option<Self> {
        if parts <= 1_000_000 {
            Some(Self(parts))
        } else {
            None
        }
    }

    /// Returns the rank, from 1, of this quantile among `count` samples: the exact ceiling of
    /// quantile times count, at least 1.
    pub const fn rank(self, count: u64) -> u64 {
        let rank = (count as u128 * self.0 as u128).div_ceil(1_000_000) as u64;
        if rank == 0 { 1 } else { rank }
    }
}

/// Counts of latencies in ns. An empty histogram owns no memory; one with a sample owns 18 KB.
///
/// ```
/// use metrics::{Histogram, Quantile};
/// let mut latency = Histogram::new();
/// latency.record(80);
/// latency.record(1_000_000);
/// assert_eq!(latency.quantile_ns(Quantile::P50), Some(80));
/// assert_eq!(latency.max_ns(), Some(1_000_000));
/// ```
#[derive(Debug, Clone)]
pub struct Histogram {
    counts: Vec<u64>,
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: Vec::new(),
            count: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }
}

/// Two histograms are equal if their bucket counts, sums and extremes are equal.
impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        (self.count, self.sum_ns, self.min_ns, self.max_ns)
            == (other.count, other.sum_ns, other.min_ns, other.max_ns)
            && self.nonzero().eq(other.nonzero())
    }
}

impl Eq for Histogram {}

impl Histogram {
    /// Creates an empty histogram.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one sample.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        match self.counts.get_mut(unbounded_bucket_of(value_ns)) {
            Some(count) => *count += 1,
            None => self.record_rarely(value_ns),
        }
        self.count += 1;
        self.sum_ns += u128::from(value_ns);
        // A new extreme is rare, so one branch costs less than two conditional moves and stores.
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

    /// Adds the samples of `other`. Visits only the buckets that `other` may have touched.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        let touched = other.touched();
        self.add_counts(touched.start, &other.counts[touched]);
        self.add_moments(other.count, other.sum_ns, other.min_ns, other.max_ns);
    }

    pub(crate) fn add_counts<C: Copy + Into<u64>>(&mut self, first: usize, counts: &[C]) {
        self.counts.resize(BUCKETS, 0);
        for (sum, &more) in self.counts[first..].iter_mut().zip(counts) {
            *sum += more.into();
        }
    }

    /// Adds what the bucket counts do not tell: number, sum and extremes of the samples.
    pub(crate) fn add_moments(&mut self, count: u64, sum_ns: u128, min_ns: u64, max_ns: u64) {
        self.count += count;
        self.sum_ns += sum_ns;
        self.min_ns = self.min_ns.min(min_ns);
        self.max_ns = self.max_ns.max(max_ns);
    }

    /// Builds a histogram from its sparse encoding: the parts that [`Self::nonzero`],
    /// [`Self::sum_ns`], [`Self::min_ns`] and [`Self::max_ns`] return.
    ///
    /// Returns `None` if the parts cannot belong together:
    /// - a bucket does not exist, is repeated or out of order;
    /// - a count is zero, or all counts together exceed 64 bits;
    /// - an extreme lies outside the first or the last bucket;
    /// - the buckets cannot have this sum.
    pub fn from_sparse(
        buckets: impl IntoIterator<Item = (usize, u64)>,
        sum_ns: u128,
        min_ns: u64,
        max_ns: u64,
    ) -> Option<Self> {
        let mut histogram = Self::default();
        let mut next = 0;
        for (index, count) in buckets {
            if index < next || index >= BUCKETS || count == 0 {
                return None;
            }
            histogram.counts.resize(BUCKETS, 0);
            histogram.counts[index] = count;
            histogram.count = histogram.count.checked_add(count)?;
            next = index + 1;
        }
        if histogram.count == 0 {
            return Some(histogram);
        }
        histogram.add_moments(0, sum_ns, min_ns, max_ns);
        let ends = histogram
            .counts
            .iter()
            .position(|&count| count > 0)
            .zip(next.checked_sub(1));
        let extremes_fit = min_ns <= max_ns && ends == Some((bucket_of(min_ns), bucket_of(max_ns)));
        let n = u128::from(histogram.count);
        let possible_sums = n * u128::from(min_ns)..=n * u128::from(max_ns);
        (extremes_fit && possible_sums.contains(&sum_ns)).then_some(histogram)
    }

    /// Returns the buckets that hold samples as (index, count), in ascending order.
    pub fn nonzero(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let touched = self.touched();
        let first = touched.start;
        let counts = self.counts.get(touched).unwrap_or_default();
        counts
            .iter()
            .enumerate()
            .filter(|&(_, &count)| count > 0)
            .map(move |(i, &count)| (first + i, count))
    }

    /// Returns the buckets from that of the smallest to that of the largest sample; empty without
    /// samples.
    fn touched(&self) -> Range<usize> {
        if self.count == 0 {
            0..0
        } else {
            bucket_of(self.min_ns)..bucket_of(self.max_ns) + 1
        }
    }

    /// Returns the number of samples.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether the histogram holds no samples.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the number of samples of [`OVERFLOW_NS`] or more, whose bucket has no upper bound.
    pub fn overflow(&self) -> u64 {
        self.counts.last().copied().unwrap_or(0)
    }

    /// Returns the exact sum of the samples.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Returns the exact smallest sample; `None` without samples.
    pub fn min_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min_ns)
    }

    /// Returns the exact largest sample; `None` without samples.
    pub fn max_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max_ns)
    }

    /// Returns the arithmetic mean, from the exact sum; `None` without samples.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// Returns the sample of rank `ceil(q * n)`, within 0.79 %; `None` without samples.
    ///
    /// The first and the last rank return the exact extremes. For a rank between them, the bucket,
    /// the extremes and the exact sum bound the sample. The result is the middle of these bounds, so
    /// that no percentile contradicts the mean. In the overflow bucket it is a lower bound.
    pub fn quantile_ns(&self, quantile: Quantile) -> Option<u64> {
        (self.count > 0).then(|| self.value_at_rank(quantile.rank(self.count)))
    }

    /// As [`Self::quantile_ns`], but `None` if fewer than `beyond` samples have a higher rank: a
    /// percentile that depends on a handful of samples says nothing about the next run.
    pub fn supported_quantile_ns(&self, quantile: Quantile, beyond: u64) -> Option<u64> {
        let rank = quantile.rank(self.count);
        (self.count >= rank && self.count - rank >= beyond).then(|| self.value_at_rank(rank))
    }

    fn value_at_rank(&self, rank: u64) -> u64 {
        if rank == 1 {
            return self.min_ns;
        }
        if rank >= self.count {
            return self.max_ns;
        }
        let mut passed = 0;
        let holds_rank = |&(_, count): &(usize, u64)| {
            passed += count;
            passed >= rank
        };
        let bucket = self
            .nonzero()
            .find(holds_rank)
            .map_or(BUCKETS - 1, |(index, _)| index);
        let (least, most) = self.bounds_by_sum_ns(rank);
        let Range { start, end } = bucket_bounds_ns(bucket);
        let low = start.max(least).min(end - 1);
        if bucket == BUCKETS - 1 {
            return low;
        }
        low.midpoint(most.min(end - 1).max(low))
    }

    /// Returns the bounds that sum and extremes set to the sample of a rank. Lower bound: the
    /// samples up to this rank are no larger than it, and the others are at most the maximum. Upper
    /// bound: the samples from this rank on are no smaller than it, and the others are at least the
    /// minimum.
    fn bounds_by_sum_ns(&self, rank: u64) -> (u64, u64) {
        let (rank, count) = (u128::from(rank), u128::from(self.count));
        let (least, most) = (u128::from(self.min_ns), u128::from(self.max_ns));
        let above_least = self.sum_ns.saturating_sub(count * least);
        let below_most = (count * most).saturating_sub(self.sum_ns);
        let low = most.saturating_sub(below_most / rank).max(least);
        let high = (least + above_least / (count - rank + 1)).min(most);
        (low as u64, high as u64)
    }
}
