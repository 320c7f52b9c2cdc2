"""Block-layer latencies of a replay: from the issue of each request to its completion.

Times taken in ssdlab include host delays: a thread that waits for a CPU sees a completion late. Here the
kernel stamps both ends. A thread reads the events ten times a second during the replay, at a cost of about
10 us of CPU time per I/O. Incomplete data is not used. Latencies are counted in buckets of 1/64 octave, so a
percentile is off by 0.8 % at most. Mean, extremes and busy time are exact.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.analysis.percentiles import SAMPLES_BEYOND, rank
from ssdlab.formats.traces.capture import LOOK_S, SETTLED_NS, traced_device
from ssdlab.host.sysfs import is_folder
from ssdlab.host.tracefs import Tracing
from ssdlab.model.errors import LabError
from ssdlab.model.summary import PERCENTILES, BlockTimes
from ssdlab.model.units import bytes_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdlab.drives.base import Drive
    from ssdlab.host.tracefs import Raw


ISSUED, DONE = "block_rq_issue", "block_rq_complete"
"""Tracepoints of a device with its own queues, which any drive has ..."""
QUEUED, ENDED = "block_bio_queue", "block_bio_complete"
"""... and of a device without queues: RAM disk, array, multipath device."""
UNMATCHED_MAX = 0.001
"""Tolerated share of requests with only one end seen: those in flight when tracing starts or stops."""
BYTES_DIFFER_MAX = 0.001
_DISCARDED = "D"
_READ, _WRITTEN = "R", "W"


@contextmanager
def watching(drive: Drive) -> Iterator[BlockWatch]:
    """Trace the requests of a block device while the block runs."""
    watch = BlockWatch(drive.identity.path)
    try:
        yield watch
    finally:
        watch.stop()


class BlockWatch:
    """Traces the requests of one block device until it is stopped.

    Parameters
    ----------
    path
        The device. ssdlab has claimed it, so all its requests are ssdlab's.
    """

    def __init__(self, path: str) -> None:
        self._requests = Requests()
        self._waiting: list[Raw] = []
        self._over = threading.Event()
        self._begun = threading.Event()
        self._fault: str | None = None
        self._lost = 0
        self._thread = threading.Thread(target=self._watch, args=(path,), name="ssdlab-block-layer")
        self._thread.start()
        self._begun.wait()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def ended(self, moved_bytes: int) -> BlockTimes:
        """Stop tracing; return the block-layer times of a replay that moved `moved_bytes`."""
        self.stop()
        found = self._requests
        unmatched = found.unmatched + found.never_done
        if self._fault is None:
            self._fault = self._doubt(moved_bytes, unmatched)
        if self._fault is not None:
            return BlockTimes(fault=self._fault, requests=found.count, lost=self._lost, unmatched=unmatched)
        return BlockTimes(
            requests=found.count,
            bytes=found.bytes,
            unmatched=unmatched,
            busy_ns=found.busy_ns,
            service_mean_ns=found.mean_ns,
            service_ns=found.by_direction(),
        )

    def _doubt(self, moved_bytes: int, unmatched: int) -> str | None:
        """Return why the trace is incomplete; None if it is complete."""
        found = self._requests
        if self._lost:
            return f"the kernel's buffers lost {self._lost} block-layer events"
        if not found.count:
            return "the block layer reported no request"
        if unmatched > UNMATCHED_MAX * found.count:
            return f"only one end of {unmatched} of {found.count} requests was seen"
        if abs(found.bytes - moved_bytes) > BYTES_DIFFER_MAX * moved_bytes:
            return (
                f"the block layer reported {bytes_text(found.bytes)}, but "
                f"{bytes_text(moved_bytes)} were moved"
            )
        return None

    def _watch(self, path: str) -> None:
        try:
            device = traced_device(path)
            node = Path("/sys/dev/block") / device.label.replace(",", ":")
            disk = node.resolve().parent if is_folder(node) and device.start_sector else node
            numbers = {*device.numbers, _number(disk)}
            queues = is_folder(disk / "mq")
            self._names = (ISSUED, DONE) if queues else (QUEUED, ENDED)
            with Tracing(tuple(sorted(numbers)), events=self._names, what="block-layer") as tracing:
                self._begun.set()
                while not self._over.wait(LOOK_S):
                    self._take(tracing, time.monotonic_ns() - SETTLED_NS)
                time.sleep(SETTLED_NS / 1e9)
                tracing.stop()
                self._take(tracing, None)
                self._lost = tracing.lost()
        except LabError as error:
            self._fault = error.what
        except (OSError, ValueError) as error:
            self._fault = f"the kernel's block tracepoints cannot be used: {error}"
        finally:
            self._begun.set()

    def _take(self, tracing: Tracing, until_ns: int | None) -> None:
        """Count the events up to a time, sorted by time; only the events of each CPU come sorted."""
        self._waiting.extend(tracing.raw())
        self._waiting.sort(key=lambda each: each.time_ns)
        ready = len(self._waiting)
        if until_ns is not None:
            ready = next((at for at, each in enumerate(self._waiting) if each.time_ns > until_ns), ready)
        for each in self._waiting[:ready]:
            self._count(each)
        del self._waiting[:ready]

    def _count(self, raw: Raw) -> None:
        sectors = raw.fields.number(raw.event, "nr_sector")
        flags = raw.fields.text(raw.event, "rwbs")
        direction = _direction(flags)
        if direction is None or not sectors:
            return  # a flush
        place = raw.fields.number(raw.event, "sector")
        if raw.name == self._names[0]:
            self._requests.begin(raw.time_ns, place, direction, sectors * 512)
        else:
            self._requests.end(raw.time_ns, place)


def _direction(flags: str) -> str | None:
    if _DISCARDED in flags:
        return "trim"
    if _READ in flags[:1]:
        return "read"
    return "write" if _WRITTEN in flags else None


def _number(node: Path) -> int:
    major, _, minor = (node / "dev").read_text(encoding="ascii").strip().partition(":")
    return int(major) << 20 | int(minor)


_SUB_BITS = 6


@dataclass
class _Times:
    """Latencies of the requests of one direction."""

    buckets: Counter[int] = field(default_factory=Counter)
    count: int = 0
    total_ns: int = 0
    min_ns: int = 0
    max_ns: int = 0

    def add(self, took_ns: int) -> None:
        shift = max(0, took_ns.bit_length() - _SUB_BITS - 1)
        self.buckets[(took_ns >> shift) << shift | (1 << shift) >> 1] += 1
        self.min_ns = took_ns if not self.count else min(self.min_ns, took_ns)
        self.max_ns = max(self.max_ns, took_ns)
        self.count += 1
        self.total_ns += took_ns

    def as_dict(self) -> dict[str, float | None]:
        found: dict[str, float | None] = {
            "min": float(self.min_ns),
            "mean": self.total_ns / self.count,
            "max": float(self.max_ns),
        }
        ordered = sorted(self.buckets.items())
        for name in PERCENTILES:
            at = rank(Fraction(name[1:]), self.count)
            enough = self.count - at >= SAMPLES_BEYOND
            found[name] = float(min(self.max_ns, _at(ordered, at))) if enough else None
        return found


def _at(ordered: list[tuple[int, int]], wanted: int) -> int:
    below = 0
    for value_ns, count in ordered:
        below += count
        if below >= wanted:
            return value_ns
    return ordered[-1][0]


class Requests:
    """Pairs the issue and completion of a device's requests; events must come in time order.

    A request is identified by its first sector. If two requests begin at the same sector, the first issued is
    assumed to complete first.
    """

    def __init__(self) -> None:
        self._open: dict[int, deque[tuple[int, str]]] = {}
        self._in_flight = 0
        self._busy_since_ns = 0
        self._times: dict[str, _Times] = {}
        self.busy_ns = 0
        self.bytes = 0
        self.unmatched = 0

    def begin(self, time_ns: int, place: int, direction: str, length: int) -> None:
        self._open.setdefault(place, deque()).append((time_ns, direction))
        if not self._in_flight:
            self._busy_since_ns = time_ns
        self._in_flight += 1
        self.bytes += 0 if direction == "trim" else length

    def end(self, time_ns: int, place: int) -> None:
        """Record a completion; without a recorded issue it counts as unmatched."""
        waiting = self._open.get(place)
        if not waiting:
            self.unmatched += 1
            return
        began_ns, direction = waiting.popleft()
        if not waiting:
            del self._open[place]
        self._in_flight -= 1
        if not self._in_flight:
            self.busy_ns += time_ns - self._busy_since_ns
        self._times.setdefault(direction, _Times()).add(time_ns - began_ns)

    @property
    def count(self) -> int:
        """Number of completed requests."""
        return sum(times.count for times in self._times.values())

    @property
    def never_done(self) -> int:
        return self._in_flight

    @property
    def mean_ns(self) -> float | None:
        """Mean latency over all directions."""
        return sum(each.total_ns for each in self._times.values()) / self.count if self.count else None

    def by_direction(self) -> dict[str, dict[str, float | None]]:
        """Return the minimum, mean, maximum and percentiles of latency of each direction, in ns."""
        return {name: times.as_dict() for name, times in self._times.items()}
