"""One run's I/Os a second over its measured time, thinned to what a chart can show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.results.run_folder import RunFolder

if TYPE_CHECKING:
    from pathlib import Path

POINTS_MAX = 800
_NS = 1e9


def rate_over_time(path: Path) -> list[tuple[float, float]]:
    """Return seconds of measured time and I/Os a second, at most `POINTS_MAX` points of equal time.

    Steps follow one another without the pauses between them; streams and directions are added up.

    Raises
    ------
    Refused
        The run is damaged, or has no interval rows.
    """
    import numpy as np

    from ssdlab.results.tables import SERIES, SERIES_COLUMNS

    wanted = {name: SERIES_COLUMNS[name] for name in ("ordinal", "row", "start_ns", "end_ns", "ios")}
    found = RunFolder(path).read_table(SERIES, wanted, "NOT ramp", "ordinal, attempt, row, stream")
    if not len(found["ios"]):
        return []
    begins = np.flatnonzero(np.diff(found["ordinal"].astype(np.int64) << 32 | found["row"], prepend=-1))
    ios = np.add.reduceat(found["ios"].astype(float), begins)
    seconds = (found["end_ns"] - found["start_ns"])[begins] / _NS
    end = np.cumsum(seconds)
    bucket = np.minimum((end / end[-1] * POINTS_MAX).astype(int), POINTS_MAX - 1)
    firsts = np.flatnonzero(np.diff(bucket, prepend=-1))
    rates = np.add.reduceat(ios, firsts) / np.add.reduceat(seconds, firsts)
    ends = end[np.append(firsts[1:] - 1, len(end) - 1)]
    return list(zip(ends.tolist(), rates.tolist(), strict=True))
