"""The files of a step until its run is compacted: append log, telemetry samples, power samples.

`energy_of` computes the energy and the highest mean power of a run from the power samples.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ssdlab.model.errors import HostError, LabError, Refused
from ssdlab.model.summary import DIRECTIONS
from ssdlab.model.telemetry import FIGURES, Sample
from ssdlab.results.lines import RESTORE
from ssdlab.results.metered import LIMIT_S, drawn
from ssdlab.results.schema import Spread
from ssdlab.results.seal import Chain

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pydantic import JsonValue

    from ssdlab.analysis.energy import Array
    from ssdlab.host.held_folder import HeldFolder
    from ssdlab.results import tables
    from ssdlab.results.run_folder import Step


def log_name(ordinal: int, attempt: int) -> str:
    return f"{ordinal:04d}-{attempt}.log"


@dataclass(frozen=True)
class LogProgress:
    """The progress of a step, by the durable rows of its log."""

    bytes: int
    ios: int
    ns: int
    written: int = 0
    """Part of `bytes` that was written."""
    failed: int = 0


def read_progress(path: Path) -> LogProgress | None:
    """Read the progress of a step from its log; None: no log, or no row in it."""
    import ssdlab._core as _core

    if not path.exists():
        return None
    try:
        log = _core.read_log(path).measurement
    except LabError:
        return None
    cells = [log.rows(stream, direction) for stream in log.streams for direction in DIRECTIONS]
    ends = [int(rows["start_ns"][-1] + rows["duration_ns"][-1]) for rows in cells if len(rows["start_ns"])]
    if not ends:
        return None
    return LogProgress(
        bytes=sum(int(rows["bytes"].sum()) for rows in cells),
        ios=sum(int(rows["ios"].sum()) for rows in cells),
        ns=max(ends),
        written=rows_written(log),
        failed=sum(int(rows["failed"].sum()) for rows in cells),
    )


def rows_written(measured: Any) -> int:  # noqa: ANN401 - a Measurement, or a test's
    """Return the bytes written by all rows, including the ramp."""
    return sum(int(measured.rows(stream, "write")["bytes"].sum()) for stream in measured.streams)


def log_written(path: Path) -> int:
    """Return the bytes written by all rows of a log, including the ramp; 0: it cannot be read."""
    import ssdlab._core as _core

    try:
        return rows_written(_core.read_log(path).measurement)
    except LabError:
        return 0


def spread_of(measured: Any) -> Spread | None:  # noqa: ANN401 - a Measurement, or a test's
    """Return the variation of IOPS over a step's full interval rows, without ramp; None: no rows."""
    cells = [measured.rows(stream, direction) for stream in measured.streams for direction in DIRECTIONS]
    if not cells or not len(cells[0]["ios"]):
        return None
    full = ~(cells[0]["partial"] | cells[0]["ramp"])
    if not full.any():
        return None
    ios = np.asarray(np.sum([cell["ios"] for cell in cells], axis=0), dtype=np.float64)
    iops = ios[full] / (cells[0]["duration_ns"][full].astype(np.float64) / 1e9)
    return Spread(
        n=int(full.sum()),
        min=float(iops.min()),
        max=float(iops.max()),
        mean=float(iops.mean()),
        sd=float(iops.std(ddof=1)) if full.sum() > 1 else 0.0,
    )


# The telemetry samples of one attempt, until the run is compacted: `steps/NNNN-A.samples`.
#
# Each sample is a line with a checksum and the figures as JSON. While the step runs, a line is appended each
# second, so that a kill loses only one. A reader stops at the first incomplete line. When the attempt has
# ended its step, the last line of its file is a checksum over all lines before it.

_ENDING = ".samples"
_END = b"end"


def samples_name(ordinal: int, attempt: int) -> str:
    return f"{ordinal:04d}-{attempt}{_ENDING}"


def sample_files(steps: HeldFolder) -> list[tuple[int, int, str]]:
    """Return ordinal, attempt and name of each file of telemetry samples, in order."""
    found = []
    for name in steps.names():
        ordinal, _, attempt = name.removesuffix(_ENDING).partition("-")
        if name.endswith(_ENDING) and ordinal.isdigit() and attempt.isdigit():
            found.append((int(ordinal), int(attempt), name))
    return sorted(found)


