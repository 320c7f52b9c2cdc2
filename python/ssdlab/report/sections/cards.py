"""The verdict in figures: a card for each workload, with the figures that go with its headline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ssdlab.methods.results.outcome import shown_by
from ssdlab.results.host_part import HOST_LIMITED, host_part
from ssdlab.results.kind import loaded
from ssdlab.results.warned_steps import THROTTLED, throttled, warned_steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.report.sections.headlines import Headline


@dataclass(frozen=True)
class Card:
    """The headlines of all runs of one workload."""

    label: str
    headlines: tuple[Headline, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The figures that it is of."""
        return tuple(dict.fromkeys(each.scalar for each in self.headlines if each.scalar))


def cards(runs: Sequence[Shown]) -> tuple[Card, ...]:
    """Return a card for each workload, in the order of the runs."""
    filed: dict[str, list[Headline]] = {}
    for shown in runs:
        place = shown_by(shown.run.result, shown.run.manifest.method.name).headlines
        for label, headline in loaded(place)(shown) if place is not None else ():
            marks = (*_throttled(shown, headline), *_by_host(shown, headline))
            filed.setdefault(label, []).append(replace(headline, beside=(*headline.beside, *marks)))
    return tuple(Card(label, tuple(headlines)) for label, headlines in filed.items())


def _throttled(shown: Shown, headline: Headline) -> tuple[str, ...]:
    """Return whether the drive throttled itself in the steps that a figure is of, or in how many of a run."""
    found = warned_steps(shown.run.warnings, shown.run.steps)
    figure = next((each for each in shown.run.result.scalars if each.name == headline.scalar), None)
    own = () if figure is None else shown.run.result.basis_of(figure).steps
    if THROTTLED in headline.beside:
        return ()
    if not own:
        return tuple(f"{THROTTLED} {each.share}".strip() for each in found if each.code == "throttled")
    hot = any(throttled(step) for step in shown.run.steps if step.ordinal in own)
    return (THROTTLED,) if hot else ()


def _by_host(shown: Shown, headline: Headline) -> tuple[str, ...]:
    """Return in how many steps of a run the host was the limit; nothing if it never was, or that is said."""
    part = host_part(shown.run.steps)
    repeated = HOST_LIMITED in headline.beside and part is not None and not part.share
    return () if part is None or repeated else (part.words,)
