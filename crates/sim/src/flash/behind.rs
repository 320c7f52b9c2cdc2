//! What is over when work of a die and a transfer of its channel are, each as far as reads have delayed it.

use serde::{Deserialize, Serialize};

use crate::flash::channel::Channel;
use crate::flash::die::Die;
use crate::flash::divisor::Divisor;

/// Work of a die, and what crosses its channel for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Behind {
    /// The die.
    pub die: u32,
    /// Their numbers, as [`Die::work`] and [`Channel::carry`] say.
    pub numbers: [u64; 2],
    /// What follows each of them, in ns.
    pub follows_ns: [u64; 2],
}

impl Behind {
    /// When it is over if no more reads come; what is past at some time before.
    #[inline]
    pub fn end(&self, dies: &[Die], channels: &[Channel], count: Divisor) -> u64 {
        let [work, transfer] = self.numbers;
        let [after_work, after_transfer] = self.follows_ns;
        let worked = dies[self.die as usize].end_of(work) + after_work;
        let channel = &channels[count.rest(self.die) as usize];
        worked.max(channel.end_of(transfer) + after_transfer)
    }
}
