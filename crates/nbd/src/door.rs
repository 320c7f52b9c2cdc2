//! The thread that admits clients, keeps them waiting if there are too many, and asks idle clients to leave.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::activity::Activity;
use crate::listener::Listener;
use crate::session;
use crate::shared::Shared;
use crate::waiting::Waiting;

/// How often the thread checks for the end of the server and for free places.
const LOOK_EVERY: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};
/// Length of a span over which I/Os are counted; the busiest span gives the peak rate.
const SPAN: Duration = Duration::from_secs(1);

/// How many clients are served at a time, and what happens to further clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections served at a time. As many again may wait; any further connection is closed at once.
    pub connections: usize,
    /// While others wait, a client that has been idle for this long is dropped. Idle means that no whole request has
    /// arrived and no reply waits for the drive.
    pub idle: Duration,
    /// A client that has waited for this long is turned away.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 64,
            idle: Duration::from_secs(60),
            patience: Duration::from_secs(65),
        }
    }
}

#[derive(Debug)]
struct Served {
    thread: JoinHandle<()>,
    activity: Arc<Activity>,
}

/// State of the thread that admits clients.
#[derive(Debug)]
pub(crate) struct Door {
    listener: Listener,
    shared: Arc<Shared>,
    limits: Limits,
    served: Vec<Served>,
    waiting: Waiting,
    span_began: Instant,
    ios_before: u64,
    peak_iops: f64,
}

impl Door {
    pub(crate) fn new(listener: Listener, shared: Arc<Shared>, limits: Limits) -> Self {
        Self {
            listener,
            shared,
            limits,
            served: Vec::new(),
            waiting: Waiting::default(),
            span_began: Instant::now(),
            ios_before: 0,
            peak_iops: 0.0,
        }
    }

    /// Runs until the server ends; returns the I/Os per second of the busiest second.
    pub(crate) fn run(mut self) -> f64 {
        while !self.shared.is_stopping() {
            if self.knocked() {
                self.welcome();
            }
            self.served.retain(|client| !client.thread.is_finished());
            self.let_in();
            if self.waiting.len() > 0 {
                self.make_room();
            }
            if self.span_began.elapsed() >= SPAN {
                self.end_span();
            }
        }
        self.end_span();
        drop((self.listener, self.waiting));
        for client in self.served {
            // A thread that panicked was serving nobody any more; the others have ended in order.
            let _ = client.thread.join();
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

    fn welcome(&mut self) {
        let Ok(socket) = self.listener.accept() else {
            // The client went away, or no descriptors are left. In the second case the next poll reports the client again.
            thread::sleep(Duration::from_millis(1));
            return;
        };
        if self.waiting.len() < self.limits.connections {
            self.waiting.add(socket);
        } else {
            self.shared.tally.turned_away(1);
        }
    }

    /// Serves waiting clients as long as there are free places.
    fn let_in(&mut self) {
        while self.served.len() < self.limits.connections {
            let Some(socket) = self.waiting.next() else {
                return;
            };
            let shared = Arc::clone(&self.shared);
            let activity = Arc::new(Activity::starting_at(shared.clock.now_ns()));
            let of_thread = Arc::clone(&activity);
            let started = thread::Builder::new()
                .name("nbd-client".to_owned())
                .spawn(move || session::serve(socket, &shared, &of_thread));
            match started {
                Ok(thread) => self.served.push(Served { thread, activity }),
                Err(_) => self.shared.tally.turned_away(1),
            }
        }
    }

    /// Turns away clients that have waited too long. Asks one idle client to leave for each client that still waits,
    /// starting with the longest idle.
    fn make_room(&mut self) {
        let gave_up = self.waiting.give_up(self.limits.patience);
        self.shared.tally.turned_away(gave_up);
        let now_ns = self.shared.clock.now_ns();
        let limit_ns = self.limits.idle.as_nanos() as u64;
        let mut idle = Vec::new();
        let mut leaving = 0;
        for client in &self.served {
            match client.activity.last_moved_ns() {
                None => leaving += 1,
                Some(since_ns) if now_ns.saturating_sub(since_ns) >= limit_ns => {
                    idle.push((since_ns, &client.activity));
                }
                Some(_) => {}
            }
        }
        idle.sort_unstable_by_key(|(since_ns, _)| *since_ns);
        let wanted = self.waiting.len().saturating_sub(leaving);
        for (since_ns, activity) in idle.into_iter().take(wanted) {
            activity.ask_to_leave(since_ns);
        }
    }

    fn end_span(&mut self) {
        let ios = self.shared.tally.ios();
        // A last span shorter than a second counts as a whole second, so that its I/Os are not lost.
        let seconds = self.span_began.elapsed().max(SPAN).as_secs_f64();
        let rate = (ios - self.ios_before) as f64 / seconds;
        self.peak_iops = self.peak_iops.max(rate);
        self.ios_before = ios;
        self.span_began = Instant::now();
    }
}
