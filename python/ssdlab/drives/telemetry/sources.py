"""Telemetry sources of the host, which are read once a second at no cost to the drive."""

from __future__ import annotations

import errno
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from ssdlab.host.attributes import controller_of
from ssdlab.host.cpus import CpuTimes, busy_share, read_cpu_times
from ssdlab.host.identity import link_bytes_s
from ssdlab.host.platform import pci_device_of
from ssdlab.host.sysfs import HostFiles, text, within
from ssdlab.model.telemetry import Mark, MarkCode
from ssdlab.model.units import counted

_MAX_LINES = 20
"""Lines of the kernel log that a step keeps: a lost drive fills the log with thousands."""
_RECORD_BYTES = 8192
_ERROR = re.compile(r"\b(errors?|fail(ed|ure|ures)?|exception)\b", re.I)
_RESET = re.compile(r"\b(reset|resetting|timeout|timed out|abort|aborting|frozen|link is down|down)\b", re.I)


class Source(ABC):
    @property
    @abstractmethod
    def words(self) -> str:
        """Name of the source for readers."""

    def begin(self) -> None:  # noqa: B027 - most have nothing to note
        """Note the values before a step; raises `OSError` if the source does not exist here."""

    @abstractmethod
    def figures(self) -> dict[str, float | int | None]:
        """Read the current values, by the names of `Sample`.

        Raises
        ------
        DriveError, Malformed, OSError
            The source does not answer.
        """

    def marks(self, now_ns: int) -> list[Mark]:
        """Return the events since the last call; `now_ns` and `at_ns` are monotonic time."""
        del now_ns
        return []

    def end(self) -> None:  # noqa: B027 - nor to release
        """Release what `begin` acquired."""


class HostCpu(Source):
    words = "host CPU"

    def __init__(self) -> None:
        self._before: CpuTimes | None = None

    def begin(self) -> None:
        self._before = read_cpu_times()

    def figures(self) -> dict[str, float | int | None]:
        """Return the busy share since the last call."""
        before, self._before = self._before, read_cpu_times()
        return {"cpu_busy_share": busy_share(before, self._before)}


class Link(Source):
    """Throughput that a disk's link can carry, from its PCIe speed and width or SATA speed in sysfs."""

    words = "link"

    def __init__(self, disk: Path, transport: str | None) -> None:
        self.disk, self.transport = disk, transport
        self._before: float | None = None
        self._changes: list[tuple[float | None, float | None]] = []

    def begin(self) -> None:
        self._before = self._read()

    def figures(self) -> dict[str, float | int | None]:
        """Return the current throughput, and note a change for `marks`."""
        now = self._read()
        if now != self._before:
            self._changes.append((self._before, now))
            self._before = now
        return {"link_mb_s": now}

    def marks(self, now_ns: int) -> list[Mark]:
        changes, self._changes = self._changes, []
        return [
            Mark(code="link-changed", at_ns=now_ns, what=f"the link went from {_rate(then)} to {_rate(now)}")
            for then, now in changes
        ]

    def _read(self) -> float | None:
        if self.transport == "pcie":
            carried = link_bytes_s(self.disk.resolve(), "pcie")
            return None if carried is None else carried / 1e6
        for folder in controller_of(self.disk).parents:
            for speed in within(folder, "link*"):
                found = re.match(r"([\d.]+) Gbps", text(speed / "ata_link" / speed.name / "sata_spd") or "")
                if found is not None:
                    return float(found[1]) * 100  # 8b/10b
        return None


