"""A static picture of a sweep, for readers without scripts: an inline SVG in the colours of the page."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from ssdlab.model.units import count_text, throughput_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ssdlab.report.charts import Axis, Dot, Line, XyView

WIDTH, HEIGHT = 760, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 24, 40
_LEVELS = 4
_LABEL = Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>')
_LEVEL = Markup('<path class="{}" stroke="{}" d="M{} {}H{}"/>')
_LINE = Markup('<polyline stroke="{}" points="{}"/>')
_RING = Markup('<circle class="ring" stroke="{}" cx="{}" cy="{}" r="8"/>')
_PICTURE = Markup('<svg class="still" viewBox="0 0 {} {}" role="img">{}</svg>')


@dataclass(frozen=True)
class _Plane:
    """From values to places: x logarithmic between its first and last tick, y from zero to `top`."""

    low: float
    high: float
    top: float

    def x(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low) if self.high > self.low else 0.5
        return round(_LEFT + share * (WIDTH - _LEFT - _RIGHT), 1)

    def y(self, value: float) -> float:
        return round(HEIGHT - _BOTTOM - value / self.top * (HEIGHT - _TOP - _BOTTOM), 1)


def sweep_still(view: XyView, colours: Mapping[int, int]) -> str:
    """Draw a view whose x axis has fixed ticks and whose y axis begins at zero.

    `colours` gives the palette index of each run.
    """
    ticks = view.x.ticks or ()
    if not ticks:
        return ""
    top = max((dot.high or dot.y for line in view.lines for dot in line.points), default=0.0) * 1.05 or 1.0
    plane = _Plane(ticks[0][0], ticks[-1][0], top)
    parts = [*_frame(view.x, view.y, plane)]
    for rule in view.rules:
        level = plane.y(rule.y)
        parts.append(_LEVEL.format("rule", _paint(colours[rule.run]), _LEFT, level, WIDTH - _RIGHT))
    for line in view.lines:
        parts += _curve(line, plane, _paint(colours[line.run]))
    return _PICTURE.format(WIDTH, HEIGHT, Markup("").join(parts))


def _frame(x: Axis, y: Axis, plane: _Plane) -> list[Markup]:
    text = count_text if y.quantity == "iops" else throughput_text
    parts = []
    for step in range(_LEVELS + 1):
        level = plane.top * step / _LEVELS
        parts.append(_LEVEL.format("grid", "", _LEFT, plane.y(level), WIDTH - _RIGHT))
        parts.append(_LABEL.format(_LEFT - 8, plane.y(level) + 4, "end", text(level)))
    parts += [_LABEL.format(plane.x(value), HEIGHT - 20, "middle", label) for value, label in x.ticks or ()]
    parts.append(_LABEL.format(_LEFT, 14, "start", y.title))
    parts.append(_LABEL.format(WIDTH / 2, HEIGHT - 4, "middle", x.title))
    return parts


def _curve(line: Line, plane: _Plane, paint: str) -> list[Markup]:
    points = " ".join(f"{plane.x(dot.x)},{plane.y(dot.y)}" for dot in line.points)
    parts = [_LINE.format(paint, points)]
    for dot in line.points:
        if dot.chosen:
            parts += _ring(dot, plane, paint)
    return parts


def _ring(dot: Dot, plane: _Plane, paint: str) -> list[Markup]:
    x, y = plane.x(dot.x), plane.y(dot.y)
    return [_RING.format(paint, x, y), _LABEL.format(x, y + 24, "middle", dot.label or "")]


def _paint(colour: int) -> str:
    return f"var(--drive-{colour})"
