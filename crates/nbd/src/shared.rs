//! State that all connections of a server share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::awake::Places;
use crate::backing::Backing;
use crate::clock::{Clock, Cost};
use crate::contents::Contents;
use crate::export::Export;
use crate::room::Room;
use crate::tally::Tally;

/// Longest sleep; it determines how soon the end of the server is noticed.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(50);

/// State that all connections share.
#[derive(Debug)]
pub struct Shared {
    /// The export that is offered to clients.
    pub export: Export,
    /// The data on the drive.
    pub contents: Contents,
    /// The drive that carries out commands.
    pub backing: Backing,
    /// The drive's clock.
    pub clock: Clock,
    /// The cost of serving.
    pub cost: Cost,
    /// Bytes that clients may have in the drive beyond their own shares.
    pub flight: Room,
    /// Places for threads that stay awake.
    pub places: Places,
    /// Counts of what was served.
    pub tally: Tally,
    /// Whether the server is to end.
    pub stopping: AtomicBool,
}

impl Shared {
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}
