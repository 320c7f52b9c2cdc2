//! What this host allows, and what the engine itself costs on it: measured before a run, never during one.

use std::fs;
use std::time::Duration;

use io_uring::{IoUring, Probe, opcode};
use metrics::{
    Collector, CollectorSpec, Histogram, LatencySummary, Pacing, Recorder, StreamSpec, WorkerFacts,
};
use rustix::process::{Resource, getrlimit};
use serde::Serialize;
use workload::spec::{Arrival, BlockWeight, Engine, Flush, Ops, Pattern, Span, Stop, Stream};
use workload::units::SECOND_NS;
use workload::{Plan, Workload};

use crate::error::EngineError;
use crate::sys::{monotonic_ns, sharpen_timers, sleep_until};
use crate::uring::Nothings;

/// What the kernel and the process limits allow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// What `io_uring` offers.
    pub io_uring: RingCapabilities,
    /// Memory that the process may lock, in bytes; `None` if unlimited.
    pub locked_memory_bytes: Option<u64>,
    /// Files that the process may open; `None` if unlimited.
    pub open_files: Option<u64>,
    /// Threads and processes that the user may have; `None` if unlimited.
    pub threads: Option<u64>,
    /// CPUs that the process may use.
    pub cpus: Vec<u32>,
    /// Whether the kernel counts how long a thread waits for a CPU.
    pub schedstat: bool,
}

/// What `io_uring` offers on this host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
// Each flag answers a separate question; together they are not a state.
#[allow(clippy::struct_excessive_bools)]
pub struct RingCapabilities {
    /// Whether a ring can be created.
    pub available: bool,
    /// The kernel's error number if a ring cannot be created.
    pub errno: Option<i32>,
    /// Whether a ring can be limited to one submitting thread, in which completions run.
    pub single_issuer: bool,
    /// Whether reads and writes can use registered buffers.
    pub fixed_buffers: bool,
    /// Whether commands, such as a discard, can be passed to a device.
    pub commands: bool,
}

/// Queries the kernel and the process limits.
#[must_use]
pub fn capabilities() -> Capabilities {
    let limit = |resource| getrlimit(resource).current;
    Capabilities {
        io_uring: ring(),
        locked_memory_bytes: limit(Resource::Memlock),
        open_files: limit(Resource::Nofile),
        threads: limit(Resource::Nproc),
        cpus: allowed_cpus(),
        schedstat: crate::sys::schedstat_ns().is_some(),
    }
}

fn ring() -> RingCapabilities {
    let ring = match IoUring::new(8) {
        Ok(ring) => ring,
        Err(error) => {
            return RingCapabilities {
                errno: error.raw_os_error(),
                ..RingCapabilities::default()
            };
        }
    };
    let mut probe = Probe::new();
    let probed = ring.submitter().register_probe(&mut probe).is_ok();
    let supported = |code| probed && probe.is_supported(code);
    RingCapabilities {
        available: true,
        errno: None,
        single_issuer: single_issuer(),
        fixed_buffers: supported(opcode::ReadFixed::CODE) && supported(opcode::WriteFixed::CODE),
        commands: supported(opcode::UringCmd16::CODE),
    }
}

fn single_issuer() -> bool {
    let ring: std::io::Result<IoUring> = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build(8);
    ring.is_ok()
}

/// Reads the allowed CPUs from `/proc`, which lists them as ranges: `0-3,8`.
fn allowed_cpus() -> Vec<u32> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ranges = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .unwrap_or_default();
    let ranges = ranges.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?)
    });
    ranges.flatten().collect()
}

/// What the engine costs on this host without a drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Costs {
    /// One reading of the clock, in ns.
    pub clock_ns: f64,
    /// One system call that does nothing, in ns.
    pub system_call_ns: f64,
    /// Drawing one random 4 KiB read, in ns.
    pub generate_ns: f64,
    /// Recording one I/O with its latency, in ns.
    pub record_ns: f64,
    /// One `io_uring` no-op, at 32 per call, in ns; `None` without `io_uring`.
    pub ring_ns: Option<f64>,
    /// Lateness of a thread that sleeps until a given time, in ns.
    pub wake_up_ns: LatencySummary,
}

/// Operations between two readings of the clock.
const BATCH: u32 = 1024;
/// Length of each sleep that measures lateness.
const NAP_NS: u64 = 200_000;

