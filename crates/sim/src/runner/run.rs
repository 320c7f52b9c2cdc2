//! Runs a workload on a simulated drive in virtual time.
//!
//! There are no threads: the next event comes from an [`Agenda`], ties go to the lower slot, and the clock jumps from
//! event to event. Counting, interval closing and stream ends are as on a real drive. The one difference: an I/O
//! costs the host nothing, so it is submitted when it is due, or when the one before it has completed.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use metrics::{Collector, CollectorSpec, LogError, Recorder, StartStamp};
use rustix::time::{ClockId, clock_gettime};
use workload::units::SECOND_NS;
use workload::{Op, Plan, Workload};

use crate::drive::Device;
use crate::runner::agenda::{Agenda, NEVER};
use crate::runner::error::SimError;
use crate::runner::feed::Feed;
use crate::runner::fit::check_fits;
use crate::runner::lane::{CpuClock, Lane, Slot};
use crate::runner::options::Options;
use crate::runner::outcome::Outcome;
use crate::runner::owner::{Owner, Progress};
use crate::runner::sampling::{HostBytes, Samples};

/// How often the log is made durable, in real time.
const SYNC_LOG_EVERY: Duration = Duration::from_secs(10);
/// Steps between two checks whether the run should end: a few milliseconds of real time.
const STEPS_PER_LOOK: u32 = 1 << 15;

/// Runs a workload to its end, or until `owner` ends it. Returns what was measured.
///
/// # Errors
/// Before any I/O: if the workload is wrong, cannot be recorded, or does not fit the drive. Later: [`SimError::Log`],
/// which holds what was measured until then.
pub fn run<D: Device>(
    drive: &mut D,
    workload: &Workload,
    owner: &mut dyn Owner,
    options: Options,
) -> Result<Outcome, SimError> {
    let plan = Plan::new(workload)?;
    check_fits(drive, workload)?;
    let collector = Collector::new(CollectorSpec {
        // One recorder for each stream: there is one clock, so workers need no recorders of their own.
        participants: workload.streams.len() as u32,
        log: options.log,
        header: options.header,
        keep_interval_histograms: options.keep_interval_histograms,
        ..CollectorSpec::of_workload(workload)
    })?;
    collector.started(start_stamp());
    let zero_ns = drive.now();
    let mut run = Run::new(drive, workload, &plan, &collector, owner);
    run.go();
    let log_error = run.log_error.take();
    let cursors = run.cursors();
    let host_bytes = run.host_bytes();
    let samples = std::mem::take(&mut run.samples);
    drop(run);
    let mut measurement = collector.into_measurement();
    drive.wait_until(zero_ns + measurement.elapsed_ns);
    let samples = samples.ended(measurement.elapsed_ns, drive, host_bytes);
    let log_error = log_error.or(measurement.log_error.take());
    let outcome = Outcome {
        measurement,
        cursors,
        zero_ns,
        host_bytes,
        samples,
    };
    match log_error {
        Some(source) => Err(SimError::Log {
            source,
            measured: Some(Box::new(outcome)),
        }),
        None => Ok(outcome),
    }
}

/// Reads the host's clocks at the start. Rows are on the drive's clock.
fn start_stamp() -> StartStamp {
    let monotonic = clock_gettime(ClockId::Monotonic);
    let unix = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    StartStamp {
        monotonic_ns: monotonic.tv_sec as u64 * SECOND_NS + monotonic.tv_nsec as u64,
        unix_ns: unix.as_nanos() as u64,
    }
}

/// A worker that gathers completions before it counts them.
#[derive(Debug, Default, Clone)]
struct Batch {
    in_flight: u32,
    completed: Vec<u32>,
}

struct Run<'a, D> {
    drive: &'a mut D,
    zero_ns: u64,
    interval_ns: u64,
    ramp_ns: u64,
    lanes: Vec<Lane<'a>>,
    slots: Vec<Slot>,
    /// For each slot, the index of its worker in `batches`; empty unless some stream gathers completions.
    batch_of: Vec<u32>,
    batches: Vec<Batch>,
    agenda: Agenda,
    /// Whether the drive may report later when an I/O ends.
    told_later: bool,
    collector: &'a Arc<Collector>,
    owner: &'a mut dyn Owner,
    cpu: CpuClock,
    stopping: bool,
    samples: Samples,
    log_error: Option<LogError>,
    log_synced: Instant,
}

