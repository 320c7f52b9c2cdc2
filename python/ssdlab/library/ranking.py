"""Ranks drives by one headline figure, among comparable runs only.

`results.kin` defines which runs are comparable. A variant of a drive is a separate entry. One group of
comparable runs is ranked: that of a named run, or else the one with the most entries, then the most runs,
then the newest run. The other groups are reported as left out.

A drive's figure is the median of its runs. Its variation is the largest variation of a run, or the range of
the runs if that is larger. Drives that differ by less are tied. A figure with a qualifier that forbids
ranking is never ranked.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ssdlab.analysis.places import places
from ssdlab.model.errors import UsageError
from ssdlab.model.printable import plain_drive
from ssdlab.model.units import counted, ends_text, figure_text
from ssdlab.results.kin import (
    ALIKE,
    MARKS,
    OF_AN_ENTRY,
    OF_FIGURES,
    UNFIT,
    VARIES,
    apart,
    codes_of,
    counted_codes,
    counted_words,
    labels_of,
    meanings,
    measured_with,
    more_spare,
    span_text,
    unfit_of,
)
from ssdlab.results.qualifiers import CATALOGUE, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.library.choosing import Choice
    from ssdlab.library.index import Index, Line
    from ssdlab.results.kin import Incomparable

GROUPS_NAMED = 12
"""Maximum number of left-out groups that are described; further ones are counted."""


@dataclass(frozen=True)
class Ranked:
    """A drive's place from 1, shared by tied drives, with the median and range of its runs."""

    place: int
    drive_id: str
    drive_name: str
    value: float
    runs: int
    min: float
    max: float
    newest: str
    varies: float | None = None
    """Variation of the figure, in its unit; None: unknown."""
    marks: dict[str, int] = field(default_factory=dict)
    """Number of runs with each qualifier that does not forbid ranking, by code."""
    spare: float | None = None
    """Requested spare share; None: the drive's own."""
    software: tuple[str, ...] = ()
    """Software of the runs; of more than two versions, the first and the last in alphabetical order."""


@dataclass(frozen=True)
class LeftOut:
    """A group of runs that have the figure, but are not comparable with the ranked runs."""

    runs: int
    drives: int
    differs: tuple[Incomparable, ...]

    @property
    def words(self) -> str:
        return "; ".join(each.words for each in self.differs)


