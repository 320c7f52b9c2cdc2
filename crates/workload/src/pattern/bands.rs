//! Neighbouring bands of the span, each with its own share of the accesses (fio: `zoned`).

use crate::blocks::Grid;
use crate::random::{FOR_PLACE, below};
use crate::spec::Band;
use crate::weighted::Weighted;

/// Returns the edges of the bands, in slots of a grid: one more than there are bands.
///
/// Each edge is rounded down separately, so that rounding errors do not accumulate.
pub(crate) fn edges(bands: &[Band], slots: u64) -> Vec<u64> {
    let total: u128 = bands.iter().map(|b| u128::from(b.span_weight)).sum();
    let mut before: u128 = 0;
    let mut edges = vec![0];
    for band in bands {
        before += u128::from(band.span_weight);
        edges.push((u128::from(slots) * before / total.max(1)) as u64);
    }
    edges
}

/// Draws slots: a band by its access weight, then a uniform slot of the band.
#[derive(Debug)]
pub(crate) struct Bands {
    choice: Weighted,
    parts: Box<[(u64, u64)]>,
}

impl Bands {
    pub(crate) fn new(bands: &[Band], grid: &Grid) -> Self {
        let weights: Vec<u64> = bands.iter().map(|b| u64::from(b.access_weight)).collect();
        let edges = edges(bands, grid.slots);
        Self {
            choice: Weighted::new(&weights),
            parts: edges.windows(2).map(|e| (e[0], e[1] - e[0])).collect(),
        }
    }

    #[inline]
    pub(crate) fn slot(&self, draw: u64) -> u64 {
        let (first, slots) = self.parts[self.choice.pick(draw)];
        first + below(draw.wrapping_mul(FOR_PLACE), slots)
    }
}
