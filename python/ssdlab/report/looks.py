"""Colours and markers of a page's drives: any two drives differ in one of them, and similar colours in both.

Colour differences are CIEDE2000 (CIE 142-2001; Sharma, Wu and Dalal, 2005). Colour vision deficiencies are
those of Machado, Oliveira and Fernandes (2009) at full strength. Contrast is that of WCAG 2.
"""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import dataclass
from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ssdlab.report.charts import Shape

COLOURS = 8
"""Size of the palette; colour-blind readers can distinguish any two of its colours (`page.css`)."""


SHAPES: tuple[Shape, ...] = ("circle", "rect", "triangle", "diamond")


NEAR_BELOW = 20.0
"""CIEDE2000 difference below which two colours are similar."""
NEAR = frozenset(
    {
        *((0, 2), (0, 3), (0, 4), (0, 7), (1, 2), (1, 5), (1, 6), (2, 3), (2, 4)),
        *((2, 5), (2, 7), (3, 4), (3, 5), (3, 6), (3, 7), (5, 6), (5, 7), (6, 7)),
    }
)
"""Pairs of colours that some readers cannot distinguish at a glance on small markers."""


@dataclass(frozen=True)
class Palette:
    """The number of colours, and the pairs of similar colours, which need different markers."""

    colours: int = COLOURS
    near: frozenset[tuple[int, int]] = NEAR


OURS = Palette()


def looks_of(names: Iterable[str], palette: Palette = OURS) -> dict[str, tuple[int, int]]:
    """Return colour and marker of each entry, derived from its id, so that they are the same on every page.

    If the colour is taken, the entry gets the next free one. If all colours are taken, it gets the next free
    pair of colour and marker; there are four times as many pairs as colours. With no more drives than
    colours, similar colours get different markers, as far as four markers suffice.
    """
    colours_there = range(palette.colours)
    colours: dict[str, int] = {}
    drawn: dict[str, int] = {}
    for name in sorted(set(names)):
        bits = zlib.crc32(name.encode())
        colour = bits % palette.colours
        used = Counter(colours.values())
        while used[colour] > min(used[each] for each in colours_there):
            colour = (colour + 1) % palette.colours
        colours[name], drawn[name] = colour, (bits >> 8) % len(SHAPES)
    # The first drives have a colour each; with more drives, similar colours cannot all have different
    # markers.
    first, rest = list(colours)[: palette.colours], list(colours)[palette.colours :]
    wanted = [(colours[name], drawn[name]) for name in first]
    shapes = _distinct(wanted, palette) or [at % len(SHAPES) for at in range(len(first))]
    taken = {name: (colours[name], shape) for name, shape in zip(first, shapes, strict=True)}
    for name in rest:
        taken[name] = colours[name], _free(colours[name], drawn[name], taken)
    return taken


def further_shapes(entry: str, looks: Mapping[str, tuple[int, int]]) -> list[Shape]:
    """Return the markers for further runs of an entry, except those of other entries in its colour."""
    colour, first = looks[entry]
    taken = {shape for other, (of, shape) in looks.items() if of == colour and other != entry}
    turned = [(first + by) % len(SHAPES) for by in range(len(SHAPES))]
    return [SHAPES[shape] for shape in turned if shape == first or shape not in taken]


def _distinct(
    wanted: Sequence[tuple[int, int]], palette: Palette, shapes: tuple[int, ...] = ()
) -> tuple[int, ...]:
    """Return a marker for each colour; () if two similar colours would need the same marker.

    Each colour gets its preferred marker if possible.
    """
    if len(shapes) == len(wanted):
        return shapes
    colour, drawn = wanted[len(shapes)]
    for by in range(len(SHAPES)):
        shape = (drawn + by) % len(SHAPES)
        before = (of for (of, _), own in zip(wanted, shapes, strict=False) if own == shape)
        if any((min(colour, of), max(colour, of)) in palette.near for of in before):
            continue
        if found := _distinct(wanted, palette, (*shapes, shape)):
            return found
    return ()


def _free(colour: int, drawn: int, taken: Mapping[str, tuple[int, int]]) -> int:
    turned = [(drawn + by) % len(SHAPES) for by in range(len(SHAPES))]
    return next((shape for shape in turned if (colour, shape) not in taken.values()), drawn)


Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]

_XYZ: Matrix = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
"""Conversion of linear sRGB to CIE XYZ, white point D65."""
VISIONS: dict[str, Matrix] = {
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
"""Linear sRGB as readers with each kind of colour vision see it."""


def apart(one: str, other: str) -> float:
    """Return the smallest difference that any reader sees between two colours, `#rgb` or `#rrggbb`."""
    return min(
        difference(*(_lab(_times(vision, _linear(each))) for each in (one, other)))
        for vision in VISIONS.values()
    )


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21 (WCAG 2)."""
    dark, light = sorted(_times(_XYZ, _linear(each))[1] + 0.05 for each in (one, other))
    return light / dark


def difference(one: Vector, other: Vector) -> float:
    """Return the CIEDE2000 difference of two colours in CIELAB."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    chroma = (hypot(a1, b1) + hypot(a2, b2)) / 2
    stretch = 1 + 0.5 * (1 - sqrt(chroma**7 / (chroma**7 + 25.0**7)))
    a1, a2 = stretch * a1, stretch * a2
    c1, c2 = hypot(a1, b1), hypot(a2, b2)
    h1, h2 = degrees(atan2(b1, a1)) % 360, degrees(atan2(b2, a2)) % 360
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    hue = 2 * sqrt(c1 * c2) * sin(radians(turn) / 2)
    light, c = (l1 + l2) / 2, (c1 + c2) / 2
    h = h1 + h2 if c1 * c2 == 0 else (h1 + turn / 2) % 360
    t = (
        1
        - 0.17 * cos(radians(h - 30))
        + 0.24 * cos(radians(2 * h))
        + 0.32 * cos(radians(3 * h + 6))
        - 0.20 * cos(radians(4 * h - 63))
    )
    turned = 30 * exp(-(((h - 275) / 25) ** 2))
    crossed = -2 * sqrt(c**7 / (c**7 + 25.0**7)) * sin(radians(2 * turned))
    dl = (l2 - l1) / (1 + 0.015 * (light - 50) ** 2 / sqrt(20 + (light - 50) ** 2))
    dc, dh = (c2 - c1) / (1 + 0.045 * c), hue / (1 + 0.015 * c * t)
    return sqrt(dl**2 + dc**2 + dh**2 + crossed * dc * dh)


def _linear(colour: str) -> Vector:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    red, green, blue = (int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))
    return _curved(red), _curved(green), _curved(blue)


def _curved(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def _times(matrix: Matrix, vector: Vector) -> Vector:
    x, y, z = (sum(own * each for own, each in zip(row, vector, strict=True)) for row in matrix)
    return x, y, z


def _lab(rgb: Vector) -> Vector:
    """Convert linear sRGB to CIELAB, white point D65."""
    red, green, blue = (min(1.0, max(0.0, each)) for each in rgb)
    x, y, z = (
        _root(each / sum(row)) for each, row in zip(_times(_XYZ, (red, green, blue)), _XYZ, strict=True)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _root(share: float) -> float:
    return float(share ** (1 / 3)) if share > 216 / 24389 else (24389 / 27 * share + 16) / 116
