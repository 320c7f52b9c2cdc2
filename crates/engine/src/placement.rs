//! Assigns workers to CPUs.
//!
//! Workers float unless the stream names CPUs. Then worker `w` stays on CPU `cpus[w % n]`, so that each CPU carries its
//! share. A drive's queues, which the kernel maps to CPUs, are then used evenly. A NUMA node is given as a list of its
//! CPUs.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::EngineError;

/// Returns the CPU for worker `worker` of a stream placed on `cpus`; `None` if the worker floats.
#[must_use]
pub fn cpu_of_worker(cpus: &[u32], worker: u32) -> Option<u32> {
    let count = u32::try_from(cpus.len()).ok().filter(|&n| n > 0)?;
    cpus.get((worker % count) as usize).copied()
}

/// Checks that this process may run on all of `cpus`.
///
/// # Errors
/// [`EngineError::Cpu`] with the first CPU that is not allowed; [`EngineError::Setup`] if the kernel does not tell.
pub fn check(cpus: &[u32]) -> Result<(), EngineError> {
    if cpus.is_empty() {
        return Ok(());
    }
    let allowed =
        sched_getaffinity(None).map_err(|e| EngineError::setup("sched_getaffinity", e))?;
    for &cpu in cpus {
        if cpu as usize >= CpuSet::MAX_CPU || !allowed.is_set(cpu as usize) {
            return Err(EngineError::Cpu { cpu });
        }
    }
    Ok(())
}

/// Pins the calling thread to one CPU.
///
/// # Errors
/// [`EngineError::Cpu`] if the kernel refuses, for example because the CPU went offline after [`check`].
pub fn pin(cpu: u32) -> Result<(), EngineError> {
    if cpu as usize >= CpuSet::MAX_CPU {
        return Err(EngineError::Cpu { cpu });
    }
    let mut set = CpuSet::new();
    set.set(cpu as usize);
    sched_setaffinity(None, &set).map_err(|_| EngineError::Cpu { cpu })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_share_the_cpus_evenly() {
        let on = |w| cpu_of_worker(&[3, 5], w);
        assert_eq!([on(0), on(1), on(2)], [Some(3), Some(5), Some(3)]);
        assert_eq!(cpu_of_worker(&[], 7), None);
    }

    #[test]
    fn a_cpu_that_is_not_there_is_named() {
        let error = check(&[9999]).expect_err("CPU 9999 is beyond the mask");
        assert!(matches!(error, EngineError::Cpu { cpu: 9999 }));
    }

    #[test]
    fn a_pinned_thread_runs_where_it_was_put() {
        let allowed = sched_getaffinity(None).expect("an affinity mask");
        let cpu = (0..CpuSet::MAX_CPU)
            .find(|&c| allowed.is_set(c))
            .expect("a CPU") as u32;
        std::thread::spawn(move || {
            pin(cpu).expect("pinned");
            assert_eq!(rustix::thread::sched_getcpu(), cpu as usize);
        })
        .join()
        .expect("the pinned thread");
    }
}
