"""The verdict in figures: a card for each workload, with the figures that go with its headline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.methods.results.outcome import shown_by
from ssdlab.results.kind import loaded

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
            filed.setdefault(label, []).append(headline)
    return tuple(Card(label, tuple(headlines)) for label, headlines in filed.items())
