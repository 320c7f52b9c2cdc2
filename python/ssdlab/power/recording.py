"""Reads a power recording that another program made: CSV with units in its header.

The first column with a unit of time is the clock. Power is a column in W, or two columns with the same name,
one in V and one in A (`rails`)::

    time [s],12V [V],12V [A],3V3 [W]

A unit is in round or square brackets, or after the last underscore or blank (`power_mW`, `12V current uA`).
Values are separated by commas, semicolons or tabs. A column without a unit is left out. A file without a
clock or a rail is refused.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

import numpy as np

from ssdlab.analysis.energy import PowerTrace
from ssdlab.host.documents import open_regular, text_lines, user_path
from ssdlab.model.errors import Refused, UsageError, excerpt, of_os
from ssdlab.model.limits import POWER_ROWS
from ssdlab.power.meter import MeterInfo
from ssdlab.power.rails import AMOUNTS, Column, rails_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ssdlab.analysis.energy import Array
    from ssdlab.model.meter_text import MeterText

_NAMED = re.compile(r"^(?P<name>.*?)\s*(?:[\[(](?P<inside>[^\])]+)[\])]|[_\s](?P<behind>[A-Za-zµμ]+))$")
_SUPPLY = re.compile(r"\+?\d{1,2}([.,]\d+)?V\d*", re.IGNORECASE)
_TIMES = {"s": 1e9, "ms": 1e6, "us": 1e3, "µs": 1e3, "μs": 1e3, "ns": 1.0}
_ROWS_AT_ONCE = 1 << 16
_LATEST_NS = float(1 << 62)


@dataclass(frozen=True)
class Recording:
    """The content of a recording, with times since its first sample, by the recorder's clock."""

    info: MeterInfo
    trace: PowerTrace
    began: float
    """Time of the first sample by the recorder's clock, in s."""
    longest_gap_ns: int
    """Longest gap between two samples; 0: none."""


def read_recording(text: MeterText) -> Recording:
    """Read the file of ``csv:FILE``.

    Raises
    ------
    UsageError
        The file cannot be read, has no units or clock, or a line is invalid or out of order.
    Refused
        The mean power is not positive, or the rails are refused (`rails_of`).
    """
    path = user_path(text.place)
    try:
        with open_regular(path, "recording") as file:
            columns, times_ns, rows, began = _samples(file, path)
    except OSError as error:
        raise of_os(error, f"cannot read the recording {path}", "name a readable file") from error
    found = rails_of(text, columns)
    found.check_total(text.use, rows)
    names = tuple(each.name for each in found.rails)
    watts = np.stack([each.watts(rows) for each in found.rails], axis=1)
    trace = PowerTrace.of_points(times_ns, watts)
    drawn = trace.drawn(int(trace.start_ns[0]), int(trace.end_ns[-1]))
    mean_w = 0.0 if drawn is None else drawn.mean_w
    if mean_w <= 0:
        raise Refused(
            f"the rails of {path}, {', '.join(names)}, do not add up to a positive power: "
            f"{mean_w:.3g} W, the mean "
            f"of its {len(watts)} lines",
            "check that the meter was in the drive's supply, with the right polarity",
            path=str(path),
            mean_w=mean_w,
        )
    gaps = trace.start_ns[1:] - trace.end_ns[:-1]
    period_ns = float(np.median(np.diff(times_ns)))
    info = MeterInfo(text.use, path.name, names, 1e9 / period_ns).as_described(text)
    return Recording(info, trace, began, int(gaps.max(initial=0)))


def _samples(file: IO[bytes], path: Path) -> tuple[list[Column], Array, Array, float]:
    """Return the columns in V, A or W, times in ns since the first sample, all values, and its time in s."""
    lines = text_lines(file, path, "recording")
    head = next(lines, "").strip()
    separator = next((each for each in ("\t", ";", ",") if each in head), ",")
    clock, columns = _columns(head.split(separator), path)
    used = [clock.at, *(each.at for each in columns)]
    parts: list[Array] = []
    line, count = 2, 0
    while some := list(itertools.islice(lines, _ROWS_AT_ONCE)):
        parts.append(_values(some, used, separator, path, line))
        line, count = line + len(some), count + len(some)
        if count > POWER_ROWS:
            raise UsageError(
                f"the recording {path} has over {POWER_ROWS:,} lines", "record fewer samples a second, 1 kHz"
            )
    values = np.concatenate(parts) if parts else np.empty((0, len(used)))
    if len(values) < 2:
        raise UsageError(f"the recording {path} has {len(values)} samples", "give one with two or more")
    # A float keeps an absolute time, in s since 1970, to 0.2 us: enough for 100 kS/s.
    times = np.rint((values[:, 0] - values[0, 0]) * clock.scale)
    back = np.flatnonzero(np.diff(times) <= 0)
    if len(back) or times[-1] > _LATEST_NS:
        at = int(back[0]) + 3 if len(back) else len(values) + 1
        raise UsageError(
            f"the recording {path} is out of order: line {at} is not later than the one above",
            "sort it by time, and remove duplicates",
            path=str(path),
            line=at,
        )
    renumbered = [each._replace(at=at) for at, each in enumerate(columns, start=1)]
    return renumbered, times.astype(np.int64), values, float(values[0, 0] * clock.scale / 1e9)


def _columns(heads: Sequence[str], path: Path) -> tuple[Column, list[Column]]:
    clock, found = None, []
    for at, head in enumerate(each.strip().strip('"') for each in heads):
        named = _NAMED.match(head)
        unit = "" if named is None else (named["inside"] or named["behind"]).strip()
        name = "" if named is None else named["name"].strip()
        if unit in AMOUNTS:
            found.append(Column(at, name, *AMOUNTS[unit], head))
        elif (scale := _TIMES.get(unit.lower())) is not None:
            clock = clock or Column(at, name, "time", scale, head)
        elif _SUPPLY.fullmatch(head):
            raise _no_units(path, head, "a column without a unit")
    if not found:
        raise _no_units(path, ",".join(heads), "no column in W, or in V and A")
    if clock is None:
        raise _no_units(path, ",".join(heads), "no column with a unit of time")
    return clock, found


def _no_units(path: Path, head: str, why: str) -> UsageError:
    return UsageError(
        f"the header of the recording {path} has {why}: {excerpt(head)}",
        "put the units in it: time [s],12V [V],12V [A]",
        path=str(path),
    )


def _values(lines: list[str], used: list[int], separator: str, path: Path, first_line: int) -> Array:
    try:
        values = np.loadtxt(lines, delimiter=separator, usecols=used, ndmin=2, comments=None)
        if len(values) == len(lines) and np.isfinite(values).all():
            return values
    except ValueError:
        pass
    for number, line in enumerate(lines, start=first_line):
        cells = line.strip().split(separator)
        try:
            fits = all(np.isfinite(float(cells[at])) for at in used)
        except (ValueError, IndexError):
            fits = False
        if not fits:
            raise UsageError(
                f"line {number} of the recording {path} is not a sample: {excerpt(','.join(cells))}",
                "correct or remove the line",
                path=str(path),
                line=number,
            )
    raise UsageError(f"the recording {path} cannot be read", "write one sample per line, separated by commas")
