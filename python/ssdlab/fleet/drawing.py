"""The charts of the fleet's page, as inline SVG without scripts.

The report's renderer gives each run a colour. Here only a few named drives among thousands must stand out, so
colours come from the style sheet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median, quantiles
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from ssdlab.results.run_folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    Words = Callable[[float, int], str]
    """Return a value in words, rounded to a number of digits."""

POINTS_MAX = 800
_NS = 1e9


def rate_over_time(path: Path) -> list[tuple[float, float]]:
    """Return pairs of measured time in seconds and IOPS, at most `POINTS_MAX`, at equal intervals.

    Pauses between steps are left out. Streams and directions are added up.

    Raises
    ------
    Refused
        The run is damaged, or has no table of interval rows.
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


WIDTH, LEFT, RIGHT, ROW, TOP, FOOT = 1080, 190, 30, 54, 26, 30
DOTS_MAX = 400
"""Maximum dots; more are thinned evenly by rank, except named drives."""
TICKS = 6
_DIGITS = range(3, 9)
"""Numbers of digits to try, until all tick labels differ."""
_HEIGHT = 240
_JITTER = 0.618_033_988_749_895
"""From the golden ratio: spreads consecutive dots over the row's height without a pattern."""


@dataclass(frozen=True)
class Strip:
    """A row of drives: the values of unlabelled drives, and value and name of labelled ones."""

    name: str
    values: tuple[float, ...]
    named: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True)
class Line:
    """A line of points (x, y). `band` holds (x, low, high), and is drawn as an area."""

    name: str
    points: tuple[tuple[float, float], ...]
    band: tuple[tuple[float, float, float], ...] = ()
    alert: bool = False


@dataclass(frozen=True)
class _Scale:
    low: float
    high: float
    begin: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)


def strips(rows: Sequence[Strip], words: Words, limits: tuple[float, float], described: str) -> Markup:
    """Draw each row as a box plot with dots, over one axis with dashed limits; label the named drives."""
    inside = [each for each in limits if math.isfinite(each)]
    every = [*(value for row in rows for value in (*row.values, *(value for value, _ in row.named))), *inside]
    low, high = min(every), max(every)
    margin = 0.03 * (high - low) or 0.01 * abs(high) or 1.0
    x = _Scale(low - margin, high + margin, LEFT, WIDTH - RIGHT)
    height = TOP + ROW * len(rows) + FOOT
    parts = [*_across(x, words, height)]
    parts += [
        f'<line class="limit" x1="{x(each):.1f}" x2="{x(each):.1f}" y1="{TOP - 8}" y2="{height - FOOT}"/>'
        for each in inside
    ]
    for number, row in enumerate(rows):
        parts += _strip(row, x, TOP + ROW * number + ROW / 2)
    return _svg(parts, height, described)


def lines(
    found: Sequence[Line], words: Words, across: Words, described: str, *, counted: bool = False
) -> Markup:
    """Draw lines over two axes, each named at its end; with `counted`, the x axis has whole ticks."""
    xs = [point[0] for line in found for point in (*line.points, *line.band)]
    ys = [y for line in found for _, *values in (*line.points, *line.band) for y in values]
    margin = 0.08 * (max(ys) - min(ys)) or 0.02 * abs(max(ys)) or 1.0
    x = _Scale(min(xs), max(xs) if max(xs) > min(xs) else min(xs) + 1, LEFT, WIDTH - 150)
    y = _Scale(min(ys) - margin, max(ys) + margin, _HEIGHT - FOOT, TOP)
    parts = [*_across(x, across, _HEIGHT, counted=counted)]
    for value, label in labelled(ticks(y.low, y.high), words):
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - 150}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>'
        )
        parts.append(_text(LEFT - 8, y(value) + 4, label, "end"))
    for line in found:
        parts += _line(line, x, y)
    return _svg(parts, _HEIGHT, described)


def ticks(low: float, high: float, *, counted: bool = False) -> list[float]:
    """Return round values from `low` to `high`; whole numbers if `counted`.

    >>> ticks(0.9, 3.2)
    [1.0, 1.5, 2.0, 2.5, 3.0]
    >>> ticks(1, 3, counted=True)
    [1, 2, 3]
    """
    step = max((high - low) / TICKS, 1 if counted else 0)
    size = 10 ** math.floor(math.log10(step))
    step = next(factor * size for factor in (1, 2, 5, 10) if factor * size >= step * (1 - 1e-9))
    first = math.ceil(low / step)
    return [round(number * step, 12) for number in range(first, math.floor(high / step) + 1)]


