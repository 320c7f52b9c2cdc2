//! The histogram against a sorted list of all samples.

use metrics::{
    BUCKETS, Histogram, OVERFLOW_NS, Quantile, SAMPLES_BEYOND, bucket_bounds_ns, bucket_of,
};
use proptest::prelude::*;

/// Latencies of every magnitude, with many ties and many neighbours of bucket edges.
fn samples() -> impl Strategy<Value = Vec<u64>> {
    let edge =
        (0..40u32, -2i64..=2).prop_map(|(octave, off)| (1u64 << octave).saturating_add_signed(off));
    let any_size = (0..44u32, any::<u64>()).prop_map(|(octave, bits)| bits >> (63 - octave));
    prop::collection::vec(
        prop_oneof![3 => any_size, 2 => edge, 2 => 90u64..110, 1 => Just(1_000_000)],
        1..400,
    )
}

fn histogram_of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for &value in values {
        histogram.record(value);
    }
    histogram
}

#[test]
fn buckets_tile_the_range_without_gaps() {
    let mut next = 0;
    for index in 0..BUCKETS {
        let bounds = bucket_bounds_ns(index);
        assert_eq!(
            bounds.start, next,
            "bucket {index} starts where the one before ends"
        );
        assert_eq!(bucket_of(bounds.start), index);
        assert_eq!(bucket_of(bounds.end - 1), index);
        next = bounds.end;
    }
    assert_eq!(next, u64::MAX);
    assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    assert_eq!(bucket_bounds_ns(BUCKETS - 1).start, OVERFLOW_NS);
}

#[test]
fn small_values_are_exact_and_all_others_within_the_bound() {
    for index in 0..BUCKETS - 1 {
        let bounds = bucket_bounds_ns(index);
        let width = bounds.end - bounds.start;
        assert!(if bounds.start < 128 {
            width == 1
        } else {
            width * 64 <= bounds.start
        });
    }
}

#[test]
fn ranks_are_exact_ceilings() {
    // Computed as a floating-point product, each of these ranks is off by one, or may be.
    assert_eq!(Quantile::P90.rank(10), 9);
    assert_eq!(Quantile::P99.rank(100), 99);
    assert_eq!(Quantile::P99.rank(101), 100);
    assert_eq!(Quantile::P99_9.rank(1_000), 999);
    assert_eq!(Quantile::P99_9.rank(1_001), 1_000);
    assert_eq!(Quantile::P99_99.rank(10_000), 9_999);
    assert_eq!(Quantile::P99_999.rank(100_000), 99_999);
    assert_eq!(Quantile::P50.rank(1), 1);
    assert_eq!(Quantile::per_million(0).unwrap().rank(7), 1);
    assert_eq!(
        Quantile::per_million(1_000_000).unwrap().rank(u64::MAX),
        u64::MAX
    );
    assert_eq!(Quantile::per_million(1_000_001), None);
}

#[test]
fn an_empty_histogram_has_no_figures() {
    let empty = Histogram::new();
    assert!(empty.is_empty());
    assert_eq!(
        (empty.min_ns(), empty.max_ns(), empty.mean_ns()),
        (None, None, None)
    );
    assert_eq!(empty.quantile_ns(Quantile::P50), None);
    assert_eq!(empty.supported_quantile_ns(Quantile::P50, 0), None);
    assert_eq!(Histogram::from_bytes(&empty.to_bytes()), Some(empty));
}

#[test]
fn beyond_the_range_is_counted_and_extremes_stay_exact() {
    let histogram = histogram_of(&[5, OVERFLOW_NS - 1, OVERFLOW_NS, OVERFLOW_NS + 7, u64::MAX]);
    assert_eq!(histogram.overflow(), 3);
    assert_eq!(histogram.max_ns(), Some(u64::MAX));
    assert_eq!(
        histogram.sum_ns(),
        5 + 3 * u128::from(OVERFLOW_NS) + 6 + u128::from(u64::MAX)
    );
    let at_least = histogram.quantile_ns(Quantile::per_million(700_000).unwrap());
    assert_eq!(
        at_least,
        Some(OVERFLOW_NS),
        "rank 4 of 5 lies in the bucket without upper bound"
    );
}

#[test]
fn a_percentile_needs_ten_samples_beyond_it() {
    let reported = |n: u64, q| {
        histogram_of(&(1..=n).collect::<Vec<_>>()).supported_quantile_ns(q, SAMPLES_BEYOND)
    };
    assert_eq!(reported(19, Quantile::P50), None);
    assert_eq!(reported(20, Quantile::P50), Some(10));
    assert_eq!(reported(999, Quantile::P99), None);
    assert!(reported(1_000, Quantile::P99).is_some());
    assert_eq!(reported(9_999, Quantile::P99_9), None);
    assert!(reported(10_000, Quantile::P99_9).is_some());
}

