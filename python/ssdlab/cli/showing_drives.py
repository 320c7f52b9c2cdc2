"""Several drives in the terminal: their figures side by side, a column for each drive."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ssdlab.cli.output import print_line, print_table
from ssdlab.methods.results.kinds import SUITE
from ssdlab.methods.results.outcome import read_result
from ssdlab.model.units import figure_text
from ssdlab.results.metric import labelled
from ssdlab.results.numbers import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ssdlab.results.run_folder import RunFolder

_COLUMNS = 6
"""Drives in one table; those after them follow in another."""


class _Figure(NamedTuple):
    """A figure of one part: what names it in every drive's column, and what is the matter with it."""

    part: str
    name: str
    label: str
    value: float
    unit: str
    state: str

    @property
    def text(self) -> str:
        """The figure in words, with its state."""
        return labelled(figure_text(self.value, self.unit), self.state)


def only_run(suite: RunFolder) -> RunFolder:
    """Return the run of a drive's suite where it has one alone, which has all to be read; else the suite."""
    from ssdlab.runs.suites.outcome import finished_children

    runs = finished_children(suite.path.parent, suite.manifest.children)
    return runs[0] if len(runs) == 1 else suite


def print_beside(suites: Mapping[str, RunFolder]) -> None:
    """Print the headline figures of several drives, by what each drive is called, in one table."""
    rows = _beside(suites)
    if not rows:
        return
    several = len({part for part, _ in rows}) > 1
    drives = list(suites)
    for first in range(0, len(drives), _COLUMNS):
        shown = drives[first : first + _COLUMNS]
        print_line()
        print_table(
            [
                _row(own, [own[drive].text if drive in own else NOTHING for drive in shown], several)
                for own in rows.values()
            ],
            ("figure", *shown),
            right=range(1, len(shown) + 1),
        )


def beside_json(suites: Mapping[str, RunFolder]) -> list[dict[str, object]]:
    """Return the same as JSON has it: for each figure the value of every drive that has it."""
    return [
        {
            "part": part,
            "figure": name,
            "label": _first(own).label,
            "unit": _first(own).unit,
            "drives": {drive: {"value": each.value, "state": each.state} for drive, each in own.items()},
        }
        for (part, name), own in _beside(suites).items()
    ]


def _beside(suites: Mapping[str, RunFolder]) -> dict[tuple[str, str], dict[str, _Figure]]:
    """Return by part and name what each drive has of a figure, under what the drive is called."""
    rows: dict[tuple[str, str], dict[str, _Figure]] = {}
    for drive, suite in suites.items():
        for each in _figures(suite):
            rows.setdefault((each.part, each.name), {})[drive] = each
    return rows


def _first(own: Mapping[str, _Figure]) -> _Figure:
    return next(iter(own.values()))


def _row(own: Mapping[str, _Figure], texts: Sequence[str], several: bool) -> tuple[str, ...]:
    figure = _first(own)
    return (f"{figure.part}, {figure.label}" if several else figure.label, *texts)


def _figures(suite: RunFolder) -> Iterator[_Figure]:
    """Yield the headline figures of a drive; of what was repeated the medians."""
    from ssdlab.runs.suites.outcome import finished_children

    result = read_result(suite)
    if result is not None and SUITE.holds(result) and result.repeated:
        for each in result.repeated:
            label = f"{each.label}, median"
            yield _Figure(each.part, each.label, label, each.median, each.unit, each.state)
        return
    parts = {child.run_id: child.part for child in suite.manifest.children}
    for run in finished_children(suite.path.parent, suite.manifest.children):
        found = read_result(run)
        if found is None:
            continue
        for figure in found.scalars:
            if figure.value is not None:
                part = parts[run.path.name]
                yield _Figure(part, figure.name, figure.label, figure.value, figure.unit, figure.state)
