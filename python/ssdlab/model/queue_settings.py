"""The settings that a drive's numbers depend on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Conditions:
    """Queue and cache settings of a block device; None is "this device has no such setting, or does not say".

    Attributes
    ----------
    device
        Kernel name of the disk that these are of: for a file, the one beneath its file system.
    scheduler, schedulers
        The I/O scheduler in force, and those on offer; `none` for a device without a choice.
    write_cache
        `write back` or `write through`, as the kernel believes (it may be wrong about what the drive does).
    fua
        Whether the drive takes writes that bypass its cache.
    nr_requests
        Requests that a queue holds before submitters wait.
    queue_depth
        Commands that the drive holds at once, where its link bounds them (SATA and SCSI; NVMe does not say).
    max_io_bytes, max_io_hardware_bytes
        Largest request that is sent; larger I/Os are split, and count as several at the drive.
    nomerges
        0 merges neighbours, 1 only simply, 2 never.
    writeback_throttle_us
        Latency target of writeback throttling; 0 is off.
    io_poll
        Whether the device has polled queues.
    rq_affinity
        Where completions run: 0 anywhere, 1 in the same group, 2 on the CPU that submitted.
    discard_granularity_bytes, discard_max_bytes
        Unit and largest size of a discard; 0 is "no discard".
    read_ahead_bytes
        Read-ahead of buffered reads; no part in direct I/O.
    rotational, zoned, iostats, add_random
        As in sysfs.
    link
        PCIe speed and width in use, of those possible: `16.0 GT/s x4 of 16.0 GT/s x4`.
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
