"""Several drives in the terminal: their figures side by side, a column for each drive."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ssdlab.cli.output import print_line, print_table
from ssdlab.methods.results.figure_state import labelled, state_of
from ssdlab.methods.results.kinds import SUITE
from ssdlab.methods.results.outcome import read_result
from ssdlab.model.units import figure_text
from ssdlab.results.numbers import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ssdlab.results.run_folder import RunFolder

_COLUMNS = 6
"""Drives in one table; those after them follow in another."""


class _Figure(NamedTuple):
    """A figure of one part: what names it in every drive's column, and what is told of it."""

    part: str
    name: str
    label: str
    text: str


def only_run(suite: RunFolder) -> RunFolder:
    """Return the run of a drive's suite where it has one alone, which has all to be read; else the suite."""
    from ssdlab.runs.suites.outcome import finished_children

    runs = finished_children(suite.path.parent, suite.manifest.children)
    return runs[0] if len(runs) == 1 else suite


def print_beside(suites: Mapping[str, RunFolder]) -> None:
    """Print the headline figures of several drives, by what each drive is called, in one table."""
    found = {drive: list(_figures(suite)) for drive, suite in suites.items()}
    rows = {(each.part, each.name): each for figures in found.values() for each in figures}
    if not rows:
        return
    several = len({part for part, _ in rows}) > 1
    texts = {drive: {(each.part, each.name): each.text for each in own} for drive, own in found.items()}
    drives = list(found)
    for first in range(0, len(drives), _COLUMNS):
        shown = drives[first : first + _COLUMNS]
        print_line()
        print_table(
            [
                _row(each, [texts[drive].get(key, NOTHING) for drive in shown], several)
                for key, each in rows.items()
            ],
            ("figure", *shown),
            right=range(1, len(shown) + 1),
        )


def _row(figure: _Figure, texts: Sequence[str], several: bool) -> tuple[str, ...]:
    return (f"{figure.part}, {figure.label}" if several else figure.label, *texts)


def _figures(suite: RunFolder) -> Iterator[_Figure]:
    """Yield the headline figures of a drive; of what was repeated the medians."""
    from ssdlab.runs.suites.outcome import finished_children

    result = read_result(suite)
    if result is not None and SUITE.holds(result) and result.repeated:
        for each in result.repeated:
            yield _Figure(
                each.part, each.label, f"{each.label}, median", _text(each.median, each.unit, each.state)
            )
        return
    parts = {child.run_id: child.part for child in suite.manifest.children}
    for run in finished_children(suite.path.parent, suite.manifest.children):
        found = read_result(run)
        if found is None:
            continue
        for figure in found.scalars:
            if figure.value is not None:
                text = _text(figure.value, figure.unit, state_of(found, figure))
                yield _Figure(parts[run.path.name], figure.name, figure.label, text)


def _text(value: float, unit: str, state: str) -> str:
    return labelled(figure_text(value, unit), state)
