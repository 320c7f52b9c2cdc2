//! When the firmware stops for its own work.

use sim::profile::spec::HousekeepingSpec;
use workload::random::mix;

pub struct Stops {
    spec: HousekeepingSpec,
    drawn: u64,
    units_left: u64,
}

impl Stops {
    pub fn new(spec: HousekeepingSpec) -> Self {
        let mut stops = Self {
            spec,
            drawn: 0,
            units_left: 0,
        };
        stops.units_left = stops.distance();
        stops
    }

    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        mix(self.spec.seed ^ 0x57_0B5, self.drawn)
    }

    /// Uniform up to twice the mean.
    fn distance(&mut self) -> u64 {
        1 + self.draw() % (2 * u64::from(self.spec.every_units))
    }

    /// Counts units moved for a write. Returns the length of a stop if one is due: the number of heads in a row of a coin plus
    /// a fraction below 1, over 1.5, times the mean.
    pub fn moved(&mut self, units: u64) -> Option<u64> {
        self.units_left = self.units_left.saturating_sub(units);
        if units == 0 || self.units_left > 0 {
            return None;
        }
        self.units_left = self.distance();
        let random = self.draw();
        let heads = (0..20)
            .take_while(|bit| random >> (63 - bit) & 1 == 0)
            .count();
        let parts = heads as f64 + (random & 0xFFFF) as f64 / 65_536.0;
        Some((self.spec.pause_ns as f64 * parts / 1.5) as u64)
    }
}
