//! The event queue.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Events in order of time; simultaneous ones in order of insertion.
pub struct Agenda<E> {
    heap: BinaryHeap<Reverse<(u64, u64)>>,
    /// By sequence number; events are removed when they occur.
    noted: std::collections::HashMap<u64, E>,
    next: u64,
    /// The time of the last event taken.
    pub now: u64,
}

impl<E> Agenda<E> {
    pub fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            noted: std::collections::HashMap::new(),
            next: 0,
            now: 0,
        }
    }

    pub fn at(&mut self, time: u64, event: E) {
        assert!(time >= self.now, "nothing happens in the past");
        self.heap.push(Reverse((time, self.next)));
        self.noted.insert(self.next, event);
        self.next += 1;
    }

    pub fn take(&mut self) -> Option<E> {
        let Reverse((time, number)) = self.heap.pop()?;
        self.now = time;
        self.noted.remove(&number)
    }
}
