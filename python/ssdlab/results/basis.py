"""What a headline figure rests on: its steps, where it was taken, the host's part, and how far it varies.

A rank needs all of that: figures that were taken at unlike depths, that the host made, or that vary by more
than they differ do not show which drive is the better one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.analysis.places import Variation, largest
from ssdlab.model.units import and_listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ssdlab.results.drive_states import SteadyProof
    from ssdlab.results.points import Point, Scalar, Spread

WITHIN_RUN = "within a run it deviates by {share}"
ROUNDS = "rounds of a run differ by up to {share}"
WRITING = "rounds of the writing before it differ by up to {share}"
SEARCH = "the search went in steps of {share}"
METER = "the meter may be off by {share}"
RUNS = "runs of one drive differ by up to {share}"
INTERVAL = "95 % of what it may be lies within {share} of it"
_DEPTH = "depth "
_UNTOLD = "a load that is not told"


@dataclass(frozen=True)
class Basis:
    """What a figure rests on.

    Attributes
    ----------
    steps
        Those that it is of; empty: all that were measured.
    at
        The load that the run itself chose and that a latency depends on, as `depth 4`; empty: the method sets
        the load, the same for all drives.
    by_host
        Why the figure is the host's too, where the result says so or, empty, that it is not; None: the host's
        load in its steps tells.
    varies
        How far it varies within the run; None: nothing shows it.
    example
        Whether its load is one that was made up to show the method, and stands for no use.
    """

    steps: tuple[int, ...] = ()
    at: str = ""
    by_host: str | None = None
    varies: Variation | None = None
    example: bool = False


def taken_apart(loads: Iterable[str]) -> str:
    """Say that figures were taken at unlike loads, so that none is ranked beside another; empty: at one.

    >>> taken_apart(["depth 16", "depth 4", "depth 4"])
    'taken at depths 4 and 16'
    """
    taken = list(dict.fromkeys(loads))
    if len(taken) < 2:
        return ""
    if all(each.startswith(_DEPTH) for each in taken):
        return f"taken at depths {and_listed(sorted((each.removeprefix(_DEPTH) for each in taken), key=int))}"
    return f"taken at {and_listed([each or _UNTOLD for each in taken])}"


def of_rows(value: float | None, spread: Spread | None) -> Variation | None:
    """Return how far a figure varies by the standard deviation of its rows."""
    return None if spread is None else of_deviation(value, spread.mean, spread.sd)


def of_deviation(value: float | None, mean: float, deviation: float) -> Variation | None:
    """Return how far a figure varies as rows of this mean and this standard deviation do."""
    return Variation(deviation / mean * abs(value), WITHIN_RUN) if value is not None and mean else None


def of_rounds(value: float | None, rounds: Sequence[float]) -> Variation | None:
    """Return how far a figure varies by the rounds that it is the mean of: by all of their range."""
    mean = sum(rounds) / len(rounds) if rounds else 0.0
    return None if value is None or not mean else Variation(spread_of(rounds) / mean * abs(value), ROUNDS)


def of_writing(value: float | None, proofs: Iterable[SteadyProof]) -> Variation | None:
    """Return how far a figure varies by the windows of the writing that brought its drive state about."""
    shares = [proof.range_share for proof in proofs if proof.range_share is not None]
    return Variation(max(shares) * abs(value), WRITING) if shares and value is not None else None


def of_search(held: float | None, failed: float | None) -> Variation | None:
    """Return how far a figure may lie above what held: up to the lowest that did not."""
    return None if held is None or failed is None else Variation(abs(failed - held), SEARCH)


def spread_of(values: Sequence[float]) -> float:
    """Return the largest minus the smallest."""
    return max(values) - min(values)


def points_basis(
    figure: Scalar, points: Sequence[Point], proofs: Iterable[SteadyProof] = (), at: str = ""
) -> Basis:
    """Return what a figure of points rests on; power and depth vary by other things than throughput does."""
    steps = tuple(each.ordinal for each in points if each.ordinal is not None)
    if figure.unit in ("W", "I/Os"):
        return Basis(steps, at)
    rows = [of_rows(figure.value, each.spread_iops) for each in points]
    return Basis(steps, at, varies=largest((*rows, of_writing(figure.value, proofs))))
