"""The measurements of `plan --probe`: a few loads, for up to half a minute, to replace guesses in a plan.

Only reads are measured, unless the drive's data may be lost (`--destroy`). For a simulated drive, a temporary
copy of the smallest scale is measured.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ssdlab.analysis.pace import Filling, Known, Load, Pace
from ssdlab.drives import open_drive
from ssdlab.lab.parts.workloads import closed_loop
from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import Interrupted, LabError
from ssdlab.model.pattern import SPAN_UNIT_BYTES
from ssdlab.model.summary import NO_WORKERS
from ssdlab.model.units import NS_PER_S
from ssdlab.model.workload import FILL_BLOCK_BYTES, fill_workloads
from ssdlab.runs.pace import FILLS_FROM, SETTLED_CAPACITIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.drives.base import Drive
    from ssdlab.model.summary import Summary
    from ssdlab.model.workload import Workload

PROBE_MAX_S = 30.0
"""Maximum time of all loads together."""
_READ_S = _WRITE_S = 1.2
_FILLING_S = 7.5
"""Maximum time to fill a drive; a fill shows effects that a short measurement of writes does not."""
_SETTLING_S = 8.0
"""Time for random writes: as much as a probe can afford."""
_SIMULATED_S = 0.1
"""Virtual time of each load on a simulated drive: enough for thousands of I/Os."""
_SCALES = (512, 256, 128, 64, 32, 16, 8, 4, 2)
_SHARE = (0.55, 1.7)
"""Range of real speeds as shares of the measured speed: other block sizes, depths and days, and noise."""
_WAITED_UP_TO = 0.9
"""Maximum share of time spent waiting for a CPU for which the measured speed is corrected."""
_FILLED = 0.99
"""Share of the capacity from which a drive counts as full."""
_LAST_SHARE = 0.2
"""Share of the rows of random writes to average at their start (fresh) and at their end (settled)."""
_DISCARDED = 1 / 16
"""Share of the capacity to discard, to measure the rate ..."""
_DISCARD_SHARE = 0.2
"""... and share of that rate to assume for the whole capacity."""
_KIB = 1024
_READS = ((True, 4, 1), (True, 4, 32), (True, 4, 256), (False, 128, 1), (False, 128, 32), (False, 1024, 4))
_WRITES = ((False, 128, 1), (False, 128, 32), (False, 1024, 4), (True, 4, 1))
"""Loads: whether random, KiB, and I/Os in flight."""
_WRITES_AFTER = (
    *((True, 4, 256), (True, 4, 4), (True, 64, 32), (True, 64, 256)),
    *((False, 128, 1), (False, 128, 32), (False, 1024, 4)),
)
"""Loads after long random writing, in the same form: what a cache still gains."""


@dataclass
class _Probe:
    """One probe: the drive, and the time at which to stop (`time.monotonic`)."""

    drive: Drive
    ends: float
    simulated: bool

    def known(
        self,
        *,
        writes: bool,
        random: bool,
        kib: int,
        in_flight: int,
        seconds: float,
        simulated_s: float = _SIMULATED_S,
    ) -> list[Known]:
        """Measure a load; return nothing if the time is over."""
        if time.monotonic() >= self.ends:
            return []
        seconds = simulated_s if self.simulated else seconds
        load = Load(writes, random, kib * _KIB, in_flight)
        measured = self.drive.run(_workload(load, seconds), until=lambda rows: time.monotonic() >= self.ends)
        summary = measured.summary()
        rate = float(summary["mb_s"]) * 1e6
        low, high = _SHARE[0], _SHARE[1] * unhindered(summary)
        return [Known(load, rate, low, high, source="probe")] if rate > 0 else []

    def filling(self, capacity_bytes: int) -> Filling | None:
        """Fill the drive; `capacity_bytes` is the capacity of the drive to plan for.

        A simulated drive is purged first. A real drive that takes too long gives no result.
        """
        ends = self.ends if self.simulated else min(self.ends, time.monotonic() + _FILLING_S)
        if time.monotonic() >= self.ends:
            return None
        if self.simulated:
            self.drive.purge()
        own_bytes = self.drive.identity.capacity_bytes
        fill, *_ = fill_workloads(own_bytes, 1)
        measured = self.drive.run(fill, until=lambda rows: time.monotonic() >= ends)
        summary = measured.summary()
        rate = float(summary["mb_s"]) * 1e6
        low, high = _SHARE[0], _SHARE[1] * unhindered(summary)
        if rate <= 0 or rate * float(summary["elapsed_s"]) < _FILLED * own_bytes:
            return None
        return Filling(FILLS_FROM * capacity_bytes, low * rate, high * rate, FILL_BLOCK_BYTES)

    def discards(self) -> float | None:
        """Discard a part of the drive; return the minimum rate for the whole drive, in bytes a second."""
        unit = SPAN_UNIT_BYTES
        length = round(_DISCARDED * self.drive.identity.capacity_bytes) // unit * unit
        if not length or time.monotonic() >= self.ends:
            return None
        try:
            record = self.drive.trim(0, length)
        except LabError:
            return None
        return _DISCARD_SHARE * length / max(record.seconds, 1e-6) if record.reached_device else None

    def settling(self, capacity_bytes: int) -> list[Known]:
        """Write at random until the drive is steady or the time is over; return the first and last speeds."""
        seconds = 1e4 if self.simulated else _SETTLING_S
        enough = round(SETTLED_CAPACITIES * capacity_bytes)
        load = Load(writes=True, random=True, block_bytes=4 * _KIB, in_flight=32)
        rates: list[float] = []
        total = 0

        def over(rows: Any) -> bool:  # noqa: ANN401 - of _core.Row
            nonlocal total
            row = rows[-1]
            moved = sum(cell.bytes for cell in row.cells)
            rates.append(moved * 1e9 / (row.end_ns - row.start_ns))
            total += moved
            return total >= enough or time.monotonic() >= self.ends

        measured = self.drive.run(_workload(load, seconds), until=over)
        if not rates:
            return []
        several = max(1, round(_LAST_SHARE * len(rates)))
        first, last = rates[:several], rates[-several:]
        settled = total >= enough
        lowest, highest = _SHARE[0] if settled else 0.1, _SHARE[1] * unhindered(measured.summary())
        fresh = Known(load, sum(first) / several, lowest, highest, source="probe")
        mean = sum(last) / len(last)
        after = [
            each
            for random, kib, in_flight in _WRITES_AFTER
            for each in self.known(
                writes=True, random=random, kib=kib, in_flight=in_flight, seconds=_WRITE_S, simulated_s=0.5
            )
        ]
        return [
            fresh,
            Known(load, mean, lowest, highest, settled=settled, source="probe"),
            *(replace(each, min_share=min(each.min_share, lowest), settled=settled) for each in after),
        ]


def unhindered(summary: Summary) -> float:
    """Return the possible speed-up of a one-thread load if it never waited for a CPU."""
    waited_s = ((summary.workers or NO_WORKERS).run_queue_wait_ns or 0) / NS_PER_S
    elapsed_s = float(summary.elapsed_s)
    return 1 / (1 - min(waited_s / elapsed_s, _WAITED_UP_TO)) if elapsed_s else 1.0


def probe(
    text: str,
    pace: Pace,
    *,
    size_bytes: int | None = None,
    destroy: str | None = None,
    wipe_signatures: bool = False,
) -> Pace:
    """Measure a drive for up to half a minute, and return what is then known about its speed.

    Parameters
    ----------
    text
        The drive as the user named it.
    pace
        What is known about its speed so far.
    size_bytes, destroy, wipe_signatures
        See `ssdlab.drives.open_drive`. With consent, writes are measured too.

    Raises
    ------
    Refused, DriveError, HostError
        The drive cannot be opened.
    Interrupted
        A signal stopped the probe; it keeps nothing.
    """
    try:
        return _probed(text, pace, size_bytes, destroy, wipe_signatures)
    except Interrupted as error:
        raise Interrupted(
            "the probe was stopped by a signal", "plan again; its measurements are not kept"
        ) from error


def _probed(
    text: str, pace: Pace, size_bytes: int | None, destroy: str | None, wipe_signatures: bool
) -> Pace:
    ends = time.monotonic() + PROBE_MAX_S
    simulated = text.startswith(SIMULATED_PREFIX)
    writing = simulated or destroy is not None
    found: list[Known] = []
    consent: dict[str, Any] = {"size": size_bytes, "destroy": destroy, "wipe_signatures": wipe_signatures}
    opened = _small_copy(text) if simulated else open_drive(text, writing=writing, **consent)
    with opened as drive:
        at_work = _Probe(drive, ends, simulated)
        for random, kib, in_flight in _READS:
            found += at_work.known(writes=False, random=random, kib=kib, in_flight=in_flight, seconds=_READ_S)
        if simulated:
            pace = replace(pace, filling=at_work.filling(_capacity_of(text)) or pace.filling)
        for random, kib, in_flight in _WRITES if writing else ():
            found += at_work.known(writes=True, random=random, kib=kib, in_flight=in_flight, seconds=_WRITE_S)
        if not simulated and _fills(found, drive.identity.capacity_bytes):
            pace = replace(pace, filling=at_work.filling(drive.identity.capacity_bytes) or pace.filling)
        if writing and drive.identity.capabilities.block_device:
            pace = replace(pace, discard_bytes_s=at_work.discards() or pace.discard_bytes_s)
        if writing and time.monotonic() < ends:
            found += at_work.settling(drive.identity.capacity_bytes)
    what = "a probe" if writing else "a probe of reads"
    # A fresh measurement of a kind of load replaces ratings and earlier runs of the same kind.
    kinds = {(known.load.writes, known.load.random) for known in found}
    kept = tuple(known for known in pace.known if (known.load.writes, known.load.random) not in kinds)
    return replace(pace, known=kept).with_known(*found, source=what)


def _fills(found: Sequence[Known], capacity_bytes: int) -> bool:
    """Whether the drive would be full in time, judged by sequential writes at queue depth 1."""
    in_order = Load(writes=True, random=False, block_bytes=FILL_BLOCK_BYTES, in_flight=1)
    return any(each.load == in_order and capacity_bytes <= each.bytes_s * _FILLING_S for each in found)


def _capacity_of(text: str) -> int:
    from ssdlab.drives import look

    identity = look(text).identity
    assert identity is not None  # a simulated drive has one
    return identity.capacity_bytes


def _small_copy(text: str) -> Drive:
    """Create a temporary copy of a simulated drive, as small as its profile allows."""
    from ssdlab.drives.simulated.text import SimulatedText

    asked = replace(SimulatedText.parse(text), state=None)
    for scale in _SCALES:
        if scale <= asked.scale:
            break
        try:
            small = str(replace(asked, scale=scale))
            return open_drive(small, writing=True, destroy=small)
        except LabError:
            continue  # the profile cannot be made that small
    return open_drive(str(asked), writing=True, destroy=str(asked))


def _workload(load: Load, seconds: float) -> Workload:
    made = closed_loop(
        "random" if load.random else "sequential",
        "write" if load.writes else "read",
        block_bytes=round(load.block_bytes),
        in_flight=round(load.in_flight),
        seconds=seconds,
        engine="sync" if load.in_flight == 1 else "uring",
    )
    return made.model_copy(update={"interval_ns": max(1_000_000, min(round(seconds * 1e8), 50_000_000))})
