"""A result of a kind that is not known here: its headline figures, and a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.methods.results.outcome import UnknownResult
from ssdlab.report.numbers import Table, of_run, of_unit, words
from ssdlab.report.runs import with_result
from ssdlab.report.view import Exhibit, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.runs import Shown


def section(runs: Sequence[Shown]) -> Section:
    """Return the section of a method whose package is not installed."""
    kept = with_result(runs, UnknownResult)
    method = runs[0].run.manifest.method
    rows = tuple(
        (of_run(shown.label, shown.index), words(each.label), words(of_unit(each.value, each.unit)))
        for shown, result in kept
        for each in result.scalars
    )
    figures = Table("Headline figures", ("Run", "Figure", "Value"), rows)
    return Section(
        id=method.name,
        title=method.title,
        lead=(kept[0][1].unknown,),
        runs=tuple(shown.index for shown, _ in kept),
        figures=(),
        exhibits=(Exhibit("Headline figures", "What the method reports.", (figures,)),),
        caveats=tuple(dict.fromkeys(text for _, result in kept for text in result.caveats)),
    )
