//! A server: lets clients in, gives each a thread, and ends in order.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use metrics::Histogram;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::awake::Places;
use crate::backing::Backing;
use crate::clock::{Clock, Cost};
use crate::contents::Contents;
use crate::error::ServeError;
use crate::export::Export;
use crate::listener::{Address, Listener};
use crate::session::{self, Shared};
use crate::tally::{Tally, Totals};

/// Connections at one time; those beyond are closed at once.
pub const MAX_CONNECTIONS: usize = 64;
/// How often the end is looked for.
const LOOK_EVERY: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};
/// The busiest time is told by spans of this length.
const SPAN: Duration = Duration::from_secs(1);

/// A drive that is being served.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    address: Address,
    thread: JoinHandle<f64>,
    started_ns: u64,
}

/// What was served, from the start to the end.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Counts.
    pub totals: Totals,
    /// How long after the moment they were to be sent replies were handed to the socket.
    pub lateness: Histogram,
    /// I/Os a second in the busiest second.
    pub peak_iops: f64,
    /// How long the server ran, on the drive's clock and on the wall, ns.
    pub elapsed_ns: u64,
}

impl Server {
    /// Begins to serve.
    ///
    /// # Errors
    /// No thread could be started.
    pub fn start(
        listener: Listener,
        export: Export,
        contents: Contents,
        backing: Backing,
        cost: Cost,
    ) -> Result<Self, ServeError> {
        let clock = Clock::starting_at(backing.now_ns());
        let shared = Arc::new(Shared {
            export,
            contents,
            backing,
            clock,
            cost,
            places: Places::of_this_host(),
            tally: Tally::default(),
            stopping: AtomicBool::new(false),
        });
        let address = listener.address().clone();
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("nbd-door".to_owned())
            .spawn(move || Door::new(listener, of_thread).run())
            .map_err(ServeError::Start)?;
        Ok(Self {
            shared,
            address,
            thread,
            started_ns: clock.now_ns(),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Counts until now.
    pub fn totals(&self) -> Totals {
        self.shared.tally.totals()
    }

    /// Lets nobody in any more, sends what is held (for two seconds at most), closes all connections and says what was
    /// served.
    ///
    /// # Errors
    /// The thread at the door panicked.
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

/// The thread at the door.
#[derive(Debug)]
struct Door {
    listener: Listener,
    shared: Arc<Shared>,
    sessions: Vec<JoinHandle<()>>,
    span_began: Instant,
    ios_before: u64,
    peak_iops: f64,
}

impl Door {
    fn new(listener: Listener, shared: Arc<Shared>) -> Self {
        Self {
            listener,
            shared,
            sessions: Vec::new(),
            span_began: Instant::now(),
            ios_before: 0,
            peak_iops: 0.0,
        }
    }

    /// Until the server ends; returns the I/Os of the busiest second.
    fn run(mut self) -> f64 {
        while !self.shared.is_stopping() {
            if self.knocked() {
                self.let_in();
            }
            self.sessions.retain(|session| !session.is_finished());
            if self.span_began.elapsed() >= SPAN {
                self.end_span();
            }
        }
        self.end_span();
        drop(self.listener);
        for session in self.sessions {
            // One that panicked served nobody any more; the others have ended in order.
            let _ = session.join();
        }
        self.peak_iops
    }

    fn knocked(&self) -> bool {
        let mut polled = [PollFd::from_borrowed_fd(
            self.listener.as_fd(),
            PollFlags::IN,
        )];
        poll(&mut polled, Some(&LOOK_EVERY)).is_ok_and(|count| count > 0)
    }

    fn let_in(&mut self) {
        let Ok(socket) = self.listener.accept() else {
            // The client went away again, or there are no descriptors left: it will knock again.
            thread::sleep(Duration::from_millis(1));
            return;
        };
        if self.sessions.len() >= MAX_CONNECTIONS {
            self.shared.tally.turned_away();
            return;
        }
        let shared = Arc::clone(&self.shared);
        let started = thread::Builder::new()
            .name("nbd-client".to_owned())
            .spawn(move || session::serve(socket, &shared));
        match started {
            Ok(session) => self.sessions.push(session),
            Err(_) => self.shared.tally.turned_away(),
        }
    }

    fn end_span(&mut self) {
        let ios = self.shared.tally.ios();
        // What is left of a second at the end counts as one: a burst before it is not forgotten.
        let seconds = self.span_began.elapsed().max(SPAN).as_secs_f64();
        let rate = (ios - self.ios_before) as f64 / seconds;
        self.peak_iops = self.peak_iops.max(rate);
        self.ios_before = ios;
        self.span_began = Instant::now();
    }
}
