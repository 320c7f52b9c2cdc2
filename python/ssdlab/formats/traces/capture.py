"""Records the I/O that a block device is asked for, as text in the format of blkparse."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.formats.traces import blkparse
from ssdlab.host.durable import library_errors
from ssdlab.host.output_files import OutputFile
from ssdlab.host.sysfs import HostFiles, device_number, names, number, text, there
from ssdlab.host.tracefs import Queued, Tracing
from ssdlab.model.errors import Refused, UsageError
from ssdlab.model.units import NS_PER_S

if TYPE_CHECKING:
    from typing import TextIO

LOOK_S = 0.1
SETTLED_NS = 50_000_000
"""Longest time from an event to its appearance in the kernel's buffer."""


@dataclass(frozen=True, slots=True)
class Traced:
    """A block device to be recorded.

    Attributes
    ----------
    numbers
        Numbers of the device and of its partitions, because requests can name any of them: major << 20 |
        minor.
    label
        ``major,minor``, as traces name it.
    start_sector
        First sector of a partition on its disk; 0 for a disk.
    """

    numbers: tuple[int, ...]
    label: str
    start_sector: int


@dataclass(slots=True)
class Captured:
    file: str
    device: str
    seconds: float = 0.0
    ios: int = 0
    lost: int = 0
    """Events that were lost because the kernel's buffers were full."""


def traced_device(path: str, files: HostFiles | None = None) -> Traced:
    """Find a block device and its partitions.

    Raises
    ------
    UsageError
        There is no such device.
    """
    files = files or HostFiles()
    own = files.number_of(path)
    node = files.node(own) if own is not None else None
    if own is None or node is None:
        raise UsageError(f"{path} is not a block device", "name one that ssdlab drives lists", path=path)
    start = number(node / "start") if there(node / "partition") else None
    parts = (
        [] if start is not None else [node / name for name in names(node) if there(node / name / "partition")]
    )
    every = [own, *(found for part in parts if (found := text(part / "dev")) is not None)]
    return Traced(tuple(_kernel_number(each) for each in every), own.replace(":", ","), start or 0)


def _kernel_number(device: str) -> int:
    major, _, minor = device.partition(":")
    return int(major) << 20 | int(minor)


def capture(
    device: str,
    output: Path,
    *,
    seconds: float | None = None,
    stopped: Callable[[], bool] = lambda: False,
    on_look: Callable[[Captured], None] = lambda captured: None,
) -> Captured:
    """Record a device until the time is over or `stopped` returns True.

    Parameters
    ----------
    device
        A block device. For a disk, requests to its partitions are recorded too.
    output
        A new file.
    seconds
        Duration; None: until `stopped` returns True.
    on_look
        Called ten times a second with the progress.

    Raises
    ------
    UsageError, Refused
        There is no such device; the file exists already, or is on the device.
    HostError
        The kernel's tracepoints are not available, or the file cannot be written.
    """
    traced = traced_device(device)
    _check_output(output, traced)
    captured = Captured(str(output), device)
    with (
        library_errors(output),
        Tracing(traced.numbers) as tracing,
        _new(output, captured) as out,
    ):
        started_ns = time.monotonic_ns()
        writer = _Writer(out, traced, started_ns)
        waiting: list[Queued] = []
        over = False
        while not over:
            time.sleep(LOOK_S)
            now_ns = time.monotonic_ns()
            over = stopped() or (seconds is not None and now_ns >= started_ns + seconds * NS_PER_S)
            if over:
                tracing.stop()
            # Events are in order only per CPU; they can be merged once all up to a time have arrived.
            waiting.extend(tracing.read())
            settled_ns = now_ns if over else now_ns - SETTLED_NS
            waiting = writer.write(waiting, None if over else settled_ns)
            captured.ios, captured.seconds = writer.count, (now_ns - started_ns) / NS_PER_S
            on_look(captured)
        captured.lost = tracing.lost()
        if captured.lost:
            out.write(blkparse.lost_line(traced.label, now_ns - started_ns, captured.lost) + "\n")
    return captured


@contextmanager
def _new(output: Path, captured: Captured) -> Iterator[TextIO]:
    """Open a new file; remove it if the recording fails before the first I/O."""
    with _place(output) as file, file.new() as binary, io.TextIOWrapper(binary, encoding="utf-8") as out:
        try:
            yield out
        except BaseException:
            if not captured.ios:
                file.remove()
            raise


def _place(output: Path) -> OutputFile:
    """Reserve the file name; an empty file, which a killed recording may leave, is replaced."""
    return OutputFile(output, ours=lambda head: not head, noun="recording")


def _check_output(output: Path, traced: Traced) -> None:
    """Refuse a file that exists, and one whose own writes would be recorded."""
    with _place(output) as file:
        device = os.fstat(file.folder.fileno()).st_dev
    if _kernel_number(device_number(device)) in traced.numbers:
        raise Refused(
            f"{output} lies on the device to be recorded, so its own writes would be recorded",
            "put the file on another drive, or into memory (/dev/shm)",
            path=str(output),
        )


class _Writer:
    """Writes queued I/Os in order of time."""

    def __init__(self, out: TextIO, traced: Traced, zero_ns: int) -> None:
        self._out, self._traced, self._zero_ns = out, traced, zero_ns
        self.count = 0

    def write(self, queued: Iterable[Queued], until_ns: int | None) -> list[Queued]:
        """Write the I/Os up to `until_ns`, or all if it is None, and return the others."""
        kept: list[Queued] = []
        ready: list[Queued] = []
        for each in queued:
            (ready if until_ns is None or each.time_ns <= until_ns else kept).append(each)
        ready.sort(key=lambda each: each.time_ns)
        for each in ready:
            self.count += 1
            self._out.write(self._line(each) + "\n")
        return kept

    def _line(self, each: Queued) -> str:
        return blkparse.line_of(
            self._traced.label,
            each.cpu,
            self.count,
            max(0, each.time_ns - self._zero_ns),
            each.pid,
            each.flags,
            max(0, each.sector - self._traced.start_sector),  # a flush has no sector
            each.sectors,
            each.command,
        )