#[test]
fn encodings_that_contradict_themselves_are_refused() {
    let low = bucket_bounds_ns(300).start;
    assert!(Histogram::from_sparse([(300, 2)], 2 * u128::from(low), low, low).is_some());
    let refused = |buckets: &[(usize, u64)], sum, min, max| {
        assert_eq!(
            Histogram::from_sparse(buckets.iter().copied(), sum, min, max),
            None
        );
    };
    refused(&[(300, 2)], 2 * u128::from(low) + 1, low, low);
    refused(
        &[(300, 2)],
        2 * u128::from(low),
        low,
        bucket_bounds_ns(301).start,
    );
    refused(&[(300, 2)], 2 * u128::from(low), low - 1, low);
    refused(&[(300, 0)], 0, low, low);
    refused(&[(300, 1), (300, 1)], 2 * u128::from(low), low, low);
    refused(&[(BUCKETS, 1)], u128::from(u64::MAX), u64::MAX, u64::MAX);
    refused(&[(0, u64::MAX), (1, 2)], 2, 0, 1);
}

#[test]
fn a_percentile_does_not_contradict_the_mean_of_samples_in_one_bucket() {
    let mut samples = vec![60_558_007; 55];
    samples.extend([60_810_000; 45]);
    let histogram = histogram_of(&samples);
    assert_eq!(
        bucket_of(samples[0]),
        bucket_of(samples[99]),
        "which is what it is about"
    );
    let at = |q| histogram.quantile_ns(q).unwrap();
    assert!(at(Quantile::P50) < at(Quantile::P90));
    assert!(histogram.mean_ns().unwrap() < at(Quantile::P99) as f64);
    assert!(at(Quantile::P99) <= 60_810_000);
}

proptest! {
    #[test]
    fn quantiles_meet_the_sorted_samples(values in samples(), per_million in 0u32..=1_000_000) {
        let histogram = histogram_of(&values);
        let mut sorted = values;
        sorted.sort_unstable();
        let n = sorted.len();
        // All ranks with their neighbours, ties included, and one arbitrary quantile.
        let every_rank = (1..=n).map(|rank| (rank as u64 * 1_000_000 / n as u64) as u32);
        for parts in every_rank.chain([per_million]) {
            let rank = (n as u128 * u128::from(parts)).div_ceil(1_000_000).max(1) as usize;
            let truth = sorted[rank - 1];
            let quantile = Quantile::per_million(parts).unwrap();
            prop_assert_eq!(quantile.rank(n as u64), rank as u64);
            let value = histogram.quantile_ns(quantile).unwrap();
            prop_assert_eq!(bucket_of(value), bucket_of(truth));
            prop_assert!((sorted[0]..=sorted[n - 1]).contains(&value));
            let (sum, value, of) = (histogram.sum_ns(), u128::from(value), |count| count as u128);
            if truth < OVERFLOW_NS {
                let most = of(rank) * value + of(n - rank) * u128::from(sorted[n - 1]);
                let least = of(n - rank + 1) * value + of(rank - 1) * u128::from(sorted[0]);
                prop_assert!(least <= sum && sum <= most, "the sum can be {} with rank {} at {}", sum, rank, value);
            }
            let value = value as u64;
            if truth < OVERFLOW_NS {
                prop_assert!(value.abs_diff(truth) * 128 <= truth, "{} for {}", value, truth);
            }
        }
    }

    #[test]
    fn counts_and_moments_are_exact(values in samples()) {
        let histogram = histogram_of(&values);
        prop_assert_eq!(histogram.count(), values.len() as u64);
        prop_assert_eq!(histogram.min_ns(), values.iter().copied().min());
        prop_assert_eq!(histogram.max_ns(), values.iter().copied().max());
        prop_assert_eq!(histogram.sum_ns(), values.iter().map(|&v| u128::from(v)).sum::<u128>());
        prop_assert_eq!(histogram.nonzero().map(|(_, count)| count).sum::<u64>(), histogram.count());
    }

    #[test]
    fn merging_is_recording_together_in_any_grouping(a in samples(), b in samples(), c in samples()) {
        let [ha, hb, hc] = [&a, &b, &c].map(|values| histogram_of(values));
        let merged = |first: &Histogram, second: &Histogram| {
            let mut sum = first.clone();
            sum.merge(second);
            sum
        };
        let all: Vec<u64> = [a, b, c].concat();
        let left = merged(&merged(&ha, &hb), &hc);
        prop_assert_eq!(&left, &merged(&ha, &merged(&hb, &hc)));
        prop_assert_eq!(&left, &merged(&merged(&hc, &ha), &hb));
        prop_assert_eq!(&left, &histogram_of(&all));
        prop_assert_eq!(&merged(&left, &Histogram::new()), &left);
        prop_assert_eq!(&merged(&Histogram::new(), &left), &left);
    }

    #[test]
    fn the_sparse_encoding_comes_back_and_no_part_of_it_is_taken_for_the_whole(values in samples()) {
        let histogram = histogram_of(&values);
        let bytes = histogram.to_bytes();
        prop_assert_eq!(Histogram::from_bytes(&bytes), Some(histogram));
        for cut in 0..bytes.len() {
            prop_assert_eq!(Histogram::from_bytes(&bytes[..cut]), None);
        }
    }

    #[test]
    fn no_bytes_make_decoding_panic(bytes: Vec<u8>) {
        if let Some(histogram) = Histogram::from_bytes(&bytes) {
            prop_assert_eq!(Histogram::from_bytes(&histogram.to_bytes()), Some(histogram));
        }
    }
}
