//! One run from start to end: creates the threads, starts them together, supervises them and joins them. No path leaves
//! I/O in flight.

use std::sync::Arc;

use metrics::{Collector, CollectorSpec, Recorder};
use workload::spec::Workload;
use workload::{Op, Plan};

use crate::control::Control;
use crate::driver::{Driver, Seat};
use crate::error::{EngineError, IoFailure};
use crate::options::Options;
use crate::outcome::Outcome;
use crate::source::Source;
use crate::target::Target;
use crate::worker::{Fault, Shared};
use crate::{buffers, features, placement};

/// Runs a workload on a target until the workload or `control` ends it, and returns what was measured.
///
/// # Errors
/// Before the first I/O: the workload is invalid or does not fit the target, or the host lacks a feature or a resource.
/// Later: [`EngineError::Io`], [`EngineError::Log`] and [`EngineError::Overdue`], which hold what was measured until
/// then; [`EngineError::Panicked`], which does not.
pub fn run(
    target: &Target,
    workload: &Workload,
    control: &Control,
    options: Options,
) -> Result<Outcome, EngineError> {
    let plan = Plan::new(workload)?;
    target.check(workload)?;
    features::check(target, workload)?;
    check_resources(workload, &options)?;

    let shared = Shared::new(target, control, workload, &options);
    let huge_pages = options.huge_pages;
    let collector = Collector::new(collector_spec(workload, options))?;
    let sources: Vec<Vec<Source>> = plan
        .streams()
        .iter()
        .map(|stream| {
            (0..stream.sources())
                .map(|s| Source::new(stream, s))
                .collect()
        })
        .collect();
    let seats = seats(workload, &plan, &sources, &collector, huge_pages)?;

    let log_error = Driver::new(&shared, &collector, workload.ramp_ns).run(seats)?;
    let mut measurement = collector.into_measurement();
    let log_error = log_error.or(measurement.log_error.take());
    let cursors = sources
        .iter()
        .map(|s| s.iter().filter_map(|s| s.lock().cursor()).collect());
    let outcome = Outcome {
        measurement,
        cursors: cursors.collect(),
    };
    let fault = shared.trouble().fault.take();
    match (fault, log_error) {
        _ if control.is_overdue() => Err(EngineError::Overdue {
            measured: Some(Box::new(outcome)),
        }),
        (Some(fault), _) => Err(io_failure(target, workload, fault, outcome)),
        (None, Some(source)) => Err(EngineError::Log {
            source,
            measured: Some(Box::new(outcome)),
        }),
        (None, None) => Ok(outcome),
    }
}

fn check_resources(workload: &Workload, options: &Options) -> Result<(), EngineError> {
    for stream in &workload.streams {
        placement::check(&stream.cpus)?;
    }
    let needed_bytes = workload.streams.iter().map(buffers::bytes_needed).sum();
    if needed_bytes > options.buffer_bytes_max {
        return Err(EngineError::Buffers {
            needed_bytes,
            limit_bytes: options.buffer_bytes_max,
        });
    }
    Ok(())
}

fn collector_spec(workload: &Workload, options: Options) -> CollectorSpec {
    CollectorSpec {
        keep_interval_histograms: options.keep_interval_histograms,
        log: options.log,
        header: options.header,
        ..CollectorSpec::of_workload(workload)
    }
}

/// Returns one seat for each worker of each stream, in the order of the workload.
fn seats<'a>(
    workload: &'a Workload,
    plan: &Plan,
    sources: &'a [Vec<Source>],
    collector: &Arc<Collector>,
    huge_pages: bool,
) -> Result<Vec<Seat<'a>>, EngineError> {
    let mut seats = Vec::new();
    for (index, stream) in workload.streams.iter().enumerate() {
        let regions = buffers::regions(stream, huge_pages)?;
        for (worker, region) in (0..).zip(regions) {
            let participant = seats.len() as u32;
            seats.push(Seat {
                stream,
                source: &sources[index][plan.stream(index).source_of_worker(worker) as usize],
                worker,
                data_seed: workload.seed.wrapping_add(u64::from(participant) << 32),
                region,
                recorder: Recorder::new(collector, index, participant),
            });
        }
    }
    Ok(seats)
}

fn io_failure(target: &Target, workload: &Workload, fault: Fault, outcome: Outcome) -> EngineError {
    let polled = workload.streams.iter().any(|s| s.polled);
    let ops = [Op::Read, Op::Write, Op::Trim];
    let done = ops.iter().any(|&op| outcome.measurement.op(op).done > 0);
    if let Some(missing) = missing(&fault, polled, done) {
        return missing.into();
    }
    EngineError::Io(Box::new(IoFailure {
        errno: fault.errno,
        operation: fault.operation,
        device: target.path().to_owned(),
        offset: fault.offset,
        length: fault.length,
        measured: Some(Box::new(outcome)),
    }))
}

/// Returns the unsupported feature behind a fault. `None` if any I/O was done, because this error would drop the
/// measurement.
fn missing(fault: &Fault, polled: bool, done: bool) -> Option<features::Missing> {
    match (fault.errno, fault.operation) {
        _ if done => None,
        (libc::EOPNOTSUPP, "trim") => Some(features::NO_TRIM),
        (libc::EOPNOTSUPP, _) if polled => Some(features::NO_POLLING),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_is_not_given_up_for_an_advice() {
        let refused = |operation| Fault {
            errno: libc::EOPNOTSUPP,
            operation,
            offset: 0,
            length: 4096,
        };
        assert!(missing(&refused("trim"), false, false).is_some());
        assert!(missing(&refused("read"), true, false).is_some());
        assert!(missing(&refused("read"), false, false).is_none());
        for polled in [false, true] {
            assert!(missing(&refused("trim"), polled, true).is_none());
        }
    }
}