def labelled(values: Sequence[float], words: Words) -> list[tuple[float, str]]:
    """Return ticks with labels that have enough digits to differ.

    >>> labelled([47_900, 47_950], lambda value, digits: f"{value:.{digits}g}")
    [(47900, '4.79e+04'), (47950, '4.8e+04')]
    """
    texts: list[str] = []
    for digits in _DIGITS:
        texts = [words(value, digits) for value in values]
        if len(set(texts)) == len(texts):
            break
    return list(zip(values, texts, strict=True))


def _across(x: _Scale, words: Words, height: float, *, counted: bool = False) -> Iterable[str]:
    for value, label in labelled(ticks(x.low, x.high, counted=counted), words):
        at = f"{x(value):.1f}"
        yield f'<line class="grid" x1="{at}" x2="{at}" y1="{TOP - 8}" y2="{height - FOOT}"/>'
        yield _text(x(value), height - FOOT + 18, label, "middle")


def _strip(row: Strip, x: _Scale, y: float) -> Iterable[str]:
    yield _text(LEFT - 12, y + 4, _cut(row.name), "end", "row")
    for number, value in enumerate(_thinned(row.values)):
        height = y + ((number * _JITTER) % 1 - 0.5) * 26
        yield f'<circle class="dot" cx="{x(value):.1f}" cy="{height:.1f}" r="2.6"/>'
    everything = sorted((*row.values, *(value for value, _ in row.named)))
    if len(everything) > 3:
        low, middle, high = quantiles(everything, n=4, method="inclusive")
        wide = x(high) - x(low)
        yield f'<rect class="box" x="{x(low):.1f}" y="{y - 17:.1f}" width="{wide:.1f}" height="34"/>'
    else:
        middle = median(everything)
    at, above, below = f"{x(middle):.1f}", f"{y - 17:.1f}", f"{y + 17:.1f}"
    yield f'<line class="middle" x1="{at}" x2="{at}" y1="{above}" y2="{below}"/>'
    taken: list[tuple[float, float]] = []
    for value, name in sorted(row.named):
        yield f'<circle class="named" cx="{x(value):.1f}" cy="{y:.1f}" r="4.5"/>'
        yield _text(x(value), _free(taken, x(value), name, y), name, "middle", "alert")


def _free(taken: list[tuple[float, float]], at: float, name: str, y: float) -> float:
    """Return a height at which a name covers no earlier name: near the dot, above or below it."""
    half = 4.0 * len(name)
    for height in (y - 9, y + 19, y - 21, y + 31):
        if all(abs(at - other) > half + 20 or height != used for other, used in taken):
            break
    taken.append((at, height))
    return height


def _thinned(values: Sequence[float]) -> list[float]:
    if len(values) <= DOTS_MAX:
        return list(values)
    ranked, last = sorted(values), len(values) - 1
    return [ranked[round(number * last / (DOTS_MAX - 1))] for number in range(DOTS_MAX)]


def _line(line: Line, x: _Scale, y: _Scale) -> Iterable[str]:
    kind = " alert" if line.alert else ""
    if line.band:
        above = [f"{x(at):.1f},{y(high):.1f}" for at, _, high in line.band]
        below = [f"{x(at):.1f},{y(low):.1f}" for at, low, _ in reversed(line.band)]
        yield f'<polygon class="band" points="{" ".join((*above, *below))}"/>'
    points = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in line.points)
    yield f'<polyline class="line{kind}" points="{points}"/>'
    last = line.points[-1]
    yield _text(x(last[0]) + 6, y(last[1]) + 4, _cut(line.name), "start", kind.strip())


def _cut(name: str) -> str:
    return name if len(name) <= 26 else f"{name[:25]}…"


def _text(x: float, y: float, text: str, anchor: str, kind: str = "") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(parts: Iterable[str], height: float, described: str) -> Markup:
    return Markup(
        f'<svg class="drawn" viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(described)}">'
        f"{''.join(parts)}</svg>"
    )
