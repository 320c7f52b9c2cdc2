"""What act_storage or act_index would have printed of a run: its log, which act_latency.py reads.

Each report counts since the start, in buckets of powers of two: bucket 0 is below 1 ms, bucket b from
2^(b-1) ms to below 2^b ms. Those that are empty are left out, four stand on a line. Our own buckets are a
64th of an octave: one that a power of two cuts counts by its parts, so that a count can be off by the I/Os of
half such a bucket.

Source: Aerospike ACT 6.6, src/common/histogram.c (dump) and analysis/act_latency.py (what is read of it).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdlab.formats.act.rates import echo

if TYPE_CHECKING:
    import numpy.typing as npt

    from ssdlab.formats.act.config import ActConfig

NS_PER_MS = 1_000_000
BUCKETS = 65
ON_A_LINE = 4


def power_counts(
    row: npt.NDArray[Any], edges: tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]], rows: int
) -> npt.NDArray[np.int64]:
    """Return the cumulative counts of ACT's buckets after each row: an array of rows by buckets.

    Parameters
    ----------
    row
        Interval row of each of our buckets, from 0.
    edges
        Their low and high edges in ns, and their counts.
    rows
        Rows of the test.
    """
    low, high, count = edges
    at_least = np.zeros((rows, BUCKETS + 1))
    for bucket in range(BUCKETS):
        limit = 0 if bucket == 0 else NS_PER_MS * 2.0 ** (bucket - 1)
        above = np.clip((high - limit) / np.maximum(high - low, 1), 0.0, 1.0) * count
        np.add.at(at_least[:, bucket], row, above)
    whole = np.rint(np.cumsum(at_least, axis=0)).astype(np.int64)
    return whole[:, :-1] - whole[:, 1:]


def act_log(
    config: ActConfig,
    title: str,
    found: str,
    histograms: Mapping[str, npt.NDArray[np.int64]],
    remark: str,
) -> Iterator[str]:
    """Yield the log, line by line.

    Parameters
    ----------
    config
        With the drive's name and the length of a report in seconds.
    title
        The program's own: "ACT version 6.6".
    found
        The line on the drive's size.
    histograms
        By name, what `power_counts` returned; a report has all of them.
    remark
        First line, which no reader of logs looks at: who wrote this.
    """
    yield remark
    yield f"\n{title}\n"
    yield from echo(config).splitlines()
    yield f"\n{found}\n"
    yield "HISTOGRAM NAMES"
    yield from histograms
    yield ""
    for report in range(max((len(counts) for counts in histograms.values()), default=0)):
        yield f"after {(report + 1) * config.report_interval_sec} sec:"
        for name, counts in histograms.items():
            yield from _dump(name, counts[report])
        yield ""


def _dump(name: str, counts: Sequence[int] | npt.NDArray[np.int64]) -> Iterator[str]:
    yield f"{name} ({int(sum(counts))} total)"
    filled = [f"({bucket:02d}: {int(count):010d})" for bucket, count in enumerate(counts) if count]
    for first in range(0, len(filled), ON_A_LINE):
        yield " " + " ".join(filled[first : first + ON_A_LINE])