impl<'a, D: Device> Run<'a, D> {
    fn new(
        drive: &'a mut D,
        workload: &'a Workload,
        plan: &Plan,
        collector: &'a Arc<Collector>,
        owner: &'a mut dyn Owner,
    ) -> Self {
        let sources = workload
            .streams
            .iter()
            .map(workload::spec::Stream::sources)
            .sum();
        let mut slots = Vec::new();
        let mut lanes = Vec::new();
        let streams = workload.streams.iter().zip(plan.streams()).zip(0..);
        for ((stream, plan), number) in streams {
            let recorder = Recorder::new(collector, number as usize, number);
            let lane = Lane::new(stream, plan, sources, recorder);
            slots.extend(lane.slots(number, plan));
            lanes.push(lane);
        }
        let gathers = lanes.iter().any(|lane| lane.batch().is_some());
        let (batch_of, batches) = if gathers {
            number_workers(&slots)
        } else {
            (Vec::new(), 0)
        };
        Self {
            zero_ns: drive.now(),
            drive,
            interval_ns: workload.interval_ns,
            ramp_ns: workload.ramp_ns,
            agenda: Agenda::new(slots.len() as u32),
            told_later: lanes.iter().any(Lane::reads)
                && lanes.iter().any(Lane::writes)
                && !lanes.iter().any(Lane::asks_at_once),
            lanes,
            slots,
            batch_of,
            batches: vec![Batch::default(); batches],
            collector,
            owner,
            cpu: CpuClock::start(),
            stopping: false,
            samples: Samples::default(),
            log_error: None,
            log_synced: Instant::now(),
        }
    }

    fn go(&mut self) {
        let mut row_edge_ns = self.interval_ns;
        let mut edge_ns = row_edge_ns.min(self.samples.due_ns());
        let mut until_look = STEPS_PER_LOOK;
        loop {
            let (mut at_ns, number) = self.agenda.first();
            if self.drive.waits() {
                if self.learns_of_ends(at_ns.min(edge_ns)) {
                    continue;
                }
                // A waiting command may end before the slot's event, but none ends before the edge: the edge comes first.
                at_ns = at_ns.min(edge_ns.saturating_add(1));
            }
            if at_ns == NEVER {
                break;
            }
            if at_ns > edge_ns {
                self.sample_before(at_ns);
                if at_ns > row_edge_ns {
                    let passed_ns = (at_ns - 1) / self.interval_ns * self.interval_ns;
                    row_edge_ns = passed_ns.saturating_add(self.interval_ns);
                    self.pass_edge(at_ns, passed_ns);
                }
                edge_ns = row_edge_ns.min(self.samples.due_ns());
                continue;
            }
            until_look -= 1;
            if until_look == 0 {
                until_look = STEPS_PER_LOOK;
                if self.owner.wants_end() {
                    self.stop(at_ns);
                    continue;
                }
            }
            if self.batches.is_empty() {
                self.step(number, at_ns);
            } else {
                self.step_gathering(number, at_ns);
            }
        }
        self.show_the_rest();
    }

    /// Lets time pass for commands whose ends are unknown. Returns whether any end has become known.
    #[inline]
    fn learns_of_ends(&mut self, until_ns: u64) -> bool {
        self.drive.advance(self.zero_ns + until_ns);
        let mut any = false;
        while let Some((number, end)) = self.drive.ended() {
            self.agenda.set(number, end - self.zero_ns);
            any = true;
        }
        any
    }

    /// Handles a slot's event and schedules its next one.
    #[inline]
    fn step(&mut self, number: u32, at_ns: u64) {
        let slot = &mut self.slots[number as usize];
        let lane = &mut self.lanes[slot.lane as usize];
        let tag = self.told_later.then_some(number);
        let next_ns = lane.step(slot, tag, at_ns, self.zero_ns, self.drive);
        self.agenda.set(number, next_ns);
        if next_ns == NEVER && lane.is_spent() {
            lane.finish(&mut self.cpu);
        }
    }

    /// Handles a slot's event where workers gather completions: they are counted, and their slots continue, in batches.
    fn step_gathering(&mut self, number: u32, at_ns: u64) {
        let worker = self.batch_of[number as usize] as usize;
        let slot = self.slots[number as usize];
        let Some(size) = self.lanes[slot.lane as usize].batch() else {
            return self.step(number, at_ns);
        };
        if !slot.is_in_flight() {
            self.step(number, at_ns);
            self.batches[worker].in_flight += u32::from(self.slots[number as usize].is_in_flight());
            return;
        }
        let batch = &mut self.batches[worker];
        batch.completed.push(number);
        if (batch.completed.len() as u32) < size.min(batch.in_flight) {
            self.agenda.set(number, NEVER);
            return;
        }
        let completed = std::mem::take(&mut batch.completed);
        batch.in_flight -= completed.len() as u32;
        for number in completed {
            self.step(number, at_ns);
            self.batches[worker].in_flight += u32::from(self.slots[number as usize].is_in_flight());
        }
    }