def write_samples(steps: HeldFolder, name: str, samples: Iterable[Sample]) -> None:
    """Write the samples of a finished attempt durably, in place of those appended so far."""
    lines = b"".join(map(_line, samples))
    steps.replace(name, lines + b"%08x %s\n" % (zlib.crc32(lines), _END))


@contextmanager
def kept_as_taken(steps: HeldFolder, name: str) -> Iterator[Callable[[Sample], None]]:
    """Yield a function that appends a sample to a file; its first call creates the file.

    A late thread may still call it after the block. It then writes nothing, as the descriptor may belong to
    another file.
    """
    descriptor, over, lock = -1, False, Lock()

    def keep(sample: Sample) -> None:
        nonlocal descriptor
        with lock:
            if over:
                return
            if descriptor < 0:
                descriptor = steps.append_to(name)
            os.write(descriptor, _line(sample))

    try:
        yield keep
    finally:
        with lock:
            over = True
            if descriptor >= 0:
                os.close(descriptor)


def read_samples(steps: HeldFolder, name: str, *, ended: bool = False) -> list[Sample]:
    """Return the samples of a file up to the first incomplete line; none without a file.

    Raises
    ------
    Refused
        The attempt `ended` its step, but the file is incomplete. Files from before the final checksum are
        accepted.
    """
    try:
        content = steps.read_bytes(name)
    except FileNotFoundError:
        return []
    found = []
    lines, _, torn = content.rpartition(b"\n")
    at, whole = 0, not torn
    for line in lines.split(b"\n") if lines else ():
        checksum, _, text = line.partition(b" ")
        is_end = text == _END
        if not whole or checksum != b"%08x" % zlib.crc32(content[:at] if is_end else text):
            whole = False
            break
        at += len(line) + 1
        if is_end:
            whole = at == len(content)
        else:
            at_ns, *figures = json.loads(text)
            found.append(Sample(at_ns, **dict(zip(FIGURES, figures, strict=False))))
    if ended and not whole:
        path = str(steps.path / name)
        raise Refused(f"{path} is damaged: it does not match its seal", RESTORE, path=path)
    return found


