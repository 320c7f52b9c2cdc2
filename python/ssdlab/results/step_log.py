"""The append log of one step, as the rest of the lab reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdlab.errors import LabError
from ssdlab.results.schema import Spread

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.workload import Workload

DIRECTIONS = ("read", "write", "trim")
FULL_ROW_SHARE = 0.99
"""An interval row counts for the spread when it is at least so long; the last one is usually cut short."""


def log_name(ordinal: int, attempt: int) -> str:
    """Return the file name of an attempt's log."""
    return f"{ordinal:04d}-{attempt}.log"


@dataclass(frozen=True)
class LogProgress:
    """How far a step came, by its durable rows."""

    bytes: int
    ios: int
    ns: int


def read_progress(path: Path) -> LogProgress | None:
    """Read how far a log came; None if there is none, or it holds no row."""
    from ssdlab import _core

    if not path.exists():
        return None
    try:
        log = _core.read_log(path)
    except LabError:
        return None
    tables = [log.rows(stream, direction) for stream in log.streams for direction in DIRECTIONS]
    ends = [int(rows["end_ns"][-1]) for rows in tables if len(rows["end_ns"])]
    if not ends:
        return None
    return LogProgress(
        bytes=sum(int(rows["bytes"].sum()) for rows in tables),
        ios=sum(int(rows["ios"].sum()) for rows in tables),
        ns=max(ends),
    )


def spread_of(measured: Any, workload: Workload) -> Spread | None:  # noqa: ANN401 - a Measurement, or a test's
    """Work out how IOPS varied over the full interval rows of a step; None when it has none."""
    rows = measured.rows()
    if not len(rows["ios"]):
        return None
    length_s = (rows["end_ns"].astype(np.float64) - rows["start_ns"].astype(np.float64)) / 1e9
    full = length_s >= FULL_ROW_SHARE * workload.interval_ns / 1e9
    if not full.any():
        return None
    iops = rows["ios"][full].astype(np.float64) / length_s[full]
    return Spread(
        n=int(full.sum()),
        min=float(iops.min()),
        max=float(iops.max()),
        mean=float(iops.mean()),
        sd=float(iops.std(ddof=1)) if full.sum() > 1 else 0.0,
    )
