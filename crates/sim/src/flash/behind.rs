//! The common end of a die's work and of its channel transfer, with the delays by reads so far.

use serde::{Deserialize, Serialize};

use crate::flash::channel::Channel;
use crate::flash::die::Die;
use crate::flash::divisor::Divisor;

/// Work of a die, and the transfer on its channel that belongs to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Behind {
    /// The die.
    pub die: u32,
    /// Numbers of the work and of the transfer, as returned by [`Die::work`] and [`Channel::carry`].
    pub numbers: [u64; 2],
    /// Least time from the end of the work, and of the transfer, to the end of both together, in ns.
    pub follows_ns: [u64; 2],
}

impl Behind {
    /// Returns the common end if no more reads come. If that end is past, the result may be any earlier time.
    #[inline]
    pub fn end(&self, dies: &[Die], channels: &[Channel], count: Divisor) -> u64 {
        let [work, transfer] = self.numbers;
        let [after_work, after_transfer] = self.follows_ns;
        let worked = dies[self.die as usize].end_of(work) + after_work;
        let channel = &channels[count.rest(self.die) as usize];
        worked.max(channel.end_of(transfer) + after_transfer)
    }
}
