//! What the connections of a server have in common.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::awake::Places;
use crate::backing::Backing;
use crate::clock::{Clock, Cost};
use crate::contents::Contents;
use crate::export::Export;
use crate::room::Room;
use crate::tally::Tally;

/// Longest sleep: how soon the end of the server is noticed.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What all connections share.
#[derive(Debug)]
pub struct Shared {
    /// What is offered.
    pub export: Export,
    /// What it holds.
    pub contents: Contents,
    /// What answers.
    pub backing: Backing,
    /// The drive's time.
    pub clock: Clock,
    /// What serving costs.
    pub cost: Cost,
    /// What clients may have in the drive beyond their own parts.
    pub flight: Room,
    /// Who may stay awake.
    pub places: Places,
    /// What was served.
    pub tally: Tally,
    /// Whether the server is to end.
    pub stopping: AtomicBool,
}

impl Shared {
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}
