//! When the firmware stops for housekeeping, and for how long.

use serde::{Deserialize, Serialize};
use workload::random::mix;

use crate::profile::spec::HousekeepingSpec;

/// Most leading zeros that count towards the length of a stop; one draw in a million has that many.
const DOUBLINGS: u32 = 20;

/// The firmware stops of one drive. They come as collection moves data for host writes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Housekeeping {
    spec: HousekeepingSpec,
    /// Units to move until the next stop.
    left: u64,
    drawn: u64,
}

impl Housekeeping {
    pub(crate) fn new(spec: HousekeepingSpec) -> Self {
        let mut made = Self {
            spec,
            left: 0,
            drawn: 0,
        };
        made.left = made.distance();
        made
    }

    /// Counts `units` more moved units. Returns how long the firmware stops after them, in ns, if a stop is due.
    #[inline]
    pub(crate) fn moved(&mut self, units: u32) -> Option<u64> {
        self.left = self.left.saturating_sub(units.into());
        (self.left == 0).then(|| self.stop())
    }

    #[cold]
    fn stop(&mut self) -> u64 {
        self.left = self.distance();
        let random = self.draw();
        // Each further leading zero is half as likely, and their mean number is 1. With a uniform fraction the mean is 1.5,
        // hence the divisor.
        let zeroes = random.leading_zeros().min(DOUBLINGS);
        let parts = u128::from(zeroes << 16 | random as u32 & 0xFFFF);
        (u128::from(self.spec.pause_ns) * parts / (3 << 15)) as u64
    }

    fn distance(&mut self) -> u64 {
        1 + self.draw() % (2 * u64::from(self.spec.every_units)).max(1)
    }

    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        mix(self.spec.seed ^ 0x57_0B5, self.drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_and_lengths_have_the_means_that_were_asked_for_and_vary() {
        let mut housekeeping = Housekeeping::new(HousekeepingSpec {
            seed: 7,
            every_units: 500,
            pause_ns: 1_000_000,
        });
        let mut stops = Vec::new();
        let mut since = 0;
        while stops.len() < 4000 {
            since += 1;
            if let Some(pause_ns) = housekeeping.moved(1) {
                stops.push((f64::from(since), pause_ns as f64));
                since = 0;
            }
        }
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| {
            stops.iter().map(of).sum::<f64>() / stops.len() as f64
        };
        let [gap, pause] = [mean(&|stop| stop.0), mean(&|stop| stop.1)];
        assert!((480.0..520.0).contains(&gap), "{gap}");
        assert!((0.95e6..1.05e6).contains(&pause), "{pause}");
        let variance = mean(&|stop| (stop.0 - gap) * (stop.0 - gap));
        assert!(variance.sqrt() / gap > 0.5);
        // Each further 0.67 ms makes a stop half as likely.
        let longer = |ns: f64| stops.iter().filter(|stop| stop.1 > ns).count() as f64;
        let halved = longer(3.0e6) / longer(3.0e6 - 2e6 / 3.0);
        assert!((0.4..0.6).contains(&halved), "{halved}");
    }
}
