//! The thread that creates the workers, starts them together, closes rows while they work, and joins them.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{SystemTime, UNIX_EPOCH};

use metrics::{Collector, LogError, Recorder, StartStamp};
use workload::spec::{Engine, Stream};
use workload::units::SECOND_NS;

use crate::buffers::Region;
use crate::control::{Phase, Progress, Ruling};
use crate::error::EngineError;
use crate::source::Source;
use crate::sync::{self, Calls};
use crate::sys::{Clock, monotonic_ns, own_files, sharpen_timers, sleep_until, wake_all};
use crate::target::Kind;
use crate::uring::{Ring, Trims};
use crate::worker::{Shared, Spent, Worker};
use crate::{features, placement, ring_loop};

/// Stack of a worker's thread. The loops need little, and untouched pages cost nothing.
const STACK_BYTES: usize = 256 << 10;
/// How often rows are closed and progress is shown.
const TICK_NS: u64 = 50_000_000;
/// How often the log is made durable.
const SYNC_LOG_EVERY_NS: u64 = 10 * SECOND_NS;
/// Time from opening the gate to time zero, so that every worker is awake by then.
const LEAD_NS: u64 = 1_000_000;
const LEAD_PER_WORKER_NS: u64 = 30_000;

/// Everything that one worker consists of.
pub(crate) struct Seat<'a> {
    pub(crate) stream: &'a Stream,
    pub(crate) source: &'a Source,
    /// Number of the worker within its stream.
    pub(crate) worker: u32,
    pub(crate) data_seed: u64,
    pub(crate) region: Region,
    pub(crate) recorder: Recorder,
}

/// Supervises the workers of one run.
pub(crate) struct Driver<'a> {
    shared: &'a Shared<'a>,
    collector: &'a Arc<Collector>,
    ramp_ns: u64,
    /// Workers whose threads have not ended.
    at_work: AtomicU32,
    log_error: Option<LogError>,
    truncated: bool,
    synced_at_ns: u64,
}

impl<'a> Driver<'a> {
    pub(crate) fn new(shared: &'a Shared<'a>, collector: &'a Arc<Collector>, ramp_ns: u64) -> Self {
        Self {
            shared,
            collector,
            ramp_ns,
            at_work: AtomicU32::new(0),
            log_error: None,
            truncated: false,
            synced_at_ns: 0,
        }
    }

    /// Runs all workers to their end. Returns why the log could not be written, if that failed.
    ///
    /// # Errors
    /// What kept a worker from starting, or a worker's panic. No thread is left then, and nothing is in flight.
    pub(crate) fn run(mut self, seats: Vec<Seat<'a>>) -> Result<Option<LogError>, EngineError> {
        let at_work = std::mem::take(&mut self.at_work);
        let count = seats.len() as u32;
        at_work.store(count, Release);
        thread::scope(|scope| {
            let spawned = spawn_all(scope, self.shared, &at_work, seats);
            if spawned.failed.is_none() {
                self.shared.gate.await_all(count);
            }
            let setup = spawned
                .failed
                .or_else(|| self.shared.trouble().setup.take());
            match setup {
                Some(_) => self.shared.gate.abandon(),
                None => self.look_after(&at_work),
            }
            // Joins all threads before it looks at any result, so that none is left behind.
            let ended: Vec<_> = spawned
                .threads
                .into_iter()
                .map(ScopedJoinHandle::join)
                .collect();
            let panicked = ended.into_iter().find_map(Result::err);
            match (setup, panicked) {
                (Some(error), _) => Err(error),
                (None, Some(payload)) => Err(EngineError::Panicked {
                    message: message(payload.as_ref()),
                }),
                (None, None) => Ok(()),
            }
        })?;
        self.judge_the_rest();
        Ok(self.log_error)
    }

    /// Opens the gate and ticks until the last worker has finished.
    fn look_after(&mut self, at_work: &AtomicU32) {
        let lead_ns = LEAD_NS + LEAD_PER_WORKER_NS * u64::from(at_work.load(Acquire));
        let zero_ns = monotonic_ns() + lead_ns;
        let unix_now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        self.collector.started(StartStamp {
            monotonic_ns: zero_ns,
            unix_ns: unix_now.as_nanos() as u64 + lead_ns,
        });
        let clock = Clock::starting_at(zero_ns);
        self.shared.control.follow_deadline(clock);
        self.shared.gate.open(zero_ns);
        loop {
            let left = at_work.load(Acquire);
            if left == 0 {
                return;
            }
            sleep_until(monotonic_ns() + TICK_NS, at_work, left);
            self.shared.control.follow_deadline(clock);
            self.tick(monotonic_ns().saturating_sub(clock.zero_ns()));
        }
    }

    fn tick(&mut self, elapsed_ns: u64) {
        let ruling = self.shared.control.ruling();
        let rows = self.close_rows(ruling);
        let snapshot = self.collector.snapshot();
        let phase = match () {
            () if self.shared.control.is_stopping() => Phase::Draining,
            () if elapsed_ns < self.ramp_ns => Phase::Ramp,
            () => Phase::Measuring,
        };
        let progress = Progress {
            phase,
            elapsed_ns,
            counts: snapshot.counts,
            last_row: snapshot.last_row,
        };
        self.shared.control.show(progress, rows);
        if elapsed_ns.saturating_sub(self.synced_at_ns) >= SYNC_LOG_EVERY_NS {
            self.synced_at_ns = elapsed_ns;
            let synced = self.collector.sync_log();
            self.keep(synced);
        }
    }

