//! The figures of one direction as `measure --json` prints them. Scripts rely on the keys: they
//! must not change.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::histogram::{Histogram, Quantile};
use crate::tally::OpTally;

/// A percentile is printed only if at least this many samples lie beyond it.
pub const SAMPLES_BEYOND: u64 = 10;

/// The figures of one direction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// I/Os requested: done, failed and dropped.
    pub requested: u64,
    /// I/Os done.
    pub ios: u64,
    /// I/Os that failed.
    pub failed: u64,
    /// I/Os that were due and never issued.
    pub dropped: u64,
    /// I/Os done that were submitted more than 1 ms after their intended start.
    pub late: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Failed I/Os by error number.
    pub errors: BTreeMap<i32, u64>,
    /// Service time: from submission to completion.
    pub service_ns: LatencySummary,
    /// Response time: from intended start to completion.
    pub response_ns: LatencySummary,
}

impl OpTally {
    /// Returns the figures that `measure --json` prints for a direction.
    pub fn summary(&self) -> Summary {
        Summary {
            requested: self.requested(),
            ios: self.done,
            failed: self.failed,
            dropped: self.dropped,
            late: self.late,
            bytes: self.bytes,
            errors: self.errors.clone(),
            service_ns: LatencySummary::of(&self.service),
            response_ns: LatencySummary::of(self.response()),
        }
    }
}

/// The figures of a histogram, ns. `None` (null) without samples, and for percentiles with fewer
/// than [`SAMPLES_BEYOND`] samples beyond them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct LatencySummary {
    /// Exact minimum.
    pub min: Option<u64>,
    /// Mean, from the exact sum, to a tenth of a nanosecond.
    pub mean: Option<f64>,
    /// Exact maximum.
    pub max: Option<u64>,
    /// Median.
    pub p50: Option<u64>,
    /// The 90th percentile.
    pub p90: Option<u64>,
    /// The 99th percentile.
    pub p99: Option<u64>,
    /// The 99.9th percentile.
    #[serde(rename = "p99.9")]
    pub p99_9: Option<u64>,
    /// The 99.99th percentile.
    #[serde(rename = "p99.99")]
    pub p99_99: Option<u64>,
    /// The 99.999th percentile.
    #[serde(rename = "p99.999")]
    pub p99_999: Option<u64>,
}

impl LatencySummary {
    /// Computes the figures of a histogram.
    pub fn of(histogram: &Histogram) -> Self {
        let quantile = |q| histogram.supported_quantile_ns(q, SAMPLES_BEYOND);
        Self {
            min: histogram.min_ns(),
            mean: histogram.mean_ns().map(|mean| (mean * 10.0).round() / 10.0),
            max: histogram.max_ns(),
            p50: quantile(Quantile::P50),
            p90: quantile(Quantile::P90),
            p99: quantile(Quantile::P99),
            p99_9: quantile(Quantile::P99_9),
            p99_99: quantile(Quantile::P99_99),
            p99_999: quantile(Quantile::P99_999),
        }
    }
}
