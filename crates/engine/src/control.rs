//! Control of one run from another thread: stops it, observes it, and judges its rows.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use metrics::{LiveCounts, Row};

use crate::deadline::Deadline;
use crate::sys::{Clock, monotonic_ns, wake_all};

/// Values of the word on which workers sleep: `RUNNING` until the run is told to stop.
const RUNNING: u32 = 0;
const STOPPING: u32 = 1;

/// Stage of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Buffers are being filled and threads created; nothing is issued.
    #[default]
    Starting,
    /// I/O is issued but does not count.
    Ramp,
    /// I/O is issued and counts.
    Measuring,
    /// Nothing new is issued; I/O in flight completes.
    Draining,
}

/// Verdict on the rows shown so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// There is no verdict yet: no more rows may be closed.
    Open,
    /// The rows count, and the run goes on.
    GoOn,
    /// The row with this number is the last of the result.
    LastRow(u64),
}

/// Progress of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Stage of the run.
    pub phase: Phase,
    /// Time since the first I/Os, in ns.
    pub elapsed_ns: u64,
    /// Counts of all streams, at most a second old.
    pub counts: LiveCounts,
    /// The row that closed last.
    pub last_row: Option<Row>,
}

/// Controls one run. Make a new `Control` for each run.
#[derive(Debug, Default)]
pub struct Control {
    word: AtomicU32,
    /// Time on the run's clock from which nothing more is issued. Workers compare only this value after each I/O: a
    /// stop sets it to 0, and the driver updates it from the deadline at every tick.
    ends_ns: Ends,
    deadline: Option<Arc<Deadline>>,
    /// Whether the deadline passed before the run was told to stop.
    overdue: AtomicBool,
    /// When the run was first told to stop, on `CLOCK_MONOTONIC`; 0 before that.
    stopped_at_ns: AtomicU64,
    judging: bool,
    board: Mutex<Board>,
    judged: Condvar,
}

/// A time whose initial value means "never".
#[derive(Debug)]
struct Ends(AtomicU64);

impl Default for Ends {
    fn default() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }
}

#[derive(Debug, Default)]
struct Board {
    progress: Progress,
    rows: Vec<Row>,
    verdict_open: bool,
    given_up: bool,
    last_row: Option<u64>,
}

impl Control {
    /// Returns the control of a run that ends as its workload says, or when told to stop.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the control of a run whose closed rows are judged. No row becomes final before [`Control::verdict`] is
    /// given on it. So the caller must keep taking rows until the run returns, or stop the run.
    #[must_use]
    pub fn judging() -> Self {
        Self {
            judging: true,
            ..Self::default()
        }
    }

    /// Adds a deadline after which nothing is issued, even if no threads but the workers could run since.
    #[must_use]
    pub fn until(self, deadline: Option<Arc<Deadline>>) -> Self {
        Self { deadline, ..self }
    }

    /// Stops the run: nothing new is issued, and I/O in flight completes. I/Os of an open loop that were due before
    /// this moment are still issued for up to a second, then counted as dropped. Rows not judged yet are accepted as
    /// they are.
    pub fn stop(&self) {
        {
            let mut board = self.board();
            board.given_up = true;
            board.verdict_open = false;
        }
        self.halt();
    }

    /// Stops the run as [`Control::stop`] does, but still waits for verdicts on rows already shown.
    pub(crate) fn halt(&self) {
        self.halt_at(monotonic_ns());
    }

    fn halt_at(&self, at_ns: u64) {
        let _ = self
            .stopped_at_ns
            .compare_exchange(0, at_ns.max(1), Release, Relaxed);
        self.ends_ns.0.store(0, Release);
        self.word.store(STOPPING, Release);
        wake_all(&self.word);
        self.judged.notify_all();
    }

