"""Every single request that a device was given, from a buffer of the kernel's own tracer (ftrace).

Unlike a BPF map, which may be busy and lets an update go, the ring buffer takes each event or counts it as
lost.
Source: Documentation/trace/ftrace.rst and events.rst in the kernel.
"""

from __future__ import annotations

import os
import re
import uuid
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Self

from machine.tracing import SECTOR_BYTES, TRACEFS, mount_tracefs

BUFFER_KIB = 32 * 1024
"""Per CPU, for half a million events of about 64 bytes: a RAM disk does over 100,000 requests in a test."""

_EVENT = re.compile(r"block_bio_queue: \d+,\d+ (\w+) (\d+) \+ (\d+) \[(.*)\]")


class EventLog:
    """The requests that reach a block device as long as the ``with`` block; afterwards `requests` has them.

    Parameters
    ----------
    device
        Block device; a partition counts as its disk.
    of
        How the names of the threads begin that count; empty: everybody's. Others may look at a device.
    """

    def __init__(self, device: Path, *, of: tuple[str, ...] = ()) -> None:
        self._of = of
        number = device.stat().st_rdev
        self._filter = f"dev == {(os.major(number) << 20) + os.minor(number)}"
        self.requests: Counter[tuple[str, int, int]] = Counter()
        """Flags (``rwbs``), offset in bytes and length in bytes, and how often."""

    def __enter__(self) -> Self:
        mount_tracefs()
        self._instance = TRACEFS / "instances" / f"ssdlab-test-{uuid.uuid4().hex[:12]}"
        self._instance.mkdir()
        event = self._instance / "events/block/block_bio_queue"
        (self._instance / "buffer_size_kb").write_text(str(BUFFER_KIB))
        (event / "filter").write_text(self._filter)
        (event / "enable").write_text("1")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            (self._instance / "events/block/block_bio_queue/enable").write_text("0")
            for flags, sector, sectors, thread in _EVENT.findall((self._instance / "trace").read_text()):
                if self._of and not thread.startswith(self._of):
                    continue
                self.requests[flags, int(sector) * SECTOR_BYTES, int(sectors) * SECTOR_BYTES] += 1
            lost = self._lost()
        finally:
            self._instance.rmdir()
        if lost:
            raise RuntimeError(f"the kernel's trace buffer lost {lost} events")

    def _lost(self) -> int:
        stats = [path.read_text() for path in self._instance.glob("per_cpu/cpu*/stats")]
        found = re.findall(
            r"^(?:overrun|commit overrun|dropped events): (\d+)", "\n".join(stats), re.MULTILINE
        )
        return sum(map(int, found))
