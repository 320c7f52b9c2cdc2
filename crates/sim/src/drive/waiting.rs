//! Commands whose ends are unknown when they come: writes that wait for buffer room, and commands behind them that wait for a
//! device slot.

use std::collections::VecDeque;

use workload::Op;

/// A write whose data is in the device and waits to enter the write buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entering {
    pub(super) tag: u32,
    /// When the next piece is ready to enter.
    pub(super) ready: u64,
    /// Earliest time at which the buffer's pacing admits the next piece, if that is known.
    pub(super) paced: Option<u64>,
    pub(super) offset: u64,
    /// Byte at which the next piece begins.
    pub(super) at: u64,
    pub(super) end: u64,
    /// When a core has updated the map for the moves that this write caused.
    pub(super) moved: u64,
}

/// A command that waits for a device slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct AtDoor {
    pub(super) tag: u32,
    pub(super) op: Op,
    pub(super) offset: u64,
    pub(super) length: u32,
}

/// Commands whose ends are unknown, in order, and commands whose ends are known but not yet reported.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiting {
    pub(super) entering: VecDeque<Entering>,
    pub(super) at_door: VecDeque<AtDoor>,
    pub(super) ended: VecDeque<(u32, u64)>,
}

impl Waiting {
    /// Number of commands in the device whose ends are unknown.
    #[inline]
    pub(crate) fn entering(&self) -> usize {
        self.entering.len()
    }

    /// Whether any command's end is unknown.
    #[inline]
    pub(crate) fn has_unknown(&self) -> bool {
        !self.entering.is_empty() || !self.at_door.is_empty()
    }

    /// Takes the next command whose end has become known: its tag and its end.
    pub(crate) fn next_ended(&mut self) -> Option<(u32, u64)> {
        self.ended.pop_front()
    }
}
