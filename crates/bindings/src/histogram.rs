//! Latency histograms for Python.

use metrics::{Quantile, bucket_bounds_ns, bucket_of};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::columns::frozen;

/// A log-linear histogram of latencies.
#[pyclass(module = "ssdlab._core")]
#[derive(Debug, Default)]
pub(crate) struct Histogram(metrics::Histogram);

impl From<metrics::Histogram> for Histogram {
    fn from(histogram: metrics::Histogram) -> Self {
        Self(histogram)
    }
}

/// Returns the value reported for samples of a bucket: its midpoint, or its lower bound if only that is known.
fn midpoint_ns(bucket: usize) -> u64 {
    let bounds = bucket_bounds_ns(bucket);
    if bounds.end == u64::MAX {
        bounds.start
    } else {
        bounds.start.midpoint(bounds.end - 1)
    }
}

#[pymethods]
impl Histogram {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Make a histogram from its buckets. Without the exact sum and extremes, they are estimated from the buckets' midpoints.
    #[staticmethod]
    #[pyo3(signature = (bucket_low_ns, count, *, sum_ns = None, min_ns = None, max_ns = None))]
    fn from_buckets(
        bucket_low_ns: &Bound<'_, PyArray1<u64>>,
        count: &Bound<'_, PyArray1<u64>>,
        sum_ns: Option<u128>,
        min_ns: Option<u64>,
        max_ns: Option<u64>,
    ) -> PyResult<Self> {
        let (lows, counts) = (bucket_low_ns.readonly(), count.readonly());
        let (lows, counts) = (lows.as_array(), counts.as_array());
        if lows.len() != counts.len() {
            return Err(PyValueError::new_err(
                "bucket_low_ns and count have different lengths",
            ));
        }
        let buckets: Vec<(usize, u64)> = lows
            .iter()
            .map(|&low| bucket_of(low))
            .zip(counts.iter().copied())
            .collect();
        let (Some(&(first, _)), Some(&(last, _))) = (buckets.first(), buckets.last()) else {
            return Ok(Self::default());
        };
        let (min_ns, max_ns) = (
            min_ns.unwrap_or(midpoint_ns(first)),
            max_ns.unwrap_or(midpoint_ns(last)),
        );
        let estimate = || {
            let value_ns = |bucket| midpoint_ns(bucket).min(max_ns).max(min_ns);
            buckets
                .iter()
                .map(|&(bucket, count)| u128::from(value_ns(bucket)) * u128::from(count))
                .sum()
        };
        let sum_ns = sum_ns.unwrap_or_else(estimate);
        metrics::Histogram::from_sparse(buckets, sum_ns, min_ns, max_ns)
            .map(Self)
            .ok_or_else(|| {
                PyValueError::new_err("buckets, counts, sum and extremes do not belong together")
            })
    }

    /// Make a histogram from its sparse encoding.
    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        let histogram = metrics::Histogram::from_bytes(data);
        histogram
            .map(Self)
            .ok_or_else(|| PyValueError::new_err("not the sparse encoding of a histogram"))
    }

    /// Return the sparse encoding, as in the append log.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    #[getter]
    fn count(&self) -> u64 {
        self.0.count()
    }

    #[getter]
    fn sum_ns(&self) -> u128 {
        self.0.sum_ns()
    }

    #[getter]
    fn min_ns(&self) -> Option<u64> {
        self.0.min_ns()
    }

    #[getter]
    fn max_ns(&self) -> Option<u64> {
        self.0.max_ns()
    }

    #[getter]
    fn mean_ns(&self) -> Option<f64> {
        self.0.mean_ns()
    }

    /// Return the latency in ns that a share `q` of the samples does not exceed. None if the histogram is empty or has
    /// fewer than `beyond` samples above.
    #[pyo3(signature = (q, *, beyond = 0))]
    fn quantile(&self, q: f64, beyond: u64) -> PyResult<Option<u64>> {
        if !(0.0..=1.0).contains(&q) {
            return Err(PyValueError::new_err(format!(
                "a quantile is between 0 and 1, not {q}"
            )));
        }
        let quantile = Quantile::per_million((q * 1e6).round() as u32);
        Ok(quantile
            .filter(|_| !self.0.is_empty())
            .and_then(|q| self.0.supported_quantile_ns(q, beyond)))
    }

    /// Return `(bucket_low_ns, count)` of the buckets that are not empty, in rising order.
    fn buckets<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, Bound<'py, PyAny>) {
        let (lows, counts): (Vec<u64>, Vec<u64>) = self
            .0
            .nonzero()
            .map(|(bucket, count)| (bucket_bounds_ns(bucket).start, count))
            .unzip();
        (frozen(py, lows), frozen(py, counts))
    }

    /// Add the samples of another histogram.
    fn merge(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) {
        // Cloned, because adding a histogram to itself would borrow it twice.
        let more = other.borrow().0.clone();
        slf.borrow_mut().0.merge(&more);
    }

    fn __repr__(&self) -> String {
        format!(
            "Histogram(count={}, min_ns={:?}, max_ns={:?})",
            self.0.count(),
            self.0.min_ns(),
            self.0.max_ns()
        )
    }
}
