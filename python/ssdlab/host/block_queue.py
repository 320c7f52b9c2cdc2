"""The queue of a block device, from the kernel: settings that affect figures, and counters of I/O.

The counters are an independent check of ssdlab's own. `in_flight_ns` is the kernel's `time_in_queue`, the sum
of the times of all requests. Its growth divided by the elapsed time is the mean number of requests in flight
at the device.

Sources: Documentation/ABI/stable/sysfs-block and Documentation/block/queue-sysfs.rst; for the link,
sysfs-bus-pci; for the drive's own queue, Documentation/scsi/scsi_mid_low_api.rst; for the counters,
Documentation/block/stat.rst.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

from ssdlab.host.attributes import controller_of, disk_of
from ssdlab.host.sysfs import flag, number, text
from ssdlab.model.host_load import Conditions


def read_conditions(node: Path) -> Conditions:
    """Read the queue settings of a disk, given its sysfs folder or that of a partition."""
    disk = disk_of(node)
    queue = disk / "queue"
    scheduler, schedulers = _schedulers(text(queue / "scheduler"))
    controller = controller_of(disk)
    return Conditions(
        device=disk.name.replace("!", "/"),
        scheduler=scheduler,
        schedulers=schedulers,
        write_cache=text(queue / "write_cache"),
        fua=flag(queue / "fua"),
        nr_requests=number(queue / "nr_requests"),
        queue_depth=number(disk / "device" / "queue_depth"),
        max_io_bytes=_kibibytes(queue / "max_sectors_kb"),
        max_io_hardware_bytes=_kibibytes(queue / "max_hw_sectors_kb"),
        nomerges=number(queue / "nomerges"),
        writeback_throttle_us=number(queue / "wbt_lat_usec"),
        io_poll=flag(queue / "io_poll"),
        rq_affinity=number(queue / "rq_affinity"),
        discard_granularity_bytes=number(queue / "discard_granularity"),
        discard_max_bytes=number(queue / "discard_max_bytes"),
        read_ahead_bytes=_kibibytes(queue / "read_ahead_kb"),
        rotational=flag(queue / "rotational"),
        zoned=text(queue / "zoned"),
        iostats=flag(queue / "iostats"),
        add_random=flag(queue / "add_random"),
        link=_link(controller),
        runtime_power=text(controller / "power" / "control"),
    )


def _schedulers(line: str | None) -> tuple[str | None, tuple[str, ...]]:
    """Split `none [mq-deadline] kyber` into the scheduler in force and all that the kernel offers.

    >>> _schedulers("none [mq-deadline] kyber")
    ('mq-deadline', ('none', 'mq-deadline', 'kyber'))
    """
    if line is None:
        return None, ()
    chosen = re.search(r"\[([^\]]+)\]", line)
    offered = tuple(line.replace("[", "").replace("]", "").split())
    return (chosen.group(1) if chosen else line if len(offered) == 1 else None), offered


def _kibibytes(path: Path) -> int | None:
    value = number(path)
    return None if value is None else value * 1024


def _link(controller: Path) -> str | None:
    """Return speed and width of the nearest PCI ancestor's link, negotiated and maximum."""
    for folder in (controller, *controller.parents):
        speed, width = text(folder / "current_link_speed"), text(folder / "current_link_width")
        if speed is not None and width is not None:
            capable = f"{text(folder / 'max_link_speed')} x{text(folder / 'max_link_width')}"
            return f"{speed} x{width} of {capable}".replace(" PCIe", "")
    return None


_SECTOR_BYTES = 512
_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class IoCounters:
    """I/O that a block device has completed since it was attached, at `at_ns` of the monotonic clock.

    Requests count after merging and splitting: one I/O may be several requests, or share one.
    """

    at_ns: int
    reads: int
    read_bytes: int
    writes: int
    written_bytes: int
    discards: int | None
    discarded_bytes: int | None
    in_flight_ns: int


def read_counters(node: Path) -> IoCounters | None:
    """Read the I/O counters of a disk, given its sysfs folder or a partition's; None if it keeps none."""
    disk = disk_of(node)
    if text(disk / "queue" / "iostats") == "0":
        return None
    fields = [int(word) for word in (text(disk / "stat") or "").split()]
    if len(fields) < 11:
        return None
    return IoCounters(
        at_ns=time.monotonic_ns(),
        reads=fields[0],
        read_bytes=fields[2] * _SECTOR_BYTES,
        writes=fields[4],
        written_bytes=fields[6] * _SECTOR_BYTES,
        discards=fields[11] if len(fields) > 13 else None,
        discarded_bytes=fields[13] * _SECTOR_BYTES if len(fields) > 13 else None,
        in_flight_ns=fields[10] * _NS_PER_MS,
    )
