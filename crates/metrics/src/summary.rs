//! The figures of one direction as `measure --json` prints them; the keys are contract.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::histogram::{Histogram, Quantile};
use crate::tally::OpTally;

/// A percentile is printed only where at least this many samples lie beyond it.
pub const SAMPLES_BEYOND: u64 = 10;

/// One direction in figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// I/Os asked for: done, failed and dropped.
    pub requested: u64,
    /// I/Os done.
    pub ios: u64,
    /// I/Os that failed.
    pub failed: u64,
    /// I/Os due and never issued.
    pub dropped: u64,
    /// I/Os done, submitted more than 1 ms after their intended start.
    pub late: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Failed I/Os by error number.
    pub errors: BTreeMap<i32, u64>,
    /// Submit to complete.
    pub service_ns: LatencySummary,
    /// Intended start to complete.
    pub response_ns: LatencySummary,
}

impl OpTally {
    /// The figures that `measure --json` gives for a direction.
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

/// A histogram in figures, ns. `None` (null) without samples, and for percentiles with fewer than
/// [`SAMPLES_BEYOND`] samples beyond them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct LatencySummary {
    /// Exact smallest.
    pub min: Option<u64>,
    /// Mean of the exact values, to a tenth of a nanosecond.
    pub mean: Option<f64>,
    /// Exact largest.
    pub max: Option<u64>,
    /// Median.
    pub p50: Option<u64>,
    /// 90 %.
    pub p90: Option<u64>,
    /// 99 %.
    pub p99: Option<u64>,
    /// 99.9 %.
    #[serde(rename = "p99.9")]
    pub p99_9: Option<u64>,
    /// 99.99 %.
    #[serde(rename = "p99.99")]
    pub p99_99: Option<u64>,
    /// 99.999 %.
    #[serde(rename = "p99.999")]
    pub p99_999: Option<u64>,
}

impl LatencySummary {
    /// The figures of a histogram.
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
