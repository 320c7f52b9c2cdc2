"""The user's sentences, each held against the figure of this very page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ssdlab.methods.results.figure_state import state_of
from ssdlab.results.numbers import of_unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.report.claims import UserClaim
    from ssdlab.report.runs import Shown
    from ssdlab.results.schema import Scalar

Mark = Literal["true", "false", "not measured"]


@dataclass(frozen=True)
class Judged:
    """A sentence with what the figures say of it.

    Attributes
    ----------
    sentence, figure, bound
        As the user gave them.
    mark
        Whether it holds.
    found
        The figure in words, with its drive; empty: there is none.
    chart
        Id of the chart that shows it.
    """

    sentence: str
    figure: str
    bound: str
    mark: Mark
    found: str
    chart: str


def judged(
    claims: Sequence[UserClaim], runs: Sequence[Shown], charts: Mapping[str, str]
) -> tuple[Judged, ...]:
    """Hold each sentence against the runs of the page."""
    return tuple(_judged(claim, runs, charts) for claim in claims)


def _judged(claim: UserClaim, runs: Sequence[Shown], charts: Mapping[str, str]) -> Judged:
    found = _figure(claim, runs)
    mark: Mark = "not measured"
    words = ""
    if found is not None and found[1].value is not None:
        shown, figure = found
        assert figure.value is not None
        mark = "true" if claim.keeps(figure.value, figure.unit) else "false"
        state = state_of(shown.run.result, figure)
        words = f"{shown.label}: {of_unit(figure.value, figure.unit)}{f' ({state})' if state else ''}"
    return Judged(claim.sentence, claim.figure, claim.bound, mark, words, charts.get(claim.figure, ""))


def _figure(claim: UserClaim, runs: Sequence[Shown]) -> tuple[Shown, Scalar] | None:
    """Return the first figure of that name, of the drive that is meant."""
    meant = runs[0].drive.id if claim.drive is None else None
    for shown in runs:
        fits = shown.drive.id == meant if claim.drive is None else claim.drive.lower() in shown.label.lower()
        figure = next((each for each in shown.run.result.scalars if each.name == claim.figure), None)
        if fits and figure is not None:
            return shown, figure
    return None