def _line(sample: Sample) -> bytes:
    values: list[Any] = [sample.at_ns, *(getattr(sample, name) for name in FIGURES)]
    text = json.dumps(values, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


POWER_SUFFIX = ".power"
# The power samples of a step, in a file beside its log until the run is compacted.
#
# First comes a sealed line of JSON: rails, number of samples, SHA-256 of the remaining bytes. Then come the
# columns: start and end in ns, and W for each rail. Times count from the start of the step's measurement, or
# of the step if it measures nothing.

_HEAD = ("rails", "samples", "sha256")


class StepPower(NamedTuple):
    """Power samples of a step; start and end have shape (n,), `watts` has shape (n, rails)."""

    rails: tuple[str, ...]
    start_ns: Array
    end_ns: Array
    watts: Array


def power_name(ordinal: int, attempt: int) -> str:
    return f"{ordinal:04d}-{attempt}{POWER_SUFFIX}"


def write_power(steps: HeldFolder, name: str, power: StepPower) -> None:
    """Write the power samples of a step durably.

    Raises
    ------
    OSError
        The file system is full or fails.
    """
    columns = (power.start_ns.astype("<i8"), power.end_ns.astype("<i8"), power.watts.astype("<f8"))
    body = b"".join(np.ascontiguousarray(each).tobytes() for each in columns)
    stated = (list(power.rails), len(power.start_ns), hashlib.sha256(body).hexdigest())
    head = dict(zip(_HEAD, stated, strict=True))
    steps.replace(name, Chain().write(json.dumps(head)) + body)


def read_power(steps: HeldFolder, name: str) -> StepPower:
    """Read the power samples of a step.

    Raises
    ------
    HostError
        The file is damaged.
    """
    head, _, body = steps.read_bytes(name).partition(b"\n")
    try:
        stated = json.loads(Chain().read(head))
        rails, count = tuple(stated["rails"]), int(stated["samples"])
        # With more fields than these, the line has a damaged seal, which was read as a field.
        whole = len(stated) == len(_HEAD) and stated["sha256"] == hashlib.sha256(body).hexdigest()
    except (ValueError, KeyError, TypeError):
        whole = False
    if not whole:
        path = steps.path / name
        raise HostError(
            f"{path} is damaged: it does not match its seal",
            "check that disk; restore the file from a copy, or run the method again",
            path=str(path),
        )
    times = np.frombuffer(body, dtype="<i8", count=2 * count).reshape(2, count)
    watts = np.frombuffer(body, dtype="<f8", offset=16 * count).reshape(count, len(rails))
    return StepPower(rails, times[0], times[1], watts)


def power_columns(steps: HeldFolder) -> list[tables.Columns]:
    """Return the lines of the power table, in one part for each rail of each attempt."""
    parts = []
    for name in steps.names():
        if not name.endswith(POWER_SUFFIX):
            continue
        ordinal, _, attempt = name.removesuffix(POWER_SUFFIX).partition("-")
        power = read_power(steps, name)
        count = len(power.start_ns)
        for at, rail in enumerate(power.rails):
            parts.append(
                {
                    "ordinal": np.full(count, int(ordinal), dtype=np.int32),
                    "attempt": np.full(count, int(attempt), dtype=np.int32),
                    "rail": np.full(count, rail, dtype=np.object_),
                    "start_ns": power.start_ns,
                    "end_ns": power.end_ns,
                    "mean_w": power.watts[:, at],
                }
            )
    return parts


_NEARLY = 0.99
"""A step that lasts this share of `LIMIT_S` counts as that long: samples may lie across its ends."""


def energy_of(folder: HeldFolder, steps: Iterable[Step]) -> dict[str, JsonValue]:
    """Return energy, metered time and highest mean power of the steps that count.

    The highest mean is over `LIMIT_S`. If no step is as long, it is that of a whole step. Empty: no meter.
    """
    there = {name for name in folder.names() if name.endswith(POWER_SUFFIX)}
    energy_j, metered_s = 0.0, 0.0
    highest = (0.0, 0.0)
    for step in steps:
        for attempt in step.result.segments or (step.attempt,):
            if (name := power_name(step.ordinal, attempt)) not in there:
                continue
            power = read_power(folder, name)
            lengths_s = (power.end_ns - power.start_ns) / 1e9
            energy_j += float((power.watts.sum(axis=1) * lengths_s).sum())
            metered_s += float(lengths_s.sum())
            over = (_over_s(float(lengths_s.sum())), highest_mean_w(power))
            highest = max(highest, over, key=_as_long_as_a_limit)
    if not metered_s:
        return {}
    over_s, highest_w = highest
    return drawn(energy_j, metered_s, highest_w, over_s)


def _over_s(step_s: float) -> float:
    return LIMIT_S if step_s >= LIMIT_S * _NEARLY else round(step_s, 3)


def _as_long_as_a_limit(highest: tuple[float, float]) -> tuple[bool, float]:
    """Return a sorting key for averaging time and mean: means over less than `LIMIT_S` come first."""
    over_s, mean_w = highest
    return over_s >= LIMIT_S, mean_w


def highest_mean_w(power: StepPower, over_s: float = LIMIT_S) -> float:
    """Return the highest mean power over a time, or over the whole step if that is higher.

    The time covers whole samples. A step with peaks at both ends can have a higher mean than any ten seconds
    of it.
    """
    watts = power.watts.sum(axis=1)
    lengths_s = (power.end_ns - power.start_ns) / 1e9
    ends = np.cumsum(lengths_s)
    if not len(ends):
        return 0.0
    energy = np.concatenate([[0.0], np.cumsum(watts * lengths_s)])
    starts = ends - lengths_s
    last = np.searchsorted(ends, starts + over_s * (1 - 1e-9))
    first = np.flatnonzero(last < len(ends))
    last = last[first]
    means = (energy[last + 1] - energy[first]) / (ends[last] - starts[first])
    return float(max(energy[-1] / ends[-1], means.max(initial=0.0)))
