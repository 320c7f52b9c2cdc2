"""What the kernel saw: bpftrace programs beside a test, and the block tracepoints counted per device."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from machine import sharing

SECTOR_BYTES = 512
TRACEFS = Path("/sys/kernel/tracing")
READY_S = 30


def mount_tracefs() -> None:
    """Mount the kernel's tracing files where they belong, if they are not."""
    sharing.alone("traces the kernel")
    if not (TRACEFS / "events").exists():
        subprocess.run(["mount", "-t", "tracefs", "tracefs", str(TRACEFS)], check=True)


class Trace:
    """A bpftrace program that runs as long as the ``with`` block; afterwards `maps` has its maps by name.

    `keys_max` bounds the keys of each map.
    """

    def __init__(self, program: str, *, keys_max: int = 4096) -> None:
        # Maps are laid out in full beforehand: a million keys take a loaded machine half a minute.
        self._keys_max = keys_max
        self._program = 'BEGIN { printf("ready\\n"); } ' + program
        self.maps: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            ["bpftrace", "-f", "json", "-e", self._program],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "BPFTRACE_MAP_KEYS_MAX": str(self._keys_max),
                "BPFTRACE_BTF": "/sys/kernel/btf/vmlinux",
            },
        )
        deadline = time.monotonic() + READY_S
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if "ready" in line:
                return self
            assert time.monotonic() < deadline, "bpftrace does not get ready"
        _, errors = self._process.communicate()
        raise RuntimeError(f"bpftrace ended: {errors}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        output = self._stop()
        for line in filter(None, output.splitlines()):
            message = json.loads(line)
            if message.get("type") == "map":
                self.maps.update(message["data"])
                full = [name for name, keys in message["data"].items() if _length(keys) >= self._keys_max]
                if full:
                    raise RuntimeError(f"{full} may have lost keys: give more than {self._keys_max} keys_max")
            elif message.get("type") == "lost_events":
                raise RuntimeError(f"bpftrace lost events: {message}")

    def _stop(self) -> str:
        """Interrupt it until it ends: a signal that comes just before it falls asleep does not wake it."""
        for _ in range(READY_S):
            self._process.send_signal(signal.SIGINT)
            try:
                return self._process.communicate(timeout=1)[0]
            except subprocess.TimeoutExpired:
                continue
        self._process.kill()
        raise RuntimeError("bpftrace does not end")


def _length(keys: object) -> int:
    return len(keys) if isinstance(keys, dict) else 0


@dataclass(frozen=True)
class Request:
    """One kind of request that reached a device, and how often."""

    flags: str
    """As in ``rwbs``: R read, W write, D discard, F flush, S sync, and so on."""
    length_bytes: int
    count: int


class BlockTrace:
    """Counts the requests that one device was given (``block_bio_queue``), by flags and length.

    Parameters
    ----------
    device
        Block device; a partition counts as its disk.
    """

    def __init__(self, device: Path) -> None:
        number = device.stat().st_rdev
        dev = (os.major(number) << 20) + os.minor(number)
        self._trace = Trace(
            f"tracepoint:block:block_bio_queue /args->dev == {dev}/ {{"
            " @count[args->rwbs, args->nr_sector] = count();"
            " @first[args->rwbs] = min(args->sector);"
            " @end[args->rwbs] = max(args->sector + args->nr_sector); }"
        )

    def __enter__(self) -> Self:
        self._trace.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._trace.__exit__(kind, error, trace)

    @property
    def requests(self) -> list[Request]:
        """What arrived, by flags and length."""
        counts = self._trace.maps.get("@count", {})
        split = ((key.split(","), count) for key, count in counts.items())
        return [Request(flags, int(sectors) * SECTOR_BYTES, count) for (flags, sectors), count in split]

    def count(self, letter: str) -> int:
        """How many requests have `letter` (R, W, D) among their flags."""
        return sum(request.count for request in self.requests if letter in request.flags)

    def bytes(self, letter: str) -> int:
        """How many bytes the requests with `letter` among their flags cover."""
        return sum(r.count * r.length_bytes for r in self.requests if letter in r.flags)

    def extent_bytes(self, letter: str) -> tuple[int, int] | None:
        """First byte, and first byte behind, of the requests with `letter` among their flags."""
        firsts = [first for flags, first in self._trace.maps.get("@first", {}).items() if letter in flags]
        ends = [end for flags, end in self._trace.maps.get("@end", {}).items() if letter in flags]
        return (min(firsts) * SECTOR_BYTES, max(ends) * SECTOR_BYTES) if firsts else None
