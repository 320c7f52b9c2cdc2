"""Finds runs at which a drive's figure changed, for example in nightly runs across a firmware update."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.library.ranking import alike
from ssdlab.results.kin import MARKS, counted_codes, counted_words

if TYPE_CHECKING:
    from ssdlab.analysis.change_points import Change
    from ssdlab.library.choosing import Choice
    from ssdlab.library.index import Index
    from ssdlab.library.ranking import LeftOut

SERIES_MAX = 400
"""Maximum number of runs to consider, the newest: computing time grows with the square of their number."""


@dataclass(frozen=True)
class Series:
    """The comparable runs of one drive, oldest first, and where their figure changed.

    Attributes
    ----------
    marks
        For each run, the codes of qualifiers that do not forbid ranking; None: none.
    changes
        The changes, each with the index of the first run after it.
    enough
        Whether there are enough runs to find a change.
    """

    drive_id: str
    drive_name: str
    runs: tuple[str, ...]
    created: tuple[str, ...]
    values: tuple[float, ...]
    marks: tuple[str | None, ...]
    changes: tuple[Change, ...]
    enough: bool

    @property
    def marked(self) -> str:
        """The labels of all marks, each with its number of runs; empty: none."""
        return counted_words(counted_codes(self.marks), len(self.runs))


@dataclass(frozen=True)
class Trend:
    """One figure's series of each drive; `left_out` says why `left_out_runs` runs are not comparable."""

    figure: str
    unit: str
    better: str
    series: tuple[Series, ...]
    left_out: tuple[LeftOut, ...]
    left_out_runs: int


def trend(index: Index, figure: str, choice: Choice, *, like: str | None = None) -> Trend:
    """Find changes of a figure in each drive's comparable runs.

    Raises
    ------
    UsageError
        There is no such figure or tag, or no matching run has the figure.
    """
    from ssdlab.analysis.change_points import STRETCH_MIN, change_points

    group = alike(index, figure, choice, like, verb="checked for changes")
    index.narrow(group.figure)
    found = index.ask(
        "SELECT drive_id, any_value(drive_name), list(folder ORDER BY created, folder), "
        "list(created ORDER BY created, folder), list(value ORDER BY created, folder), "
        f"list({MARKS} ORDER BY created, folder) "
        f"FROM {index.source} WHERE {group.where} AND value > 0 "
        "GROUP BY drive, drive_id ORDER BY drive_id, 2",
        group.values,
    )
    series = []
    for drive_id, name, *columns in found:
        runs, created, values, marks = (tuple(column[-SERIES_MAX:]) for column in columns)
        enough = len(values) >= 2 * STRETCH_MIN
        changes = change_points(values) if enough else ()
        series.append(Series(drive_id, name, runs, created, values, marks, changes, enough))
    ours = group.ours
    return Trend(
        group.figure, ours["unit"], ours["better"], tuple(series), group.left_out, group.left_out_runs
    )
