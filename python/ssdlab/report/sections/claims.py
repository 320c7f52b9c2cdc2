"""The user's sentences, each held against the figure of this very page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ssdlab.methods import REGISTRY, figures_of, is_figure
from ssdlab.methods.plugins import names as plugins
from ssdlab.model.errors import unknown
from ssdlab.results.metric import labelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.report.chart_links import ChartLink
    from ssdlab.report.claims import UserClaim
    from ssdlab.report.runs import Shown
    from ssdlab.results.metric import Metric

Mark = Literal["true", "false", "not measured"]


@dataclass(frozen=True)
class Judged:
    """A sentence with what the figures say of it.

    Attributes
    ----------
    sentence, figure, bound
        As the user gave them.
    mark
        Whether it holds; a figure that a qualifier of its own forbids it of counts as not measured.
    found
        The figure in words, with its drive; of one that was not measured why: its state, or what is lacking.
    link
        What leads to the chart that shows it; None: nothing does.
    """

    sentence: str
    figure: str
    bound: str
    mark: Mark
    found: str
    link: ChartLink | None


def judged(
    claims: Sequence[UserClaim], runs: Sequence[Shown], links: Mapping[str, ChartLink]
) -> tuple[Judged, ...]:
    """Hold each sentence against the runs of the page.

    Raises
    ------
    UsageError
        A figure's name is one that no method has, with the names on the page; or a bound is of another unit.
    """
    had = list(dict.fromkeys(figure.name for shown in runs for figure in shown.run.result.scalars))
    for claim in claims:
        if claim.figure not in had and not _may_be(claim.figure):
            error = unknown("headline figure", claim.figure, had, elsewhere=f"this page has {', '.join(had)}")
            error.what = f"{claim.where}{error.what}"
            raise error
    return tuple(_judged(claim, runs, links) for claim in claims)


def _judged(claim: UserClaim, runs: Sequence[Shown], links: Mapping[str, ChartLink]) -> Judged:
    found = _figure(claim, runs)
    mark: Mark = "not measured"
    words = _lack(claim, runs, "" if found is None else found[1].state)
    if found is not None and found[1].value is not None:
        shown, figure = found
        assert figure.value is not None
        kept = claim.keeps(figure.value, figure.unit)  # refuses a bound of another unit
        words = f"{shown.label}: {labelled(claim.beside(figure.value, figure.unit), figure.state)}"
        if figure.unfit("claims"):
            words = f"{words}, which is held against no bound"
        else:
            mark = "true" if kept else "false"
    return Judged(claim.sentence, claim.figure, claim.bound, mark, words, links.get(claim.figure))


def _may_be(figure: str) -> bool:
    """Whether a method can have a figure of that name; those of other packages may have any."""
    return bool(plugins()) or is_figure(figure, figures_of(REGISTRY) or ())


def _lack(claim: UserClaim, runs: Sequence[Shown], state: str) -> str:
    """Say why a claim is held against nothing: what of it the page lacks, and what keeps that back."""
    labels = list(dict.fromkeys(shown.label for shown in runs))
    having = list(
        dict.fromkeys(
            shown.label
            for shown in runs
            if any(each.name == claim.figure and each.value is not None for each in shown.run.result.scalars)
        )
    )
    if claim.drive is not None:
        fitting = _fitting(claim.drive, labels)
        if not fitting:
            return f"no drive of this page is called {claim.drive!r}; there are: {'; '.join(labels)}"
        if _meant(claim.drive, labels) is None:
            return f"{claim.drive!r} fits several drives of this page: {'; '.join(fitting)}"
    if not having:
        return labelled("no run of this page has a value of it", state)
    lacking = labelled(f"no value of it for {claim.drive or runs[0].label}", state)
    return f"{lacking}; there is one for: {'; '.join(having)}"


def _fitting(drive: str, labels: Sequence[str]) -> list[str]:
    """Return the names of drives that a text is part of, whatever its case."""
    return [label for label in dict.fromkeys(labels) if drive.lower() in label.lower()]


def _meant(drive: str, labels: Sequence[str]) -> str | None:
    """Return the one drive that a text is part of the name of, or of it and its variants the drive itself."""
    fitting = sorted(_fitting(drive, labels), key=len)
    return fitting[0] if fitting and all(label.startswith(fitting[0]) for label in fitting) else None


def _figure(claim: UserClaim, runs: Sequence[Shown]) -> tuple[Shown, Metric] | None:
    """Return the first figure of that name, of the drive that is meant: one that is fit for it, if any."""
    meant = None if claim.drive is None else _meant(claim.drive, [shown.label for shown in runs])
    fitting = []
    for shown in runs:
        fits = shown.drive.id == runs[0].drive.id if claim.drive is None else shown.label == meant
        figure = next((each for each in shown.run.result.scalars if each.name == claim.figure), None)
        if fits and figure is not None:
            fitting.append((shown, figure))
    fit = (each for each in fitting if each[1].value is not None and not each[1].unfit("claims"))
    return next(fit, fitting[0] if fitting else None)
