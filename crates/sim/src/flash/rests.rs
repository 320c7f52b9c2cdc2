//! What the host did not write of a mapping unit, on its way from flash: the unit is whole when it is there.

use serde::{Deserialize, Serialize};

use crate::flash::addressing::Place;
use crate::flash::behind::Behind;
use crate::flash::machine::Machine;
use crate::power::DieWork;

/// A read of the rest of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rest {
    /// When it was there as things stood when that was last looked at: never later than it is.
    pub there: u64,
    work: Behind,
}

impl Machine {
    /// Reads `units` of one array read from [`at`](Self::at) on, behind what the dies and channels were given by then.
    pub fn read_rest(&mut self, place: Place, units: u32) -> Rest {
        // Its place on the channel is taken at once, and it crosses when it has been sensed: nothing behind it waits for that.
        let (work, sensed) = self.sense_rest(place);
        let (transfer, crossed) = self.carry_in_time(place.die, units);
        let crossing_ns = self.crossing_ns(units);
        let work = Behind {
            die: place.die,
            numbers: [work, transfer],
            follows_ns: [crossing_ns, 0],
        };
        self.watch(&work);
        Rest {
            there: crossed.max(sensed + crossing_ns),
            work,
        }
    }

    /// What the host wrote before may not have passed the data path yet: its programs come later.
    fn sense_rest(&mut self, place: Place) -> (u64, u64) {
        self.counts.reads += 1;
        let read_ns = self.own_read_ns(place, self.read_ns[place.page_type as usize & 7]);
        let at = match &mut self.power {
            Some(power) => power.begin(DieWork::Read, self.at, read_ns),
            None => self.at,
        };
        self.meet_data(place.die, self.now);
        self.dies[place.die as usize].work_in_time(self.now, at, read_ns)
    }

    /// When it is there if no more reads come.
    pub fn rest_there(&self, rest: &Rest) -> u64 {
        rest.there.max(self.end_of(&rest.work))
    }
}