    /// Closes rows, unless rows shown earlier still await their verdict.
    fn close_rows(&mut self, ruling: Ruling) -> Vec<metrics::Row> {
        match ruling {
            Ruling::Open => return Vec::new(),
            Ruling::LastRow(row) if !self.truncated => {
                self.truncated = true;
                // Cannot fail: rows are not settled while their verdict is open.
                let _ = self.collector.truncate_after(row);
            }
            _ => {}
        }
        match self.collector.close_rows() {
            Ok(rows) => rows,
            Err(error) => {
                self.keep(Err(error));
                Vec::new()
            }
        }
    }

    /// Has the last rows judged like all others, so that a result does not depend on when the driver ticked.
    fn judge_the_rest(&mut self) {
        loop {
            let ruling = self.shared.control.await_ruling();
            let rows = self.close_rows(ruling);
            if rows.is_empty() {
                return;
            }
            let progress = self.shared.control.progress();
            self.shared.control.show(
                Progress {
                    phase: Phase::Draining,
                    ..progress
                },
                rows,
            );
        }
    }

    /// Keeps the first error of the log and ends the run, because later measurements would be lost.
    fn keep(&mut self, outcome: Result<(), LogError>) {
        if let Err(error) = outcome {
            self.log_error.get_or_insert(error);
            self.shared.control.halt();
        }
    }
}

struct Spawned<'scope> {
    threads: Vec<ScopedJoinHandle<'scope, ()>>,
    failed: Option<EngineError>,
}

fn spawn_all<'scope, 'a: 'scope>(
    scope: &'scope Scope<'scope, '_>,
    shared: &'scope Shared<'a>,
    at_work: &'scope AtomicU32,
    seats: Vec<Seat<'a>>,
) -> Spawned<'scope> {
    let mut threads = Vec::with_capacity(seats.len());
    for seat in seats {
        let name = format!("ssdlab-{}", threads.len());
        let builder = thread::Builder::new().name(name).stack_size(STACK_BYTES);
        match builder.spawn_scoped(scope, move || work(seat, shared, at_work)) {
            Ok(thread) => threads.push(thread),
            Err(e) => {
                return Spawned {
                    threads,
                    failed: Some(EngineError::setup("starting a worker thread", e)),
                };
            }
        }
    }
    Spawned {
        threads,
        failed: None,
    }
}

/// Tells the other threads when a worker's thread ends, even by a panic.
struct Leaving<'a> {
    shared: &'a Shared<'a>,
    at_work: &'a AtomicU32,
    arrived: bool,
}

impl Leaving<'_> {
    fn arrive(&mut self) {
        if !std::mem::replace(&mut self.arrived, true) {
            self.shared.gate.arrive();
        }
    }
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.shared.control.halt();
        }
        self.arrive();
        self.at_work.fetch_sub(1, Release);
        wake_all(self.at_work);
    }
}

enum BackEnd {
    Sync(Calls),
    Uring(Box<Ring>),
}

/// Runs one worker from set-up to finish.
fn work<'a>(seat: Seat<'a>, shared: &'a Shared<'a>, at_work: &'a AtomicU32) {
    let mut leaving = Leaving {
        shared,
        at_work,
        arrived: false,
    };
    let Seat {
        stream,
        source,
        worker,
        data_seed,
        region,
        recorder,
    } = seat;
    let back_end = match prepare(shared, stream, worker, data_seed, region) {
        Ok(back_end) => back_end,
        Err(error) => return shared.setup_failed(error),
    };
    let before = Spent::by_now();
    leaving.arrive();
    let Some(clock) = shared.gate.pass() else {
        return;
    };
    let mut worker = Worker::new(shared, stream, source, clock, recorder, before);
    match back_end {
        BackEnd::Sync(mut calls) => sync::run(&mut worker, &mut calls),
        BackEnd::Uring(ring) => ring_loop::run(&mut worker, *ring),
    }
    if source.lock().is_past_stop() {
        // No arrival is left, but the rate refers to the whole time asked for, so rows continue until the stop.
        worker.wait_until(worker.stop_ns());
    }
    worker.finish();
}

/// Does everything that takes time before the start, on the worker's own thread and CPU.
fn prepare(
    shared: &Shared,
    stream: &Stream,
    worker: u32,
    data_seed: u64,
    mut region: Region,
) -> Result<BackEnd, EngineError> {
    if let Some(cpu) = placement::cpu_of_worker(&stream.cpus, worker) {
        placement::pin(cpu)?;
    }
    sharpen_timers();
    if stream.engine == Engine::Sync && !stream.log_ios && !stream.is_recorded() {
        // Before anything is opened. Not with logs or recordings: another thread opened their files, and this one uses
        // them.
        own_files();
    }
    // Stamps start at the current time, so that a later run with the same seed writes different blocks.
    region.fill(data_seed, stream.compressible_pct, monotonic_ns());
    let (file, kind) = (shared.target.reopen(stream)?, shared.target.kind());
    Ok(match stream.engine {
        Engine::Sync => BackEnd::Sync(Calls::new(file, kind, region, stream)),
        Engine::Uring => {
            let trims = match kind {
                Kind::File => Trims::Punch,
                Kind::Block if features::has_queues(shared.target) => Trims::Discard,
                Kind::Block => Trims::DiscardInThread,
            };
            BackEnd::Uring(Box::new(Ring::new(stream, file, trims, region)?))
        }
    })
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}
