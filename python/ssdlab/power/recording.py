"""A recording of power that something else has made: CSV with units in its header.

The first column whose unit is a time is the clock; power is a column in W, or one in V and one in A that have
the same name::

    time [s],12V [V],12V [A],3V3 [W]

A unit stands in brackets of either kind, or behind the last underscore (`power_mW`). Values are separated by
commas, semicolons or tabs. Nothing is guessed: a column without a unit is left out if it is no rail, and a
file without a clock or a rail is refused.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np

from ssdlab.analysis.energy import PowerTrace
from ssdlab.host.documents import open_regular, user_path
from ssdlab.model.errors import Refused, UsageError, excerpt, of_os
from ssdlab.model.limits import LINE_CHARACTERS, POWER_ROWS
from ssdlab.power.meter import MeterInfo, chosen_rails

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ssdlab.analysis.energy import Array
    from ssdlab.model.meter_text import MeterText

_NAMED = re.compile(r"^(?P<name>.*?)\s*(?:[\[(](?P<inside>[^\])]+)[\])]|_(?P<behind>[A-Za-zµ]+))$")
_TIMES = {"s": 1e9, "ms": 1e6, "us": 1e3, "µs": 1e3, "ns": 1.0}
_AMOUNTS = {
    unit: (sort, scale)
    for sort in "WVA"
    for unit, scale in ((sort, 1.0), (f"m{sort}", 1e-3), (f"u{sort}", 1e-6), (f"µ{sort}", 1e-6))
}
_ROWS_AT_ONCE = 1 << 16
_LATEST_NS = float(1 << 62)


class _Column(NamedTuple):
    at: int
    name: str
    sort: str
    scale: float


@dataclass(frozen=True)
class Recording:
    """What a file holds: samples on the clock of whoever recorded it, beginning at its first sample."""

    info: MeterInfo
    trace: PowerTrace
    began: float
    """Time of the first sample, in s of that clock."""
    longest_gap_ns: int
    """Longest time that no sample stands for; 0 without any."""


def read_recording(text: MeterText) -> Recording:
    """Read the file of ``csv:FILE``.

    Raises
    ------
    UsageError
        It cannot be read, has no units or no clock, or a line of it is no sample or out of order.
    Refused
        Its rails add up to nothing.
    """
    path = user_path(text.place)
    try:
        with open_regular(path, "recording") as file:
            columns, times_ns, rows, began = _samples(file, path)
    except OSError as error:
        raise of_os(error, f"cannot read the recording {path}", "name a file that can be read") from error
    rails = _rails(columns)
    chosen = chosen_rails(text, tuple(rails))
    names = tuple(list(rails)[at] for at in chosen)
    watts = np.stack([_watts(rows, rails[name]) for name in names], axis=1)
    if not watts.any():
        raise Refused(
            f"the rails of {path}, {', '.join(names)}, add up to nothing in all its {len(watts)} lines",
            "see that the meter was in the drive's supply when it recorded",
            path=str(path),
        )
    trace = PowerTrace.of_points(times_ns, watts)
    gaps = trace.start_ns[1:] - trace.end_ns[:-1]
    period_ns = float(np.median(np.diff(times_ns)))
    info = MeterInfo(text.use, path.name, names, 1e9 / period_ns).as_described(text)
    return Recording(info, trace, began, int(gaps.max(initial=0)))


def _samples(file: IO[bytes], path: Path) -> tuple[list[_Column], Array, Array, float]:
    """Return columns, times in ns since the first sample, all values, and the first time in s."""
    head = file.readline(LINE_CHARACTERS).decode("utf-8-sig", "replace").strip()
    separator = next((each for each in ("\t", ";", ",") if each in head), ",")
    columns = _columns(head.split(separator), path)
    clock = next((each for each in columns if each.sort == "time"), None)
    if clock is None:
        raise _no_units(path, head, "no column with a unit of time")
    used = [clock, *(each for each in columns if each.sort in "WVA")]
    parts: list[Array] = []
    line, count = 2, 0
    while lines := list(itertools.islice(file, _ROWS_AT_ONCE)):
        parts.append(_values(lines, [each.at for each in used], separator, path, line))
        line, count = line + len(lines), count + len(lines)
        if count > POWER_ROWS:
            raise UsageError(
                f"the recording {path} has over {POWER_ROWS:,} lines", "record fewer samples a second, 1 kHz"
            )
    values = np.concatenate(parts) if parts else np.empty((0, len(used)))
    if len(values) < 2:
        raise UsageError(f"the recording {path} has {len(values)} samples", "name one with two or more")
    # Of absolute times, in s since 1970, a float keeps 0.2 us: enough for 100 kS/s.
    times = (values[:, 0] - values[0, 0]) * clock.scale
    back = np.flatnonzero(np.diff(times) <= 0)
    if len(back) or times[-1] > _LATEST_NS:
        at = int(back[0]) + 3 if len(back) else len(values) + 1
        raise UsageError(
            f"the recording {path} is out of order: line {at} is no later than the one above",
            "sort it by time, and leave out what is there twice",
            path=str(path),
            line=at,
        )
    renumbered = [each._replace(at=at) for at, each in enumerate(used)]
    return renumbered, np.rint(times).astype(np.int64), values, float(values[0, 0] * clock.scale / 1e9)


def _columns(heads: Sequence[str], path: Path) -> list[_Column]:
    found = []
    for at, head in enumerate(heads):
        named = _NAMED.match(head.strip().strip('"'))
        unit = "" if named is None else (named["inside"] or named["behind"]).strip()
        name = "" if named is None else named["name"].strip()
        if unit in _TIMES:
            found.append(_Column(at, name, "time", _TIMES[unit]))
        elif unit in _AMOUNTS:
            found.append(_Column(at, name, *_AMOUNTS[unit]))
    if not any(each.sort in "WVA" for each in found):
        raise _no_units(path, ",".join(heads), "no column in W, or in V and A")
    return found


def _no_units(path: Path, head: str, why: str) -> UsageError:
    return UsageError(
        f"the header of the recording {path} has {why}: {excerpt(head)}",
        "write the units in it: time [s],12V [V],12V [A]",
        path=str(path),
    )


def _values(lines: list[bytes], used: list[int], separator: str, path: Path, first_line: int) -> Array:
    try:
        values = np.loadtxt(lines, delimiter=separator, usecols=used, ndmin=2, comments=None)
        if len(values) == len(lines) and np.isfinite(values).all():
            return values
    except ValueError:
        pass
    for number, line in enumerate(lines, start=first_line):
        cells = line.decode("utf-8", "replace").strip().split(separator)
        try:
            fits = all(np.isfinite(float(cells[at])) for at in used)
        except (ValueError, IndexError):
            fits = False
        if not fits:
            raise UsageError(
                f"line {number} of the recording {path} is no sample: {excerpt(','.join(cells))}",
                "correct it, or leave the line out",
                path=str(path),
                line=number,
            )
    raise UsageError(f"the recording {path} cannot be read", "write one sample a line, separated by commas")


def _rails(columns: Sequence[_Column]) -> dict[str, tuple[_Column, ...]]:
    """Return the columns of each rail: one in W, or one in V and one in A."""
    by_name: dict[str, dict[str, _Column]] = {}
    for each in columns:
        if each.sort in "WVA":
            by_name.setdefault(each.name, {})[each.sort] = each
    found: dict[str, tuple[_Column, ...]] = {}
    for name, sorts in by_name.items():
        if "W" in sorts:
            found[name or "power"] = (sorts["W"],)
        elif len(sorts) == 2:
            found[name] = (sorts["V"], sorts["A"])
    return found


def _watts(values: Array, columns: tuple[_Column, ...]) -> Array:
    product = np.ones(len(values))
    for each in columns:
        product = product * values[:, each.at] * each.scale
    return product
