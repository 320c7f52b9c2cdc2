//! A server: starts, reports its progress, and ends in order.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use metrics::Histogram;

use crate::awake::Places;
use crate::backing::Backing;
use crate::clock::{Clock, Cost};
use crate::contents::Contents;
use crate::door::{Door, Limits};
use crate::error::ServeError;
use crate::export::Export;
use crate::flight::SHARED_BYTES;
use crate::listener::{Address, Listener};
use crate::room::Room;
use crate::shared::Shared;
use crate::tally::{Tally, Totals};

/// A drive that is being served.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    address: Address,
    thread: JoinHandle<f64>,
    started_ns: u64,
}

/// What was served from start to end.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Counts of commands, bytes and connections.
    pub totals: Totals,
    /// Histogram of the time from a reply's send time until it was handed to the socket, in ns.
    pub lateness: Histogram,
    /// I/Os per second in the busiest second.
    pub peak_iops: f64,
    /// How long the server ran, in ns; the same on the drive's clock and on the wall clock.
    pub elapsed_ns: u64,
}

impl Server {
    /// Starts to serve.
    ///
    /// # Errors
    /// [`ServeError::Start`] if no thread could be started.
    pub fn start(
        listener: Listener,
        export: Export,
        contents: Contents,
        backing: Backing,
        cost: Cost,
        limits: Limits,
    ) -> Result<Self, ServeError> {
        let clock = Clock::starting_at(backing.now_ns());
        let shared = Arc::new(Shared {
            export,
            contents,
            backing,
            clock,
            cost,
            flight: Room::new(SHARED_BYTES),
            places: Places::of_this_host(),
            tally: Tally::default(),
            stopping: AtomicBool::new(false),
        });
        let address = listener.address().clone();
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("nbd-door".to_owned())
            .spawn(move || Door::new(listener, of_thread, limits).run())
            .map_err(ServeError::Start)?;
        Ok(Self {
            shared,
            address,
            thread,
            started_ns: clock.now_ns(),
        })
    }

    /// Returns the address on which the server listens.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the counts until now.
    pub fn totals(&self) -> Totals {
        self.shared.tally.totals()
    }

    /// Admits no more clients, sends the replies that are held (for at most two seconds), and closes all connections.
    /// Returns what was served.
    ///
    /// # Errors
    /// [`ServeError::Start`] if the thread that admits clients panicked.
    pub fn stop(self) -> Result<Summary, ServeError> {
        self.shared.stopping.store(true, Ordering::Relaxed);
        let panicked = |_| ServeError::Start(io::Error::other("a thread of the server panicked"));
        let peak_iops = self.thread.join().map_err(panicked)?;
        Ok(Summary {
            totals: self.shared.tally.totals(),
            lateness: self.shared.tally.lateness(),
            peak_iops,
            elapsed_ns: self.shared.clock.now_ns() - self.started_ns,
        })
    }
}
