"""The append log of one step, as the rest of the lab reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdlab.model.direction import DIRECTIONS
from ssdlab.model.errors import LabError
from ssdlab.results.schema import Spread

if TYPE_CHECKING:
    from pathlib import Path


def log_name(ordinal: int, attempt: int) -> str:
    """Return the file name of an attempt's log."""
    return f"{ordinal:04d}-{attempt}.log"


@dataclass(frozen=True)
class LogProgress:
    """How far a step came, by its durable rows."""

    bytes: int
    ios: int
    ns: int
    written: int = 0
    """Of the bytes."""
    failed: int = 0
    """I/Os that failed."""


def read_progress(path: Path) -> LogProgress | None:
    """Read how far a log came; None if there is none, or it holds no row."""
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
    """Return the bytes that were written by all rows, those of the ramp too."""
    return sum(int(measured.rows(stream, "write")["bytes"].sum()) for stream in measured.streams)


def log_written(path: Path) -> int:
    """Return the same of a log; 0 of one that was killed before its first row."""
    import ssdlab._core as _core

    try:
        return rows_written(_core.read_log(path).measurement)
    except LabError:
        return 0


def spread_of(measured: Any) -> Spread | None:  # noqa: ANN401 - a Measurement, or a test's
    """Return how IOPS varied over the full interval rows of a step, without its ramp; None without any."""
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