    /// Returns whether the run was told to stop.
    #[inline]
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.word.load(Relaxed) != RUNNING
    }

    /// Returns whether nothing more may be issued at `at_ns` on the run's clock. Called for each I/O.
    #[inline]
    pub(crate) fn is_past(&self, at_ns: u64) -> bool {
        at_ns >= self.ends_ns.0.load(Relaxed) && self.is_past_deadline()
    }

    /// Returns whether the run was told to stop. If its deadline has passed, stops it first.
    #[cold]
    fn is_past_deadline(&self) -> bool {
        if !self.is_stopping() {
            self.heed_deadline();
        }
        self.is_stopping()
    }

    /// Stops the run if its deadline has passed.
    pub(crate) fn heed_deadline(&self) {
        let passed = self.deadline.as_ref().filter(|each| each.has_passed());
        if let Some(deadline) = passed {
            self.overdue.store(true, Release);
            self.halt_at(deadline.at_ns());
        }
    }

    /// Shows the current deadline to the workers; stops the run if it has passed.
    pub(crate) fn follow_deadline(&self, clock: Clock) {
        let Some(deadline) = &self.deadline else {
            return;
        };
        let ends_ns = deadline.at_ns().saturating_sub(clock.zero_ns()).max(1);
        // Must not overwrite the 0 of a stop that comes meanwhile.
        let _ = self
            .ends_ns
            .0
            .fetch_update(Release, Relaxed, |was| (was != 0).then_some(ends_ns));
        self.heed_deadline();
    }

    /// Returns whether the deadline passed before the run ended.
    pub(crate) fn is_overdue(&self) -> bool {
        self.heed_deadline();
        self.overdue.load(Acquire)
    }

    /// Returns how far the run is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.board().progress.clone()
    }

    /// Returns the rows that have closed since the last call, in order; always empty unless the run is judged.
    #[must_use]
    pub fn take_rows(&self) -> Vec<Row> {
        std::mem::take(&mut self.board().rows)
    }

    /// Judges all rows taken so far: `None` lets the run go on, `Some(row)` makes that row the last of the result. I/O
    /// done after that row is overshoot.
    pub fn verdict(&self, last_row: Option<u64>) {
        {
            let mut board = self.board();
            board.verdict_open = !board.rows.is_empty();
            board.last_row = board.last_row.or(last_row);
        }
        if last_row.is_some() {
            self.halt();
        }
        self.judged.notify_all();
    }

    /// Returns when the run was told to stop, on the run's clock; `u64::MAX` if it was not.
    pub(crate) fn stopped_at(&self, clock: Clock) -> u64 {
        match self.word.load(Acquire) {
            RUNNING => u64::MAX,
            _ => self
                .stopped_at_ns
                .load(Relaxed)
                .saturating_sub(clock.zero_ns()),
        }
    }

    /// Returns the word that sleepers wait on, and its value while the run goes on.
    pub(crate) fn word(&self) -> (&AtomicU32, u32) {
        (&self.word, RUNNING)
    }

    /// Returns the verdict on the rows shown so far.
    pub fn ruling(&self) -> Ruling {
        Self::ruling_of(&self.board())
    }

    /// Waits for the verdict on the rows shown, or until [`Control::stop`] gives up judging. Returns the verdict.
    pub fn await_ruling(&self) -> Ruling {
        let board = self.board();
        let judged = self.judged.wait_while(board, |b| b.verdict_open);
        Self::ruling_of(&judged.unwrap_or_else(PoisonError::into_inner))
    }

    fn ruling_of(board: &Board) -> Ruling {
        match board.last_row {
            Some(row) => Ruling::LastRow(row),
            None if board.verdict_open => Ruling::Open,
            None => Ruling::GoOn,
        }
    }

    /// Shows progress and newly closed rows to observers.
    pub fn show(&self, progress: Progress, rows: Vec<Row>) {
        let mut board = self.board();
        board.progress = progress;
        if self.judging && !board.given_up && !rows.is_empty() {
            board.rows.extend(rows);
            board.verdict_open = true;
        }
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
