//! What the host did not write of a mapping unit, on its way from flash: the unit is whole when it is there.

use serde::{Deserialize, Serialize};

use crate::flash::addressing::Place;
use crate::flash::machine::Machine;

/// A read of the rest of a unit. It is there when the work of its die and that of the channel are over, each as far as reads of the host
/// have delayed them since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rest {
    /// When it was there as things stood when that was last looked at: never later than it is.
    pub there: u64,
    die: u32,
    undelayed: [u64; 2],
}

impl Machine {
    /// Reads `units` of one array read from [`at`](Self::at) on, behind what the dies and channels were given before.
    pub fn read_rest(&mut self, place: Place, units: u32) -> Rest {
        // Its place on the channel is taken at once, and it crosses when it has been sensed: nothing behind it waits for that.
        let sensed = self.sense_behind(place) + self.crossing_ns(units);
        let crossed = self.carry(place.die, units);
        self.pass(self.at, units);
        let [of_die, of_channel] = self.delayed_ns(place.die);
        Rest {
            there: sensed.max(crossed),
            die: place.die,
            undelayed: [sensed - of_die, crossed - of_channel],
        }
    }

    /// When it is there if no more reads come.
    pub fn rest_there(&self, rest: &Rest) -> u64 {
        let [of_die, of_channel] = self.delayed_ns(rest.die);
        let [sensed, crossed] = rest.undelayed;
        (sensed + of_die).max(crossed + of_channel)
    }
}
