"""The CPUs of this host: their load, from `/proc/stat` (proc_stat(5)), and their frequency governors."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.host.sysfs import text, within
from ssdlab.model.errors import UsageError

if TYPE_CHECKING:
    from ssdlab.model.workload import Workload

_STAT = Path("/proc/stat")
_IDLE_FIELDS = (3, 4)
"""Fields idle and iowait of the `cpu` line: a CPU that waits for I/O is idle."""
_GUEST_FIELDS = (8, 9)
"""Fields guest and guest_nice, which are already counted in user and nice."""
_MIN_TICKS = 10
"""Fewest ticks (10 ms each) from which a share is computed."""


@dataclass(frozen=True)
class CpuTimes:
    """Ticks of all CPUs together since boot."""

    busy: int
    total: int


def read_cpu_times(stat: Path = _STAT) -> CpuTimes | None:
    """Read the ticks; None if the kernel does not report them."""
    try:
        line = stat.read_text(encoding="ascii").splitlines()[0]
        ticks = [int(part) for part in line.split()[1:]]
    except (OSError, ValueError, IndexError):
        return None
    total = sum(value for index, value in enumerate(ticks) if index not in _GUEST_FIELDS)
    return CpuTimes(total - sum(ticks[index] for index in _IDLE_FIELDS if index < len(ticks)), total)


def check_cpus(workload: Workload) -> None:
    """Refuse a workload with CPUs that are offline or not allowed to this process.

    Raises
    ------
    UsageError
        The error names the first such CPU.
    """
    allowed = os.sched_getaffinity(0)
    for cpu in (cpu for stream in workload.streams for cpu in stream.cpus):
        if cpu not in allowed:
            raise UsageError(
                f"CPU {cpu} is offline or not allowed to this process",
                "choose CPUs from those online and allowed (see /proc/self/status)",
                cpu=cpu,
            )


def busy_share(before: CpuTimes | None, after: CpuTimes | None) -> float | None:
    """Return the busy share of all CPUs between two readings, 0 to 1; None if too little time passed."""
    if before is None or after is None or after.total - before.total < _MIN_TICKS:
        return None
    return (after.busy - before.busy) / (after.total - before.total)


_CPUS = Path("/sys/devices/system/cpu")


def governors(cpus: Path = _CPUS) -> tuple[str, ...]:
    """Return the CPU frequency governors in force, each once; empty if not reported."""
    found = {text(cpu / "cpufreq" / "scaling_governor") for cpu in within(cpus, "cpu[0-9]*")}
    return tuple(sorted(name for name in found if name is not None))
