"""The user's claims, each checked against the figures of this page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ssdlab.lab.folders import REGISTRY, figures_of, is_figure
from ssdlab.lab.found import names_of_others
from ssdlab.model.errors import unknown
from ssdlab.results.metric import labelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.report.chart_links import ChartLink
    from ssdlab.report.claims import UserClaim
    from ssdlab.report.runs import Shown
    from ssdlab.results.metric import Metric

Mark = Literal["true", "false", "not measured"]


_ADDED = (", ", " ")
"""Separators that may follow a drive's name in a label, before its variant."""


@dataclass(frozen=True)
class Judged:
    """A claim, judged by the figures.

    Attributes
    ----------
    sentence, figure, bound
        As the user gave them.
    mark
        Whether the claim is true. A figure with a qualifier that forbids claims counts as not measured.
    found
        The figure in words, with its drive; or why it was not measured.
    link
        Link to the figure's chart; None if it has none.
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
    """Judge each claim by the runs of the page.

    Raises
    ------
    UsageError
        No method has a figure of that name (the error lists the page's figures), or a bound has a unit of
        another kind.
    """
    had = list(dict.fromkeys(figure.name for shown in runs for figure in shown.run.result.scalars))
    for claim in claims:
        if claim.figure not in had and not _may_be(claim.figure):
            error = unknown("headline figure", claim.figure, had, elsewhere=f"this page has {', '.join(had)}")
            error.what = f"{claim.where}{error.what}"
            raise error
    return tuple(_judged(claim, runs, links) for claim in claims)


def _judged(claim: UserClaim, runs: Sequence[Shown], links: Mapping[str, ChartLink]) -> Judged:
    found = _figures(claim, runs)
    fit = [each for each in found if not each[1].unfit("claims")]
    mark: Mark = "not measured"
    if not found:
        words = _lack(claim, runs)
    elif not fit:
        words = f"{_words(claim, *found[0])}; bound not checked"
    else:
        kept = [_keeps(claim, figure) for _, figure in fit]
        others = [_words(claim, *each) for each, keeps in zip(fit, kept, strict=True) if keeps != kept[0]]
        mark = "true" if kept[0] else "false"
        words = "; but ".join((_words(claim, *fit[0]), *others))
    return Judged(claim.sentence, claim.figure, claim.bound, mark, words, links.get(claim.figure))


def _keeps(claim: UserClaim, figure: Metric) -> bool:
    assert figure.value is not None
    return claim.keeps(figure.value, figure.unit)


def _words(claim: UserClaim, shown: Shown, figure: Metric) -> str:
    assert figure.value is not None
    _keeps(claim, figure)  # raises an error if the units are of different kinds
    return f"{shown.label}: {labelled(claim.beside(figure.value, figure.unit), figure.state)}"


def _may_be(figure: str) -> bool:
    """Return whether a method can have a figure of that name; methods of other packages may use any name."""
    return bool(names_of_others()) or is_figure(figure, figures_of(REGISTRY) or ())


def _lack(claim: UserClaim, runs: Sequence[Shown]) -> str:
    having = dict.fromkeys(
        labelled(shown.label, each.state if each.unfit("claims") else "")
        for shown in runs
        for each in _named(claim, shown)
        if each.value is not None
    )
    meant = _meant(claim.drive, runs)
    if claim.drive is not None and not meant:
        fitting = _fitting(claim.drive, runs)
        if not fitting:
            labels = "; ".join(dict.fromkeys(shown.label for shown in runs))
            return f"no drive on this page is called {claim.drive!r}; the drives are: {labels}"
        labels = "; ".join(dict.fromkeys(shown.label for shown in fitting))
        return f"{claim.drive!r} matches several drives on this page: {labels}"
    state = next((each.state for shown in meant for each in _named(claim, shown) if each.state), "")
    if not having:
        return labelled("no run on this page has a value for it", state)
    lacking = labelled(f"no value for {claim.drive or runs[0].label}", state)
    return f"{lacking}; available for: {'; '.join(having)}"


def _fitting(drive: str, runs: Sequence[Shown]) -> list[Shown]:
    return [shown for shown in runs if drive.lower() in shown.label.lower()]


def _meant(drive: str | None, runs: Sequence[Shown]) -> list[Shown]:
    """Return the runs of the named drive, by default the first drive; empty if none or several match.

    If a drive and its variants match, the drive itself is meant.
    """
    if drive is None:
        return [shown for shown in runs if shown.drive.id == runs[0].drive.id]
    fitting = _fitting(drive, runs)
    if len(set(map(_entry, fitting))) < 2:
        return fitting
    first = min(fitting, key=lambda shown: len(shown.label))
    if not all(_is_of(shown, first) for shown in fitting):
        return []
    return [shown for shown in fitting if _entry(shown) == _entry(first)]


def _is_of(shown: Shown, first: Shown) -> bool:
    """Return whether a run's drive is the first run's drive or its variant, judged by the labels."""
    more = shown.label.removeprefix(first.label)
    added = shown.label.startswith(first.label) and more.startswith(_ADDED)
    return added or _entry(shown) == _entry(first)


def _entry(shown: Shown) -> tuple[str, str]:
    return shown.drive.id, str(shown.drive.variant)


def _named(claim: UserClaim, shown: Shown) -> list[Metric]:
    return [each for each in shown.run.result.scalars if each.name == claim.figure]


def _figures(claim: UserClaim, runs: Sequence[Shown]) -> list[tuple[Shown, Metric]]:
    meant = _meant(claim.drive, runs)
    return [(shown, each) for shown in meant for each in _named(claim, shown) if each.value is not None]
