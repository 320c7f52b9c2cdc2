//! The write buffer: host data that is not yet in flash.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

/// A bounded buffer of units. A unit leaves it when the program that holds it ends.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WriteBuffer {
    capacity: u32,
    used: u32,
    programs: BinaryHeap<Reverse<(u64, u32)>>,
    latest_end: u64,
}

impl WriteBuffer {
    /// A buffer of so many units.
    pub fn new(capacity: u32) -> Self {
        Self {
            capacity,
            used: 0,
            programs: BinaryHeap::new(),
            latest_end: 0,
        }
    }

    /// Takes one unit at `ready`, or as soon as the earliest programs have made room. Returns when it is in.
    ///
    /// # Panics
    /// If the buffer is smaller than a word line, which profiles are checked for.
    #[inline]
    pub fn admit(&mut self, ready: u64) -> u64 {
        let mut at = ready;
        while self.used >= self.capacity {
            let Reverse((end, units)) = self
                .programs
                .pop()
                .expect("the buffer is larger than the open word lines: the profile was checked");
            self.used -= units;
            at = at.max(end);
        }
        self.used += 1;
        at
    }

    /// A program that ends at `end` will free `units`.
    #[inline]
    pub fn programmed(&mut self, end: u64, units: u32) {
        self.latest_end = self.latest_end.max(end);
        self.programs.push(Reverse((end, units)));
    }

    /// When every program given so far has ended.
    pub fn drained_at(&self) -> u64 {
        self.latest_end
    }
}
