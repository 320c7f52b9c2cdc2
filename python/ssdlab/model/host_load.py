"""How busy the host was around a step, from `/proc/stat`; source: proc_stat(5)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ssdlab.results.schema import HostLoad
    from ssdlab.runs.observe import Surroundings

_STAT = Path("/proc/stat")
_IDLE_FIELDS = (3, 4)
"""idle and iowait of the `cpu` line: a CPU that waits for I/O has nothing to do."""
_GUEST_FIELDS = (8, 9)
"""guest and guest_nice: already counted in user and nice."""
_LEAST_TICKS = 10
"""The kernel counts in ticks of 10 ms: over fewer a share is a guess."""


@dataclass(frozen=True)
class CpuTimes:
    """Ticks of all CPUs together since boot."""

    busy: int
    total: int


def read_cpu_times(stat: Path = _STAT) -> CpuTimes | None:
    """Read the ticks; None where the kernel does not tell."""
    try:
        line = stat.read_text(encoding="ascii").splitlines()[0]
        ticks = [int(part) for part in line.split()[1:]]
    except (OSError, ValueError, IndexError):
        return None
    total = sum(value for index, value in enumerate(ticks) if index not in _GUEST_FIELDS)
    return CpuTimes(total - sum(ticks[index] for index in _IDLE_FIELDS if index < len(ticks)), total)


def busy_share(before: CpuTimes | None, after: CpuTimes | None) -> float | None:
    """Return the busy share of all CPUs between two readings, 0 to 1; None for too short a time."""
    if before is None or after is None or after.total - before.total < _LEAST_TICKS:
        return None
    return (after.busy - before.busy) / (after.total - before.total)


def host_load(threads: int, summary: dict[str, Any], around: Surroundings) -> HostLoad:
    """Put together what the host had to do with a step.

    Parameters
    ----------
    threads
        Workers of the step.
    summary
        Its measurement's summary; `workers` holds CPU and run-queue time of all workers.
    around
        What stood around it.
    """
    # Its models take 20 ms to load, which `measure` does not wait for.
    from ssdlab.results.schema import HostLoad

    workers = summary.get("workers") or {}
    ran, waited = workers.get("run_ns", 0), workers.get("run_queue_wait_ns", 0)
    own = workers.get("user_cpu_ns", 0) + workers.get("system_cpu_ns", 0)
    return HostLoad(
        cores=around.cores or len(os.sched_getaffinity(0)),
        threads=threads,
        cpu_busy_share=around.cpu_busy_share,
        run_queue_delay_share=waited / (ran + waited) if ran + waited else None,
        own_cpu_s=own / 1e9 if own else None,
        device_in_flight=around.device_in_flight,
    )
