"""A static picture of a sweep, for readers without scripts: an inline SVG in the colours of the page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from markupsafe import Markup

from ssdlab.units import count_text, throughput_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.charts import Line, RunStyle, XyView

WIDTH, HEIGHT = 760, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 24, 40
_GRID_LINES = 4


def sweep_still(view: XyView, styles: Sequence[RunStyle]) -> str:
    """Draw the lines of a view with a logarithmic x axis with fixed ticks and a y axis from zero."""
    ticks = view.x.ticks or ()
    top = max((dot.high or dot.y for line in view.lines for dot in line.points), default=1.0) * 1.05
    low, high = math.log(ticks[0][0]), math.log(ticks[-1][0])

    def x(value: float) -> float:
        share = (math.log(value) - low) / (high - low) if high > low else 0.5
        return round(_LEFT + share * (WIDTH - _LEFT - _RIGHT), 1)

    def y(value: float) -> float:
        return round(HEIGHT - _BOTTOM - value / top * (HEIGHT - _TOP - _BOTTOM), 1)

    text = count_text if view.y.quantity == "iops" else throughput_text
    parts = []
    for step in range(_GRID_LINES + 1):
        level = top * step / _GRID_LINES
        parts.append(Markup('<path class="grid" d="M{} {}H{}"/>').format(_LEFT, y(level), WIDTH - _RIGHT))
        parts.append(
            Markup('<text x="{}" y="{}" text-anchor="end">{}</text>').format(
                _LEFT - 8, y(level) + 4, text(level)
            )
        )
    for value, label in ticks:
        parts.append(
            Markup('<text x="{}" y="{}" text-anchor="middle">{}</text>').format(x(value), HEIGHT - 20, label)
        )
    parts.append(Markup('<text x="{}" y="14">{}</text>').format(_LEFT, view.y.title))
    parts.append(
        Markup('<text x="{}" y="{}" text-anchor="middle">{}</text>').format(
            WIDTH / 2, HEIGHT - 4, view.x.title
        )
    )
    for rule in view.rules:
        colour = styles[_place(view.lines, rule.run)].colour
        parts.append(
            Markup('<path class="rule" stroke="var(--drive-{})" d="M{} {}H{}"/>').format(
                colour, _LEFT, y(rule.y), WIDTH - _RIGHT
            )
        )
    for line, style in zip(view.lines, styles, strict=True):
        points = " ".join(f"{x(dot.x)},{y(dot.y)}" for dot in line.points)
        parts.append(Markup('<polyline stroke="var(--drive-{})" points="{}"/>').format(style.colour, points))
        for dot in line.points:
            if dot.chosen:
                ring = Markup(
                    '<circle class="ring" stroke="var(--drive-{})" cx="{}" cy="{}" r="8"/><text x="{}" y="{}" text-anchor="middle">{}</text>'
                )
                parts.append(
                    ring.format(style.colour, x(dot.x), y(dot.y), x(dot.x), y(dot.y) + 24, dot.label or "")
                )
    return Markup('<svg class="still" viewBox="0 0 {} {}" role="img">{}</svg>').format(
        WIDTH, HEIGHT, Markup("").join(parts)
    )


def _place(lines: Sequence[Line], run: int) -> int:
    return next(at for at, line in enumerate(lines) if line.run == run)