    /// Takes the sample that is due before the next event, at `at_ns`. During a longer pause it takes only the first
    /// and the last sample, because the drive's state does not change in between.
    #[cold]
    fn sample_before(&mut self, at_ns: u64) {
        let host = self.host_bytes();
        let last_ns = (at_ns - 1) / SECOND_NS * SECOND_NS;
        let due_ns = self.samples.due_ns();
        if due_ns < at_ns {
            self.samples.take(due_ns, self.drive, host);
            if due_ns < last_ns {
                self.samples.take(last_ns, self.drive, host);
            }
        }
    }

    /// Closes the rows that end at or before `passed_ns`; the next event is at `at_ns`.
    #[cold]
    fn pass_edge(&mut self, at_ns: u64, passed_ns: u64) {
        for lane in &mut self.lanes {
            lane.advance(at_ns);
        }
        let (any, last) = self.show_rows(passed_ns);
        if self.log_synced.elapsed() >= SYNC_LOG_EVERY {
            self.log_synced = Instant::now();
            let synced = self.collector.sync_log();
            self.keep(synced);
        }
        let wants_end = self.log_error.is_some() || self.owner.wants_end();
        if (any && last.is_some()) || wants_end {
            self.stop(passed_ns);
        }
    }

    /// Shows closed rows to the owner. Returns whether there were any, and the row that ends the result.
    fn show_rows(&mut self, elapsed_ns: u64) -> (bool, Option<u64>) {
        let rows = match self.collector.close_rows() {
            Ok(rows) => rows,
            Err(error) => {
                self.keep(Err(error));
                Vec::new()
            }
        };
        if rows.is_empty() {
            return (false, None);
        }
        let snapshot = self.collector.snapshot();
        let progress = Progress {
            ramp: elapsed_ns < self.ramp_ns,
            draining: self.stopping,
            elapsed_ns,
            counts: snapshot.counts,
            last_row: snapshot.last_row,
        };
        let last = self.owner.closed(&progress, rows);
        if let Some(row) = last {
            // Cannot fail: rows become final only at the next call of `close_rows`.
            let _ = self.collector.truncate_after(row);
        }
        (true, last)
    }

    /// Shows the last rows, which the owner judges like all others.
    fn show_the_rest(&mut self) {
        let elapsed_ns = self.drive.now() - self.zero_ns;
        self.stopping = true;
        while self.show_rows(elapsed_ns).0 {}
    }

    /// Stops issuing at `at_ns`, except I/Os that were due before. Slots that wait for a later time retire.
    fn stop(&mut self, at_ns: u64) {
        if std::mem::replace(&mut self.stopping, true) {
            return;
        }
        for lane in &mut self.lanes {
            lane.stop(at_ns);
        }
        for (slot, number) in self.slots.iter_mut().zip(0..) {
            let lane = &mut self.lanes[slot.lane as usize];
            let waits = self.agenda.at(number) != NEVER && lane.waits_in_vain(slot);
            if waits {
                self.agenda.set(number, lane.retire(slot, true));
                if lane.is_spent() {
                    lane.finish(&mut self.cpu);
                }
            }
        }
    }

    /// Keeps the first error of the log. The run then ends, because later measurements would be lost.
    fn keep(&mut self, outcome: Result<(), LogError>) {
        if let Err(error) = outcome {
            self.log_error.get_or_insert(error);
        }
    }

    fn host_bytes(&self) -> HostBytes {
        let sum = |op| self.lanes.iter().map(|lane| lane.moved_bytes(op)).sum();
        HostBytes {
            read_bytes: sum(Op::Read),
            written_bytes: sum(Op::Write),
        }
    }

    fn cursors(&self) -> Vec<Vec<u64>> {
        let lanes = self.lanes.iter();
        lanes
            .map(|lane| lane.feeds.iter().filter_map(Feed::cursor).collect())
            .collect()
    }
}

/// Numbers the workers of all streams. Returns the worker of each slot, and how many workers there are.
fn number_workers(slots: &[Slot]) -> (Vec<u32>, usize) {
    let mut numbers = Vec::with_capacity(slots.len());
    let mut last = None;
    let mut count = 0;
    for slot in slots {
        let worker = (slot.lane, slot.worker);
        if last.replace(worker) != Some(worker) {
            count += 1;
        }
        numbers.push(count - 1);
    }
    (numbers, count as usize)
}