class LinkErrors(Source):
    """Errors that the kernel counted on the PCIe link of a disk (Advanced Error Reporting).

    Source: Documentation/ABI/testing/sysfs-bus-pci-devices-aer. Each function has files ``aer_dev_*`` with a
    line for each kind of error, and the total in the last line.
    """

    words = "PCIe errors"
    _KINDS = ("correctable", "nonfatal", "fatal")

    def __init__(self, function: Path) -> None:
        self.function = function
        self._before: dict[str, int] = {}

    def begin(self) -> None:
        """Read the counts; raises `OSError` if the kernel keeps none for this function."""
        self._before = self._read()
        if not self._before:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))

    def figures(self) -> dict[str, float | int | None]:
        return {}

    def marks(self, now_ns: int) -> list[Mark]:
        """Return the increase of each count that has grown."""
        before, self._before = self._before, self._read()
        grown = {kind: count - before.get(kind, count) for kind, count in self._before.items()}
        return [
            Mark(code="link-errors", at_ns=now_ns, what=f"{counted(more, f'{kind} PCIe error')}")
            for kind, more in grown.items()
            if more > 0
        ]

    def _read(self) -> dict[str, int]:
        found = {kind: text(self.function / f"aer_dev_{kind}") for kind in self._KINDS}
        totals = {
            kind: re.search(r"^TOTAL_ERR_\w+ (\d+)$", lines or "", re.M) for kind, lines in found.items()
        }
        return {kind: int(total[1]) for kind, total in totals.items() if total is not None}


def _rate(mb_s: float | None) -> str:
    return "nothing" if mb_s is None else f"{mb_s:,.0f} MB/s"


class KernelLog(Source):
    """Lines of the kernel log about the drive, from the start of the step (`/dev/kmsg`).

    Source: Documentation/ABI/testing/dev-kmsg: ``priority,sequence,monotonic us,flags;text``.
    """

    words = "kernel log"

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        self.path, self.names = path, names
        self._descriptor = -1
        self._left = 0

    def begin(self) -> None:
        self.end()
        self._left = _MAX_LINES
        self._descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        os.lseek(self._descriptor, 0, os.SEEK_END)

    def figures(self) -> dict[str, float | int | None]:
        return {}

    def marks(self, now_ns: int) -> list[Mark]:
        found = []
        for stamp_ns, line in self._records():
            if self._left <= 0 or not self._about(line):
                continue
            self._left -= 1
            code: MarkCode = "kernel-log"
            if _RESET.search(line):
                code = "drive-reset"
            elif _ERROR.search(line):
                code = "drive-error"
            found.append(Mark(code=code, at_ns=min(stamp_ns, now_ns), what=f"kernel: {line}"))
        return found

    def end(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _about(self, line: str) -> bool:
        return any(re.search(rf"(?<![\w.:-]){re.escape(name)}(?![\w])", line) for name in self.names)

    def _records(self) -> list[tuple[int, str]]:
        found = []
        while self._descriptor >= 0:
            try:
                record = os.read(self._descriptor, _RECORD_BYTES)
            except OSError as error:
                if error.errno == errno.EPIPE:  # records were overwritten; the next one can be read
                    continue
                break
            if not record:
                break
            head, _, rest = record.decode("utf-8", "replace").partition(";")
            fields = head.split(",")
            if len(fields) >= 3 and fields[2].isdigit():
                found.append((int(fields[2]) * 1000, rest.partition("\n")[0].strip()))
        return found


def names_of(disk: Path) -> tuple[str, ...]:
    """Return the names of a disk in the kernel log: its own, its controller, bus address and ATA port."""
    controller = controller_of(disk)
    pci = pci_device_of(controller)
    ports = [one.name for one in controller.parents if re.fullmatch(r"ata\d+", one.name)]
    links = [f"{port}.00" for port in ports]
    place = [controller.name] if re.fullmatch(r"nvme\d+|\d+:\d+:\d+:\d+", controller.name) else []
    return tuple(dict.fromkeys([disk.name, *place, *([pci.name] if pci else []), *ports, *links]))


def host_sources(files: HostFiles, disk: Path, transport: str | None) -> list[Source]:
    found: list[Source] = [HostCpu()]
    if transport in ("pcie", "sata"):
        found.append(Link(disk, transport))
    if transport == "pcie" and (function := pci_device_of(controller_of(disk))) is not None:
        found.append(LinkErrors(function))
    found.append(KernelLog(files.dev / "kmsg", names_of(disk)))
    return found
