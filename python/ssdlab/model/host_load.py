"""The host around a measurement, and its influence on it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from ssdlab.model.stored import Stored
from ssdlab.model.summary import NO_WORKERS

if TYPE_CHECKING:
    from ssdlab.model.queue_settings import Conditions
    from ssdlab.model.summary import Summary


@dataclass(frozen=True, slots=True)
class HostContext:
    """The state of the host during a measurement; None is "not known".

    Attributes
    ----------
    conditions
        Settings of the drive, or of the device beneath a file.
    is_file
        Whether the target is a file on a file system.
    allow_unwritten
        Whether reads of never-written parts were allowed.
    written_unknown
        Whether nothing says that what may be read was ever written.
    cores
        CPUs that this process may use.
    cpu_busy_share
        Busy share of all CPUs during the run, others' work included, 0 to 1.
    governors
        CPU frequency governors in force.
    device_in_flight
        Mean I/Os in flight at the block device, by the kernel's own accounting.
    build_profile
        How the native part was built: ``release`` or ``debug``.
    left
        What runs that died have left set on the drive or its host: ``(what, advice)`` each.
    unseen
        What could not be looked at when the target was judged.
    """

    conditions: Conditions | None = None
    is_file: bool = False
    allow_unwritten: bool = False
    written_unknown: bool = False
    cores: int | None = None
    cpu_busy_share: float | None = None
    governors: tuple[str, ...] = ()
    device_in_flight: float | None = None
    build_profile: str | None = None
    left: tuple[tuple[str, str], ...] = ()
    unseen: tuple[str, ...] = ()

    def as_facts(self) -> dict[str, Any]:
        """Return what is not part of the environment record, as a result holds it."""
        return {
            "cores": self.cores,
            "cpu_busy_share": self.cpu_busy_share,
            "device_in_flight": self.device_in_flight,
        }


class HostLoad(Stored):
    """The host around one step: what decides whether host or drive made the tail."""

    cores: int
    threads: int = Field(description="workers that the step asked for")
    cpu_busy_share: float | None = Field(
        description="busy share of all CPUs, this process and others, 0 to 1"
    )
    run_queue_delay_share: float | None = Field(
        description="time our threads waited for a CPU, divided by the time they ran or waited for one"
    )
    own_cpu_s: float | None = None
    device_in_flight: float | None = Field(
        default=None, description="mean I/Os in flight at the block device, by the kernel's own accounting"
    )


def host_load(threads: int, summary: Summary, around: HostContext) -> HostLoad:
    """Put together what the host had to do with a step.

    Parameters
    ----------
    threads
        Workers of the step.
    summary
        Its measurement's summary; `workers` holds CPU and run-queue time of all workers.
    around
        The state of the host meanwhile.
    """
    workers = summary.workers or NO_WORKERS
    ran, waited = workers.run_ns, workers.run_queue_wait_ns or 0
    own = workers.user_cpu_ns + workers.system_cpu_ns
    return HostLoad(
        cores=around.cores or len(os.sched_getaffinity(0)),
        threads=threads,
        cpu_busy_share=around.cpu_busy_share,
        run_queue_delay_share=waited / (ran + waited) if ran + waited else None,
        own_cpu_s=own / 1e9 if own else None,
        device_in_flight=around.device_in_flight,
    )
