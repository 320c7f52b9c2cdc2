"""Finds the settings of a block device and its host by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ssdlab.drives.admin.port import AdminPort, KernelPort
from ssdlab.drives.settings import lba_format, nvme_power, write_cache
from ssdlab.drives.settings.lba_format import LbaFormat
from ssdlab.drives.settings.nvme_power import Apst, LinkPower, NvmePowerState, NvmeRestState
from ssdlab.drives.settings.queue import Governor, LargestIo, QueueNumber, Scheduler, whole
from ssdlab.drives.settings.setting import Checked, Setting, no_such
from ssdlab.drives.settings.write_cache import AtaCache, CacheControl, NvmeCache, ScsiCache, WriteCache
from ssdlab.host.attributes import disk_of
from ssdlab.host.identity import Identity
from ssdlab.host.sysfs import HostFiles, number, there
from ssdlab.model.errors import unknown
from ssdlab.model.units import parse_bytes

NAMES = {
    "write_cache": "the drive's volatile write cache: on or off",
    "power_state": "NVMe power state: ps1, or a limit such as 10W",
    "rest_state": "NVMe power state when idle, such as ps3: the next I/O ends it",
    "apst": "whether an idle NVMe drive enters low-power states by itself (APST): on or off",
    "link_power": "link power management of a SATA port: max_performance, med_power_with_dipm, min_power ...",
    "lba_format": "bytes of a block: 512 or 4k; a change formats the namespace and loses all data",
    "scheduler": "the I/O scheduler: none, mq-deadline ...",
    "nomerges": "merges of neighbouring I/Os: 0 all, 1 simple ones only, 2 none",
    "rq_affinity": "completions on any CPU (0), in the submitter's group (1), on the submitting CPU (2)",
    "writeback_throttle_us": "latency target of writeback throttling in us: 0 is off, -1 the default",
    "max_io_bytes": "largest request that the kernel sends",
    "nr_requests": "requests that a queue holds",
    "governor": "CPU frequency governor of the host",
}
"""Every setting, with its description."""

FOLLOWERS = {"scheduler": ("nr_requests", "writeback_throttle_us")}
"""Settings that the kernel resets to its own defaults when another setting is changed."""

PASSING = frozenset({"rest_state"})
"""Settings that the next command ends, so that they differ at the end of a run."""

HOST_WIDE = frozenset({"governor"})
"""Settings of the host, not of a drive."""


@dataclass(frozen=True, slots=True)
class DriveSettings:
    """The settings of one block device, and of the host around it.

    Parameters
    ----------
    identity, node
        The device, and its folder in sysfs.
    before_change
        Called before anything is set. An exception from it prevents the change.
    before_format, after_format
        Called around a format of the namespace. An exception from the first prevents the format.
    """

    identity: Identity
    node: Path
    port: AdminPort
    files: HostFiles
    before_change: Callable[[], None] = lambda: None
    before_format: Callable[[], None] = lambda: None
    after_format: Callable[[], None] = lambda: None

    def find(self, name: str) -> Setting:
        """Return a setting by its name.

        Raises
        ------
        UsageError
            There is no setting of that name.
        Unsupported
            This kind of drive lacks the setting.
        """
        if name not in NAMES:
            raise unknown("setting", name, NAMES)
        found = _MAKERS[name](self)
        return found if name in HOST_WIDE else Checked(found, self.before_change)

    @property
    def disk(self) -> Path:
        """Sysfs folder of the whole disk: all settings belong to it, even if a partition is in use."""
        return disk_of(self.node)

    @property
    def is_nvme(self) -> bool:
        return number(self.disk / "nsid") is not None

    def cache_control(self) -> CacheControl | None:
        """Return access to the write cache; None if it cannot be set."""
        target = self.disk.name
        if self.is_nvme:
            return NvmeCache(self.port, target)
        if self.identity.transport == "sata" or there(self.disk / "device" / "vpd_pg89"):
            return AtaCache(self.port, target)
        # Other devices that answer SCSI commands: SAS, USB bridges, virtual SCSI disks.
        return ScsiCache(self.port, target) if there(self.disk / "device" / "scsi_level") else None


def settings_of(identity: Identity, files: HostFiles | None = None) -> Callable[[str], Setting]:
    """Return a function that finds the settings of a drive that is not held, to read and compare them.

    Parameters
    ----------
    identity
        A real drive or a file; a simulated drive is created as its text says.
    files
        The host; tests pass another root.
    """
    files = files or HostFiles()
    node = files.node_named(identity.name) if identity.capabilities.block_device else None
    if node is None:
        return lambda name: setting_of_file(name, identity.path, files)
    return DriveSettings(identity, node, KernelPort.of(Path(identity.path), node), files).find


def check_wanted(name: str, wanted: str) -> None:
    """Refuse a value that no drive could have, without access to a drive.

    Raises
    ------
    UsageError
        The value is invalid; the error names valid values.
    """
    match name:
        case "write_cache":
            write_cache.check_wanted(wanted)
        case "power_state":
            nvme_power.check_wanted(wanted)
        case "rest_state":
            nvme_power.check_rest_state(wanted)
        case "apst":
            nvme_power.check_apst(wanted)
        case "link_power":
            nvme_power.check_link_power(wanted)
        case "lba_format" | "max_io_bytes":
            parse_bytes(wanted)
        case _ if name in _NUMBERS:
            _, minimum, maximum = _NUMBERS[name]
            whole(name, wanted, minimum, maximum)


def setting_of_host(name: str, files: HostFiles) -> Setting:
    """Return a setting in `HOST_WIDE`; raises `UsageError` for any other."""
    if name not in HOST_WIDE:
        raise unknown("setting of the host", name, HOST_WIDE)
    return Governor(files)


def setting_of_file(name: str, path: str, files: HostFiles) -> Setting:
    """Return a host setting; refuse settings of a file's disk, because others share the disk."""
    if name in HOST_WIDE:
        return setting_of_host(name, files)
    why = "a file's disk is shared, so ssdlab does not change it"
    raise no_such(name, path, why, "set it yourself, or test the block device")


