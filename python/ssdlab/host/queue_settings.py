"""The settings that a drive's numbers depend on, as the kernel holds them now.

Sources: Documentation/ABI/stable/sysfs-block and Documentation/block/queue-sysfs.rst; for the link,
sysfs-bus-pci; for the drive's own queue, Documentation/scsi/scsi_mid_low_api.rst.
"""

from __future__ import annotations

import re
from pathlib import Path

from ssdlab.host.attributes import controller_of, disk_of
from ssdlab.host.sysfs import flag, number, text
from ssdlab.model.host_load import Conditions


def read_conditions(node: Path) -> Conditions:
    """Read the settings of the disk that a block device's sysfs folder belongs to."""
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
    """Split `none [mq-deadline] kyber` into the one in force and all.

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
    """Return speed and width of the nearest PCI ancestor."""
    for folder in (controller, *controller.parents):
        speed, width = text(folder / "current_link_speed"), text(folder / "current_link_width")
        if speed is not None and width is not None:
            capable = f"{text(folder / 'max_link_speed')} x{text(folder / 'max_link_width')}"
            return f"{speed} x{width} of {capable}".replace(" PCIe", "")
    return None
