//! Reads the rest of a mapping unit that the host wrote in part. The unit is whole when its rest has arrived.

use serde::{Deserialize, Serialize};

use crate::flash::addressing::Place;
use crate::flash::behind::Behind;
use crate::flash::machine::Machine;
use crate::power::DieWork;

/// A read of the rest of a mapping unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rest {
    /// When the rest arrives, as known at the last look. The true time is never earlier.
    pub there: u64,
    work: Behind,
}

impl Machine {
    /// Reads `units` of one array read, from [`at`](Self::at) on, behind the work that die and channel were given for
    /// earlier times.
    pub fn read_rest(&mut self, place: Place, units: u32) -> Rest {
        // It takes its place on the channel now and crosses once it is sensed. Nothing behind it waits for the sensing.
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

    /// Queues the array read before programs that were given already but start later: their data may still be on its
    /// way along the data path. Returns the read's number and its end.
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

    /// Returns when the rest arrives if no more reads come.
    pub fn rest_there(&self, rest: &Rest) -> u64 {
        rest.there.max(self.end_of(&rest.work))
    }
}
