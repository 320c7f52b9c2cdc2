"""Declarations of methods and suites.

Lists, reviews, pages and ratings read them without importing a method.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ssdlab.drives.ratings import MetricName

POWER = ("kiops_per_w", "mb_s_per_w", "w")
"""Name endings of the figures of efficiency and power."""


IOPS_OF_MB_S = 1e6 / 4096
"""IOPS of 4 KiB I/O at 1 MB/s, for `RatedAs.factor`."""


class RatedAs(NamedTuple):
    """The maker's rating that a headline figure is compared with.

    Attributes
    ----------
    factor
        Multiplies the figure to give the rating's unit.
    state
        Drive state in which the figure is measured.
    state_words
        Text for that state, shown if a rating is for another state; empty: `state` itself.
    """

    metric: MetricName
    factor: float = 1.0
    state: str = "fresh"
    state_words: str = ""


MAX_READ_W, MAX_WRITE_W = RatedAs("max_read_w"), RatedAs("max_write_w")
"""Ratings for the maximum power of any read load, and of any write load."""


@dataclass(frozen=True)
class Declared:
    """The declaration of a method or suite.

    Attributes
    ----------
    place
        Module that defines the method; for a suite, its file.
    writes
        Whether it writes to the drive with default parameters.
    line
        First line of its prose.
    figures
        Names of its possible headline figures. A star stands for a value from the parameters, such as a queue
        depth. Figures of efficiency and power need a meter.
    rated
        Ratings by figure name; the first one that is for the figure's state applies.
    top
        The figure that readers look for first: its position among all methods' top figures, and its name.
    """

    name: str
    place: str
    writes: bool
    line: str
    figures: tuple[str, ...] = ()
    rated: Mapping[str, tuple[RatedAs, ...]] = field(default_factory=dict)
    top: tuple[int, str] | None = None


def figure_names(name: str, *figures: str) -> tuple[str, ...]:
    """Return the names of figures that share a prefix."""
    return tuple(f"{name}_{figure}" for figure in figures)
