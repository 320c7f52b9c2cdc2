"""What a block device tells of itself, by what it is: put together for one that is held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.drives.telemetry.ata_health import AtaHealth
from ssdlab.drives.telemetry.hwmon import hwmon_of
from ssdlab.drives.telemetry.nvme_logs import NvmeLogs
from ssdlab.drives.telemetry.sampler import HostTelemetry
from ssdlab.drives.telemetry.sources import Source, host_sources
from ssdlab.host.attributes import disk_of
from ssdlab.host.rights import may_command
from ssdlab.host.sysfs import number

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.drives.admin.port import AdminPort
    from ssdlab.host.identity import Identity
    from ssdlab.host.sysfs import HostFiles


def telemetry_of(identity: Identity, files: HostFiles, node: Path, port: AdminPort) -> HostTelemetry:
    """Return what tells of a device.

    Parameters
    ----------
    identity, node
        Who it is, and its folder in sysfs.
    files, port
        The host, and the way to the drive.
    """
    disk = disk_of(node)
    sources: list[Source] = host_sources(files, disk, identity.transport)
    if identity.nsid is not None or number(disk / "nsid") is not None:
        if not may_command():
            hwmon = hwmon_of(disk)
            return HostTelemetry([*([hwmon] if hwmon is not None else []), *sources])
        logs = NvmeLogs(port)
        return HostTelemetry([logs, *sources], logs.reading)
    if identity.transport == "sata" and may_command():
        return HostTelemetry(sources, AtaHealth(port, identity.logical_block_bytes).reading)
    return HostTelemetry(sources)
