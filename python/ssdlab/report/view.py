"""The parts of a page's section: figures with buttons, and tables; and a check of sections."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from ssdlab.model.fitting import misfit
from ssdlab.report.charts import BarsChart, Chart, XyChart
from ssdlab.results.cells import Table
from ssdlab.results.kind import table_fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ssdlab.results.claim import Claim


@dataclass(frozen=True)
class Buttons:
    """A group of buttons, one of them pressed; `group` is `view`, `variant` or `measure`."""

    group: str
    label: str
    choices: tuple[str, ...]
    pressed: int = 0

    @property
    def several(self) -> bool:
        """Whether there is more than one choice; otherwise there are no buttons."""
        return len(self.choices) > 1

    @property
    def names(self) -> tuple[str, ...]:
        counts = [self.choices[: at + 1].count(choice) for at, choice in enumerate(self.choices)]
        return tuple(f"{each} ({n})" if n > 1 else each for each, n in zip(self.choices, counts, strict=True))


@dataclass(frozen=True)
class Sheet:
    """The header that a standard prints on each page, for one run."""

    run: int
    line: tuple[str, ...]
    """The top line: test, page, specification, times, drive, tester."""
    columns: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    """Heading of each column, and its rows of name and value."""
    departures: tuple[tuple[str, str], ...]
    left_open: tuple[str, ...] = ()
    """Points that the standard leaves open, and the choice made."""


@dataclass(frozen=True)
class Figure:
    """A chart, its explanation and the same numbers as tables.

    Attributes
    ----------
    described
        One sentence with the finding, for screen readers.
    measured
        Short lines for the part "How it was measured".
    wide
        Whether the figure takes both columns.
    sheets
        Headers of a page of a standard, one for each run.
    beside
        Extra texts of a saved picture.
    steps
        Drawn steps, by run and ordinal, whose qualifiers apply; empty: all.
    left
        Sentences on what paper leaves out, such as tables that are printed elsewhere.
    """

    id: str
    title: str
    lead: str
    described: str
    chart: Chart
    tables: tuple[Table, ...]
    measured: tuple[str, ...]
    buttons: tuple[Buttons, ...] = ()
    zoom: bool = False
    wide: bool = False
    sheets: tuple[Sheet, ...] = ()
    beside: tuple[str, ...] = ()
    steps: tuple[tuple[int, int], ...] = ()
    left: tuple[str, ...] = ()


OPEN_ROWS = 16
"""Maximum rows with which a table outside a figure is open."""


@dataclass(frozen=True)
class Exhibit:
    """Tables outside a figure, with a heading and a sentence on how to read them."""

    title: str
    lead: str
    tables: tuple[Table, ...]
    closed: bool = False
    """Whether its tables are closed at first, as few readers need them."""


class Finding(str):
    """The findings of one run, in one line after its label."""

    __slots__ = ("claims", "run", "sentences")
    run: int
    sentences: str
    claims: tuple[Claim, ...]
    """The claims that the sentences state; empty: none."""

    def __new__(cls, run: int, label: str, sentences: str, claims: Sequence[Claim] = ()) -> Self:
        made = super().__new__(cls, f"{label}: {sentences}")
        made.run, made.sentences, made.claims = run, sentences, tuple(claims)
        return made


@dataclass(frozen=True)
class Section:
    """A part of the page under one heading."""

    id: str
    title: str
    lead: tuple[str, ...]
    """The findings: one line per run, preferably a `Finding`, or lines on all runs."""
    runs: tuple[int, ...]
    """Indices of the runs shown, for the legend."""
    figures: tuple[Figure, ...]
    exhibits: tuple[Exhibit, ...] = ()
    measured: tuple[str, ...] = ()
    """How it was measured, where several figures share the details."""
    common: tuple[Table, ...] = ()
    """Findings of several runs in the same words, with a row for each run."""


def section_fault(section: object) -> str | None:
    """Return why a section cannot be drawn; None if it can."""
    fault = misfit(section, Section)
    if fault is not None or not isinstance(section, Section):
        return fault
    tables = [table for figure in section.figures for table in figure.tables]
    tables += [table for exhibit in section.exhibits for table in exhibit.tables]
    faults = [table_fault(table) for table in tables]
    faults += [fault for figure in section.figures for fault in _figure_faults(figure, set(section.runs))]
    ids = [section.id, *(figure.id for figure in section.figures)]
    faults += [f"the id {name!r} is given twice" for name, count in Counter(ids).items() if count > 1]
    return next((fault for fault in faults if fault), None)


def _figure_faults(figure: Figure, runs: set[int]) -> Iterator[str]:
    named = f"figure {figure.id!r}"
    if not getattr(figure.chart, "views", (None,)):
        yield f"{named}: its chart has no view"
    if strange := sorted(_runs_of(figure.chart) - runs):
        yield f"{named}: its chart has a line of run {strange[0]}, which is not in the section"
    for buttons in figure.buttons:
        if not 0 <= buttons.pressed < len(buttons.choices):
            yield f"{named}: button {buttons.pressed} of {len(buttons.choices)} is pressed"


def _runs_of(chart: Chart) -> set[int]:
    """Return the runs that a chart of lines or bars draws; empty for other charts."""
    if isinstance(chart, XyChart):
        lines = {line.run for view in chart.views for line in view.lines}
        return lines | {rule.run for view in chart.views for rule in view.rules}
    if isinstance(chart, BarsChart):
        return {bar.run for view in chart.views for group in view.groups for bar in group.bars}
    return set()
