//! Commands whose ends are not known when they come: writes that wait for the buffer, and what waits for a slot behind them.

use std::collections::VecDeque;

use workload::Op;

/// A write whose data is there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entering {
    pub(super) tag: u32,
    /// When its next unit is there.
    pub(super) ready: u64,
    /// From when on the buffer's pace lets that in, if it is known.
    pub(super) paced: Option<u64>,
    pub(super) offset: u64,
    /// Where its next unit begins.
    pub(super) at: u64,
    pub(super) end: u64,
    /// When what was moved for it has been entered.
    pub(super) moved: u64,
}

/// A command that has no slot of the device's.
#[derive(Debug, Clone, Copy)]
pub(super) struct AtDoor {
    pub(super) tag: u32,
    pub(super) op: Op,
    pub(super) offset: u64,
    pub(super) length: u32,
}

/// Commands whose ends are not known, in order, and those that have become known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiting {
    pub(super) entering: VecDeque<Entering>,
    pub(super) at_door: VecDeque<AtDoor>,
    pub(super) ended: VecDeque<(u32, u64)>,
}

impl Waiting {
    /// Commands that the device holds.
    #[inline]
    pub(crate) fn entering(&self) -> usize {
        self.entering.len()
    }

    /// Whether the end of any command is not known.
    #[inline]
    pub(crate) fn has_unknown(&self) -> bool {
        !self.entering.is_empty() || !self.at_door.is_empty()
    }

    /// The next command that has ended, or will, and when.
    pub(crate) fn next_ended(&mut self) -> Option<(u32, u64)> {
        self.ended.pop_front()
    }
}
