"""The declaration of a method; lists, reviews, pages and ratings read it without loading the method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ssdlab.drives.ratings import MetricName

POWER = ("kiops_per_w", "mb_s_per_w", "w")


IOPS_OF_MB_S = 1e6 / 4096


class RatedAs(NamedTuple):
    """The maker's rating for a headline figure.

    Attributes
    ----------
    factor
        Factor from the figure's unit to the rating's.
    state
        Of the figure.
    state_words
        Words for the figure's state when a rating is for another state; empty: the state itself.
    """

    metric: MetricName
    factor: float = 1.0
    state: str = "fresh"
    state_words: str = ""


MAX_READ_W, MAX_WRITE_W = RatedAs("max_read_w"), RatedAs("max_write_w")
"""Maximum power of any load in that direction."""


@dataclass(frozen=True)
class Declared:
    """The declaration of a method or suite.

    Attributes
    ----------
    place
        Module that defines it; for a suite the file.
    writes
        Whether it writes to the drive with default parameters.
    line
        The first line of its prose.
    figures
        Names of its possible headline figures. A star is a value from the parameters, such as a depth.
        Efficiency and power need a meter.
    rated
        Ratings by figure: the first one for its state applies.
    top
        The figure that readers look for first: its place among all methods' top figures, and its name.
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
