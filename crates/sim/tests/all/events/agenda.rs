//! What happens next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Events in order of time; those of one moment in the order in which they were noted.
pub struct Agenda<E> {
    heap: BinaryHeap<Reverse<(u64, u64)>>,
    /// By number, which only grows: what has happened is taken out.
    noted: std::collections::HashMap<u64, E>,
    next: u64,
    /// The time of the event that was taken last.
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
