"""The verdict in figures: a card for each workload, with the figures that go with its headline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.report.presentation import found, presentation_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.report.sections.headlines import Headline


@dataclass(frozen=True)
class Card:
    """The headlines of all runs of one workload."""

    label: str
    headlines: tuple[Headline, ...]


def cards(runs: Sequence[Shown]) -> tuple[Card, ...]:
    """Return a card for each workload, in the order of the runs."""
    filed: dict[str, list[Headline]] = {}
    for shown in runs:
        place = presentation_of(shown.run.result.kind).headlines
        for label, headline in found(place)(shown) if place else ():
            filed.setdefault(label, []).append(headline)
    return tuple(Card(label, tuple(headlines)) for label, headlines in filed.items())