/// Measures the costs in about `length`, with a sixth of it for each cost.
///
/// # Errors
/// [`EngineError::Recording`] if nothing can be recorded, which is a bug in this program.
pub fn calibrate(length: Duration) -> Result<Costs, EngineError> {
    let each_ns = length.as_nanos() as u64 / 6;
    let workload = reads();
    let mut generator = Plan::new(&workload)?.stream(0).generator(0);
    let stream = StreamSpec {
        name: "calibration".to_owned(),
        pacing: Pacing::BackToBack,
        log_ios: false,
    };
    let collector = Collector::new(CollectorSpec::new(SECOND_NS, vec![stream], 1))?;
    let mut recorder = Recorder::new(&collector, 0, 0);
    let mut at_ns = 0;
    let costs = Costs {
        clock_ns: cost_of(each_ns, || {
            std::hint::black_box(monotonic_ns());
        }),
        system_call_ns: cost_of(each_ns, || {
            std::hint::black_box(std::os::unix::process::parent_id());
        }),
        generate_ns: cost_of(each_ns, || {
            std::hint::black_box(generator.next());
        }),
        record_ns: cost_of(each_ns, || {
            recorder.submitted(1, at_ns);
            at_ns += 1000;
            recorder.completed(workload::Op::Read, 4096, at_ns - 1000, at_ns - 1000, at_ns);
        }),
        ring_ns: ring_cost(each_ns),
        wake_up_ns: LatencySummary::of(&wake_ups(each_ns)),
    };
    recorder.finish(at_ns, &WorkerFacts::default());
    Ok(costs)
}

/// Ring operations submitted by one call.
const RING_BATCH: u32 = 32;

fn ring_cost(for_ns: u64) -> Option<f64> {
    let mut nothings = Nothings::new(RING_BATCH).ok()?;
    let mut failed = false;
    let call_ns = cost_of(for_ns, || failed |= nothings.call().is_err());
    (!failed).then_some(call_ns / f64::from(RING_BATCH))
}

/// Returns the time of one operation: the smallest mean of a batch, because other work on the host only adds to it.
fn cost_of(for_ns: u64, mut operation: impl FnMut()) -> f64 {
    let begin_ns = monotonic_ns();
    let mut min_ns = f64::INFINITY;
    let mut now_ns = begin_ns;
    while now_ns - begin_ns < for_ns || min_ns.is_infinite() {
        let before_ns = now_ns;
        (0..BATCH).for_each(|_| operation());
        now_ns = monotonic_ns();
        min_ns = min_ns.min((now_ns - before_ns) as f64 / f64::from(BATCH));
    }
    min_ns
}

/// Measures how late a thread wakes. Runs in its own thread, because timer slack is set for each thread.
fn wake_ups(for_ns: u64) -> Histogram {
    let nap = move || {
        sharpen_timers();
        let mut lateness = Histogram::new();
        let begin_ns = monotonic_ns();
        let mut due_ns = begin_ns;
        while due_ns - begin_ns < for_ns {
            due_ns = monotonic_ns() + NAP_NS;
            let word = std::sync::atomic::AtomicU32::new(0);
            sleep_until(due_ns, &word, 0);
            lateness.record(monotonic_ns().saturating_sub(due_ns));
        }
        lateness
    };
    std::thread::spawn(nap).join().unwrap_or_default()
}

/// A closed loop of random 4 KiB reads over 64 GiB.
fn reads() -> Workload {
    let stream = Stream {
        name: "calibration".to_owned(),
        ops: Ops::Mix { read_pct: 100 },
        block: vec![BlockWeight {
            bytes: 4096,
            weight: 1,
        }],
        pattern: Pattern::Uniform,
        write_block: None,
        write_pattern: None,
        span: Span {
            start: 0,
            length: 64 << 30,
        },
        workers: 1,
        depth: 1,
        engine: Engine::Sync,
        batch: None,
        polled: false,
        arrival: Arrival::Closed { think_ns: 0 },
        compressible_pct: 0,
        direct: true,
        dsync: false,
        flush_every: None,
        flush: Flush::Fdatasync,
        cpus: Vec::new(),
        stop: Stop {
            time_ns: None,
            bytes: None,
            ios: None,
            span_once: false,
        },
        log_ios: false,
    };
    Workload {
        seed: 0,
        interval_ns: SECOND_NS,
        ramp_ns: 0,
        streams: vec![stream],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_may_run_on_some_cpu() {
        let found = capabilities();
        assert!(!found.cpus.is_empty());
        assert_eq!(found.io_uring.available, found.io_uring.errno.is_none());
    }

    #[test]
    fn every_cost_is_measured_however_short_the_time() {
        let costs = calibrate(Duration::ZERO).expect("costs");
        let times = [
            costs.clock_ns,
            costs.system_call_ns,
            costs.generate_ns,
            costs.record_ns,
        ];
        assert!(times.iter().all(|&ns| ns > 0.0 && ns.is_finite()));
        assert_eq!(costs.ring_ns.is_some(), capabilities().io_uring.available);
    }
}