def _write_cache(of: DriveSettings) -> Setting:
    control = of.cache_control()
    if control is None:
        raise no_such(write_cache.NAME, of.disk.name, "it does not support the command", "leave it out")
    return WriteCache(control, of.disk)


def _power_state(of: DriveSettings) -> Setting:
    if not of.is_nvme:
        raise no_such(nvme_power.NAME, of.disk.name, "only NVMe drives have power states", "leave it out")
    return NvmePowerState(of.port, of.disk.name)


def _rest_state(of: DriveSettings) -> Setting:
    if not of.is_nvme:
        raise no_such(nvme_power.REST_STATE, of.disk.name, "only NVMe drives have it", "leave it out")
    return NvmeRestState(NvmePowerState(of.port, of.disk.name))


def _apst(of: DriveSettings) -> Setting:
    if not of.is_nvme:
        raise no_such(nvme_power.APST, of.disk.name, "only NVMe drives have it", "leave it out")
    return Apst(of.port, of.disk, of.files)


def _link_power(of: DriveSettings) -> Setting:
    return LinkPower(of.disk)


def _lba_format(of: DriveSettings) -> Setting:
    if not of.is_nvme or of.identity.kind != "block":
        why = "only whole NVMe namespaces have LBA formats"
        raise no_such(lba_format.NAME, of.disk.name, why, "leave it out")
    nsid = number(of.disk / "nsid") or 1
    return LbaFormat(of.port, of.disk, nsid, of.identity.siblings, of.before_format, of.after_format)


_NUMBERS: dict[str, tuple[str, int, int | None]] = {
    "nomerges": ("nomerges", 0, 2),
    "rq_affinity": ("rq_affinity", 0, 2),
    "writeback_throttle_us": ("wbt_lat_usec", -1, None),
    "nr_requests": ("nr_requests", 1, None),
}
"""Settings that are numbers: the kernel's file, the minimum and the maximum."""


def _number(name: str) -> Callable[[DriveSettings], Setting]:
    file, minimum, maximum = _NUMBERS[name]
    return lambda of: QueueNumber(of.disk, name, file, minimum, maximum)


_MAKERS: dict[str, Callable[[DriveSettings], Setting]] = {
    "write_cache": _write_cache,
    "power_state": _power_state,
    "rest_state": _rest_state,
    "apst": _apst,
    "link_power": _link_power,
    "lba_format": _lba_format,
    "scheduler": lambda of: Scheduler(of.disk),
    **{name: _number(name) for name in _NUMBERS},
    "max_io_bytes": lambda of: LargestIo(of.disk),
    "governor": lambda of: setting_of_host("governor", of.files),
}
