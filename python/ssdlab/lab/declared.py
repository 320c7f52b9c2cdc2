"""The declaration of a method, read without loading it: for lists, reviews, pages and ratings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ssdlab.drives.ratings import MetricName

POWER = ("kiops_per_w", "mb_s_per_w", "w")


IOPS_OF_MB_S = 1e6 / 4096


class RatedAs(NamedTuple):
    """What makers rate that a headline figure is compared with.

    Attributes
    ----------
    factor
        From the unit of the figure to that of the rating.
    state
        Of the figure.
    state_words
        What is said of the figure beside a rating of another state; empty: its state.
    """

    metric: MetricName
    factor: float = 1.0
    state: str = "fresh"
    state_words: str = ""


MAX_READ_W, MAX_WRITE_W = RatedAs("max_read_w"), RatedAs("max_write_w")
"""What no load of the direction draws more than."""


@dataclass(frozen=True)
class Declared:
    """A method or suite as it is declared.

    Attributes
    ----------
    place
        Module of its folder that defines it; of a suite the file.
    writes
        Whether it writes to the drive with the parameters it has by default.
    line
        The first of its prose.
    figures
        Names of the headline figures that it can have. A star stands for what parameters say, such as a
        depth. Efficiency and power are had with a meter alone.
    rated
        By figure what makers rate it by: of several the first rated in its state.
    top
        Of the figure that readers look for first: its place among those of all methods, and its name.
    """

    name: str
    place: str
    writes: bool
    line: str
    figures: tuple[str, ...] = ()
    rated: Mapping[str, tuple[RatedAs, ...]] = field(default_factory=dict)
    top: tuple[int, str] | None = None


def figure_names(name: str, *figures: str) -> tuple[str, ...]:
    """Return names of figures that begin alike."""
    return tuple(f"{name}_{figure}" for figure in figures)
