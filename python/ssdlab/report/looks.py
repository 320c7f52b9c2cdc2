"""Colours and markers of the drives of a page: any two drives differ in one, similar colours in both."""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ssdlab.report.charts import Shape

COLOURS = 8
"""Size of the palette; colour-blind readers can distinguish any two of its colours (`page.css`)."""


SHAPES: tuple[Shape, ...] = ("circle", "rect", "triangle", "diamond")


NEAR_BELOW = 20.0
"""Of CIEDE2000."""
NEAR = frozenset(
    {
        *((0, 2), (0, 3), (0, 4), (0, 7), (1, 2), (1, 5), (1, 6), (2, 3), (2, 4)),
        *((2, 5), (2, 7), (3, 4), (3, 5), (3, 6), (3, 7), (5, 6), (5, 7), (6, 7)),
    }
)
"""Pairs of colours that some readers cannot distinguish at a glance on small markers."""


@dataclass(frozen=True)
class Palette:
    """The number of colours, and the pairs that need different markers."""

    colours: int = COLOURS
    near: frozenset[tuple[int, int]] = NEAR


OURS = Palette()


def looks_of(names: Iterable[str], palette: Palette = OURS) -> dict[str, tuple[int, int]]:
    """Derive colour and marker of entries from separate bits of their ids, the same on every page.

    A taken colour gives the next free one; if all are taken, the next free pair of colour and marker, for up
    to four times as many drives as colours. With no more drives than colours, similar colours get different
    markers, as far as four markers suffice.
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
    # So many drives have a colour each; of more, near colours cannot all have markers of their own.
    first, rest = list(colours)[: palette.colours], list(colours)[palette.colours :]
    wanted = [(colours[name], drawn[name]) for name in first]
    shapes = _apart(wanted, palette) or [at % len(SHAPES) for at in range(len(first))]
    taken = {name: (colours[name], shape) for name, shape in zip(first, shapes, strict=True)}
    for name in rest:
        taken[name] = colours[name], _free(colours[name], drawn[name], taken)
    return taken


def further_shapes(entry: str, looks: Mapping[str, tuple[int, int]]) -> list[Shape]:
    """Return the markers of an entry's further runs, its own first, without those of its colour's others."""
    colour, first = looks[entry]
    taken = {shape for other, (of, shape) in looks.items() if of == colour and other != entry}
    turned = [(first + by) % len(SHAPES) for by in range(len(SHAPES))]
    return [SHAPES[shape] for shape in turned if shape == first or shape not in taken]


def _apart(
    wanted: Sequence[tuple[int, int]], palette: Palette, shapes: tuple[int, ...] = ()
) -> tuple[int, ...]:
    """Return a marker for each colour, the drawn one where it can be; () where those so far leave none."""
    if len(shapes) == len(wanted):
        return shapes
    colour, drawn = wanted[len(shapes)]
    for by in range(len(SHAPES)):
        shape = (drawn + by) % len(SHAPES)
        before = (of for (of, _), own in zip(wanted, shapes, strict=False) if own == shape)
        if any((min(colour, of), max(colour, of)) in palette.near for of in before):
            continue
        if found := _apart(wanted, palette, (*shapes, shape)):
            return found
    return ()


def _free(colour: int, drawn: int, taken: Mapping[str, tuple[int, int]]) -> int:
    """Return the next marker that none of a colour has, or the drawn one where all are taken."""
    turned = [(drawn + by) % len(SHAPES) for by in range(len(SHAPES))]
    return next((shape for shape in turned if (colour, shape) not in taken.values()), drawn)