@dataclass(frozen=True)
class Ranking:
    """Drives ranked by one figure, best first.

    Attributes
    ----------
    figure, label, unit, better
        The figure's name and description; `better` is higher or lower.
    like
        Common properties of the ranked runs and figures, by name in `kin.ALIKE`.
    lines
        The ranked drives, up to the limit; a variant of a drive has its own line.
    drives
        Number of ranked drives, without the limit.
    left_out
        Groups of other runs with that figure, largest first, at most `GROUPS_NAMED`.
    left_out_runs
        Number of all runs that were left out.
    """

    figure: str
    label: str
    unit: str
    better: str
    like: Line
    lines: tuple[Ranked, ...]
    drives: int
    left_out: tuple[LeftOut, ...]
    left_out_runs: int

    @property
    def common(self) -> str:
        """Common properties of the ranked runs, in words."""
        like = self.like
        words = [f"{like['method']} version {like['version']}", f"engine {like['engine']}"]
        words += ["quick"] if like["quick"] else []
        words += [] if like["scale"] == 1 else [f"scale {like['scale']}"]
        words += [] if like["span"] is None else [f"over {span_text(like['span'])}"]
        words += [f"{name} {like[name]}" for name in ("settings", "departures", "meter") if like[name]]
        words += [f"taken at {like['load']}"] if like["load"] else []
        return ", ".join(words)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on drives with more spare area, and on differences in software."""
        names = [plain_drive(line.drive_name) for line in self.lines]
        named = [
            (name if names.count(name) == 1 else f"{name} ({line.drive_id})", line)
            for name, line in zip(names, self.lines, strict=True)
        ]
        spare = more_spare((name, line.spare) for name, line in named)
        software = measured_with((name, each) for name, line in named for each in line.software)
        return tuple(filter(None, (spare, software)))

    def _repr_html_(self) -> str:
        from ssdlab.model.notebook import table_html

        rows = []
        for line in self.lines:
            value, low, high = (figure_text(each, self.unit) for each in (line.value, line.min, line.max))
            spread = "" if line.runs == 1 else ends_text(low, high)
            marks = counted_words(line.marks, line.runs)
            drive = (str(line.place), line.drive_name, line.drive_id)
            rows.append((*drive, value, str(line.runs), spread, marks))
        more = self.drives - len(self.lines)
        below = [f"{counted(more, 'drive')} more"] if more else []
        below += meanings(code for line in self.lines for code in line.marks)
        return table_html(
            f"{self.figure}: {self.label}, {self.better} is better",
            [self.common],
            ("", "drive", "identifier", "median", "runs", "range", "qualifiers"),
            rows,
            [*below, *self.remarks, *left_out_lines(self.left_out, self.left_out_runs)],
            words=(1, 2, 5, 6),
        )


def left_out_lines(groups: Sequence[LeftOut], runs: int) -> list[str]:
    """Return a line for each group that was left out, with its differences.

    `runs` is the number of runs in all groups, including groups that are not given.
    """
    lines = [
        f"left out: {counted(each.runs, 'run')} of {counted(each.drives, 'drive')}: {each.words}"
        for each in groups
    ]
    rest = runs - sum(each.runs for each in groups)
    return [*lines, f"left out: {counted(rest, 'run')} more, each with other differences"] if rest else lines


def rank(
    index: Index, figure: str, choice: Choice, *, like: str | None = None, limit: int | None = None
) -> Ranking:
    """Rank drives by a figure.

    Parameters
    ----------
    index
        The library's catalogue.
    figure
        Name of a headline figure, or a part of only one name.
    choice
        Conditions that all runs must meet.
    like
        Folder name of a run: runs comparable with it are ranked.
    limit
        Maximum number of drives.

    Raises
    ------
    UsageError
        There is no such figure or tag, or no matching run can be ranked, or `like` cannot.
    """
    group = alike(index, figure, choice, like)
    figure, ours = group.figure, group.ours
    direction = "DESC" if ours["better"] == "higher" else "ASC"
    cut = "" if limit is None else f"LIMIT {limit}"
    found = index.ask(
        f"SELECT drive_id, drive_name, middle, runs, low, high, folder, {VARIES}, {MARKS}, spare, software "
        f"FROM {group.standings} WHERE name = ? AND kin = ? ORDER BY middle {direction}, drive {cut}",
        [figure, ours["kin"]],
    )
    found_places = places([line[2] for line in found], [line[7] for line in found])
    lines = tuple(
        replace(
            Ranked(place, *line),
            marks=counted_codes(marks or ()),
            spare=spare,
            software=tuple(sorted(software)),
        )
        for place, (*line, marks, spare, software) in zip(found_places, found, strict=True)
    )
    return Ranking(
        figure=figure,
        label=ours["label"],
        unit=ours["unit"],
        better=ours["better"],
        like={name: ours[name] for name in ALIKE if name != UNFIT},
        lines=lines,
        drives=ours["drives"],
        left_out=group.left_out,
        left_out_runs=group.left_out_runs,
    )


@dataclass(frozen=True)
class Group:
    """A group of comparable runs with a figure, and the groups that are left out.

    `where` and `values` select its rows of `entries`. `ours` and `others` are rows from `_groups`.
    """

    figure: str
    standings: str
    """Name of the table with the figure's standings; see `Index.standings`."""
    where: str
    values: list[object]
    ours: Line
    others: list[Line]

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The other groups with their differences, largest first, at most `GROUPS_NAMED`."""
        return tuple(
            LeftOut(each["runs"], each["drives"], apart(each, self.ours, but=OF_AN_ENTRY))
            for each in self.others[:GROUPS_NAMED]
        )

    @property
    def left_out_runs(self) -> int:
        return sum(each["runs"] for each in self.others)


def alike(
    index: Index, figure: str, choice: Choice, like: str | None = None, *, verb: str = "ranked"
) -> Group:
    """Return the group of comparable runs to rank; arguments and errors are those of `rank`.

    `verb` is the purpose, for error messages.
    """
    if choice.tag is not None:
        index.tag(choice.tag)
    more, given = choice.where()
    standings = index.standings(figure, more, given)
    groups = _groups(index, standings, figure)
    if not groups:  # the text may be a part of a name, which takes a search of all names
        figure = index.figure(figure)
        standings = index.standings(figure, more, given)
        groups = _groups(index, standings, figure)
    if not groups:
        raise _none_has(index, figure, more, given, verb)
    ours = groups[0] if like is None else _group_of(index, figure, like, groups)
    if ours[UNFIT]:
        raise _none_fit(figure, [ours] if like else groups, verb)
    others = [group for group in groups if group is not ours]
    ours |= index.what_it_is(figure, ours["example"])
    where = f"name = ? AND value IS NOT NULL AND isfinite(value) AND {more} AND kin = ?"
    return Group(figure, standings, where, [figure, *given, ours["kin"]], ours, others)


def _none_has(index: Index, figure: str, where: str, values: Sequence[object], verb: str) -> UsageError:
    """Return the error for a figure that has no value in any run, and no qualifier that says why."""
    query = f"SELECT count(*) FROM {index.source} WHERE name = ? AND value IS NULL AND {where}"
    ((runs,),) = index.ask(query, [figure, *values])
    if runs:
        return UsageError(f"{figure} cannot be {verb}: {_valueless(runs)}", "ssdlab show RUN says why")
    return UsageError(f"no run that was asked for has the figure {figure}", "drop one of the conditions")


def _valueless(runs: int) -> str:
    return f"it has no value in {counted(runs, 'run')}"


def _none_fit(figure: str, groups: Sequence[Line], verb: str) -> UsageError:
    """Return the error for a figure whose qualifiers forbid ranking in all runs."""
    runs = sum(group["runs"] for group in groups)
    valued = sum(group["valued"] for group in groups)
    found = f"none of {counted(runs, 'run')} qualifies" if valued else _valueless(runs)
    codes = [codes_of(group[UNFIT]) for group in groups]
    labels = labels_of(unfit_of(code for each in codes for code in each))
    return UsageError(
        f"{figure} cannot be {verb}: {found} ({labels})",
        "; ".join(dict.fromkeys(CATALOGUE.get(each[0], CATALOGUE[UNKNOWN]).advice for each in codes)),
        figure=figure,
    )


def _groups(index: Index, standings: str, figure: str) -> list[Line]:
    """Return the groups of comparable runs: the one to rank first, unfit ones last."""
    own = ", ".join(f"any_value({name}) AS {name}" for name in OF_FIGURES)
    found = index.ask(
        "SELECT kin, sum(runs)::BIGINT AS runs, sum(valued)::BIGINT AS valued, count(*) AS drives, "
        "max(newest) AS newest, "
        f"any_value(folder) AS example, {own} FROM {standings} WHERE name = ? GROUP BY kin "
        f"ORDER BY any_value({UNFIT}) IS NOT NULL, drives DESC, runs DESC, newest DESC",
        [figure],
    )
    names = ("kin", "runs", "valued", "drives", "newest", "example", *OF_FIGURES)
    groups = [dict(zip(names, line, strict=True)) for line in found]
    like = index.what_is_alike([group["example"] for group in groups])
    return [group | like[group["example"]] for group in groups]


def _group_of(index: Index, figure: str, run: str, groups: list[Line]) -> Line:
    found = index.ask(
        f"SELECT {', '.join(ALIKE)} FROM {index.source} WHERE folder = ? AND name = ?", [run, figure]
    )
    for group in groups:
        if found and tuple(group[name] for name in ALIKE) == found[0]:
            return group
    raise UsageError(
        f"no run that was asked for has the figure {figure} and is like {run}",
        "leave --like out, or name another run",
    )
