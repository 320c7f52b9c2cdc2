"""The host around a measurement: its queue settings, its load, and its influence on the result."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from ssdlab.model.frozen import Stored
from ssdlab.model.summary import NO_WORKERS

if TYPE_CHECKING:
    from ssdlab.model.summary import Summary


@dataclass(frozen=True, slots=True)
class Conditions:
    """Queue and cache settings of a block device; None if a setting does not exist or is not reported.

    Attributes
    ----------
    device
        Kernel name of the disk: for a file, the disk below its file system.
    scheduler, schedulers
        The I/O scheduler in use, and the available ones; `none` for a device without a choice.
    write_cache
        `write back` or `write through`, as the kernel assumes; the drive may behave differently.
    fua
        Whether the drive takes writes that bypass its cache.
    nr_requests
        Capacity of a queue before submitters wait.
    queue_depth
        Maximum commands at the drive, if its link limits them (SATA and SCSI; unknown for NVMe).
    max_io_bytes, max_io_hardware_bytes
        Largest request; larger I/Os are split, and count as several at the drive.
    nomerges
        Merging of neighbouring requests: 0 is full, 1 only simple merges, 2 none.
    writeback_throttle_us
        Latency target of writeback throttling; 0 is off.
    io_poll
        Whether the device has polled queues.
    rq_affinity
        Where completions run: 0 anywhere, 1 in the same group, 2 on the CPU that submitted.
    discard_granularity_bytes, discard_max_bytes
        Unit and largest size of a discard; 0 means no discard.
    read_ahead_bytes
        Read-ahead of buffered reads; it does not affect direct I/O.
    rotational, zoned, iostats, add_random
        As in sysfs.
    link
        PCIe speed and width in use, and the maximum: `16.0 GT/s x4 of 16.0 GT/s x4`.
    runtime_power
        Runtime power management of the controller: `on`, or `auto` (the kernel may put it to sleep).
    """

    device: str
    scheduler: str | None
    schedulers: tuple[str, ...]
    write_cache: str | None
    fua: bool | None
    nr_requests: int | None
    queue_depth: int | None
    max_io_bytes: int | None
    max_io_hardware_bytes: int | None
    nomerges: int | None
    writeback_throttle_us: int | None
    io_poll: bool | None
    rq_affinity: int | None
    discard_granularity_bytes: int | None
    discard_max_bytes: int | None
    read_ahead_bytes: int | None
    rotational: bool | None
    zoned: str | None
    iostats: bool | None
    add_random: bool | None
    link: str | None
    runtime_power: str | None


@dataclass(frozen=True, slots=True)
class HostContext:
    """The state of the host during a measurement; None means not known.

    Attributes
    ----------
    conditions
        Settings of the drive, or of the device below a file.
    is_file
        Whether the target is a file on a file system.
    allow_unwritten
        Whether reads of never-written parts were allowed.
    written_unknown
        Whether it is unknown if blocks to read were ever written.
    cores
        CPUs that this process may use.
    cpu_busy_share
        Busy share of all CPUs during the run, including other work, 0 to 1.
    governors
        CPU frequency governors in use.
    device_in_flight
        Mean I/Os in flight at the block device, by the kernel's own accounting.
    build_profile
        How the native part was built: ``release`` or ``debug``.
    left
        Settings that crashed runs left changed on the drive or its host, each as ``(what, advice)``.
    unseen
        What could not be inspected when the target was checked.
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
        """Return the facts that a result stores because the environment record lacks them."""
        return {
            "cores": self.cores,
            "cpu_busy_share": self.cpu_busy_share,
            "device_in_flight": self.device_in_flight,
        }


class HostLoad(Stored):
    """The host during one step, to decide whether host or drive caused the tail."""

    cores: int
    threads: int = Field(description="workers that the step requested")
    cpu_busy_share: float | None = Field(description="busy share of all CPUs, all processes, 0 to 1")
    run_queue_delay_share: float | None = Field(
        description="time ssdlab's threads waited for a CPU, divided by the time they ran or waited"
    )
    own_cpu_s: float | None = None
    device_in_flight: float | None = Field(
        default=None, description="mean I/Os in flight at the block device, by the kernel's own accounting"
    )


def host_load(threads: int, summary: Summary, around: HostContext) -> HostLoad:
    """Return the host's load during a step.

    Parameters
    ----------
    threads
        Workers of the step.
    summary
        Summary of the measurement; its `workers` holds CPU and run-queue time of all workers.
    around
        The state of the host during the step.
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
