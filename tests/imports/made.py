"""Results of fio, made from latencies as each version would write them: what is read is known before.

The histogram is a slow and obvious one: edges are listed one by one.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

BLOCK = 4096
VERSIONS = (
    *("2.0.15", "2.1.14", "2.2.10", "2.12", "2.20", "2.21", "2.99", "3.1", "3.5"),
    *("3.16", "3.19", "3.28", "3.33", "3.36", "3.42"),
)
PERCENTILES = (1.0, 50.0, 90.0, 99.0, 99.9)


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _listed() -> list[int]:
    edges = list(range(128))
    width = 2
    while edges[-1] < 1 << 36:
        start = edges[-1] + width // 2
        edges += [start + width * at for at in range(64)]
        width *= 2
    return edges


EDGES = _listed()
"""The lower edge of each bucket: 128 of width 1, then 64 of twice the width of those before."""


def bucket(value: int) -> int:
    return bisect_right(EDGES, value) - 1


def middle(at: int) -> int:
    low, high = EDGES[at], EDGES[at + 1]
    return low + (high - low) // 2


def percentile(samples: Sequence[int], percent: float) -> int:
    """What fio tells of samples: the middle of the bucket that reaches the share."""
    counts = Counter(map(bucket, samples))
    reached = 0
    for at in sorted(counts):
        reached += counts[at]
        if reached >= percent / 100 * len(samples):
            return middle(at)
    raise AssertionError("a share above all")


def clock(samples: Sequence[int], version: str, *, percentiles: bool, bins: bool) -> dict[str, Any]:
    """One clock of one direction; samples are in the unit of the version."""
    found: dict[str, Any] = {"min": min(samples), "max": max(samples), "mean": sum(samples) / len(samples)}
    found["stddev"] = 0.0
    if number(version) >= (3, 18):
        found["N"] = len(samples)
    if percentiles:
        told = {f"{each:f}": percentile(samples, each) for each in PERCENTILES}
        found["percentile"] = told | ({"0.00": 0} if number(version) < (3,) else {})
    if bins:
        counts = Counter(map(bucket, samples))
        if number(version) < (2, 20):
            found["bins"] = {str(at): counts[at] for at in range(1216)} | {"FIO_IO_U_PLAT_BITS": 6}
            found["bins"] |= {"FIO_IO_U_PLAT_VAL": 64, "FIO_IO_U_PLAT_NR": 1216}
        else:
            found["bins"] = {str(middle(at)): count for at, count in sorted(counts.items())}
    return found


def side(
    samples_ns: Sequence[int], version: str, *, ms: int = 2000, bins: bool = False, lat: bool = False
) -> dict[str, Any]:
    """One direction; lat is 5 us more than clat, or has the percentiles with `lat`."""
    told, nanoseconds = number(version), number(version) >= (2, 99)
    unit, ending = (1, "_ns") if nanoseconds else (1000, "")
    clat = [each // unit for each in samples_ns]
    whole = [each + 5000 // unit for each in clat]
    ios, moved = len(clat), len(clat) * BLOCK
    found: dict[str, Any] = {"bw": moved * 1000 // ms // 1024, "runtime": ms}
    found["iops"] = ios * 1000 // ms if told < (2, 1, 14) else ios * 1000 / ms
    found |= {"io_bytes": moved, "io_kbytes": moved >> 10} if told >= (2, 21) else {"io_bytes": moved >> 10}
    if told >= (2, 1, 14):
        found |= {"total_ios": ios, "short_ios": 0, "drop_ios": 0}
    found[f"slat{ending}"] = clock([5000 // unit] * ios, version, percentiles=False, bins=False)
    found[f"clat{ending}"] = clock(clat, version, percentiles=not lat, bins=bins and not lat)
    found[f"lat{ending}"] = clock(whole, version, percentiles=lat, bins=bins and lat)
    return found


def nothing(version: str) -> dict[str, Any]:
    empty = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0} | (
        {"N": 0} if number(version) >= (3, 18) else {}
    )
    ending = "_ns" if number(version) >= (2, 99) else ""
    told = {"io_bytes": 0, "bw": 0, "iops": 0, "runtime": 0, "total_ios": 0}
    return told | {f"{name}{ending}": empty for name in ("slat", "clat", "lat")}


OPTIONS = {"rw": "randread", "bs": "4k", "iodepth": "4", "ioengine": "libaio", "filename": "/dev/made"}


def job(
    version: str,
    read: Sequence[int] = (),
    write: Sequence[int] = (),
    *,
    name: str = "made",
    options: dict[str, str] | None = None,
    **asked: Any,
) -> dict[str, Any]:
    """One entry of the list of jobs; `asked` are those of `side`, or keys of the entry."""
    of_side = {key: asked.pop(key) for key in ("ms", "bins", "lat") if key in asked}
    found: dict[str, Any] = {"jobname": name, "groupid": 0, "error": 0}
    if number(version) >= (2, 3):
        found["job options"] = OPTIONS if options is None else options
    for direction, samples in (("read", read), ("write", write), ("trim", ())):
        found[direction] = side(samples, version, **of_side) if samples else nothing(version)
    return found | asked


def document(version: str, *jobs: dict[str, Any], at: int = 1_750_000_000) -> dict[str, Any]:
    return {"fio version": f"fio-{version}", "timestamp": at, "time": "then", "jobs": list(jobs)}


def put(path: Path, *documents: dict[str, Any], before: str = "", after: str = "") -> Path:
    path.write_text(before + "\n".join(json.dumps(each, indent=2) for each in documents) + after)
    return path


def samples(count: int, first_ns: int = 50_000, step_ns: int = 1000) -> list[int]:
    """Latencies of whole us, no two alike."""
    return [first_ns + step_ns * at for at in range(count)]


assert all(low < high for low, high in pairwise(EDGES))
