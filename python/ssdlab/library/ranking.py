"""Ranking drives by one headline figure: only among runs that are alike, and with what was left out.

Alike are runs that have all of `LIKE` in common. Of the groups that this makes one is ranked: that of a run
which was named, else the one with the most drives, then the most runs, then the newest run. A drive's figure
is the median of its runs. As on a report's page, latencies are alike only where they were taken at one depth
(`Scalar.taken_at`), and a figure that does not show the drive in the state that it is named after
(`Scalar.unshown`: it was not shown, or heat or the host limited it) is never ranked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdlab.analysis.places import places
from ssdlab.model.errors import UsageError
from ssdlab.model.units import fixed_share_text
from ssdlab.results.basis import taken_apart
from ssdlab.results.catalogue_columns import LIKE, LIKE_FIGURES
from ssdlab.results.host_part import HOST_LIMITED
from ssdlab.results.io_faults import FAILED_IO
from ssdlab.results.warned_steps import PAUSED, THROTTLED

if TYPE_CHECKING:
    from ssdlab.library.choosing import Choice
    from ssdlab.library.index import Columns, Index

GROUPS_NAMED = 12
"""So many groups that were left out are described; the rest are counted."""
_WORDS = {
    "method": "method",
    "version": "method version",
    "settings": "parameters",
    "quick": "quick",
    "engine": "engine",
    "drive_kind": "kind of drive",
    "scale": "scale",
    "spare": "spare",
    "variant": "variant",
    "departures": "departures",
    "meter": "meter",
}
UNSHOWN = "unshown"
METER = "meter"
TAKEN_AT = "taken_at"
_KEY = (*LIKE, *LIKE_FIGURES)
"""What parts the groups."""


@dataclass(frozen=True)
class Ranked:
    """A drive's place, from 1; drives that are level share one. The median of its runs, and their range."""

    place: int
    drive_id: str
    drive_name: str
    value: float
    runs: int
    min: float
    max: float
    newest: str


@dataclass(frozen=True)
class LeftOut:
    """Runs that have the figure and are not like those that were ranked."""

    runs: int
    drives: int
    differs: dict[str, tuple[Any, Any]]
    """By field of `LIKE` or `LIKE_FIGURES`: what they have, and what the ranked ones have."""

    @property
    def words(self) -> str:
        """What they are that the ranked ones are not."""
        return "; ".join(difference(name, theirs, ours) for name, (theirs, ours) in self.differs.items())


@dataclass(frozen=True)
class Ranking:
    """Drives by one figure, best first.

    Attributes
    ----------
    figure, label, unit, better
        The figure; `better` is higher or lower.
    like
        What all ranked runs have in common, by field of `LIKE`, the meter of a figure of power, and the load
        that a latency was taken at.
    lines
        The drives; at most as many as were asked for.
    drives
        How many there are in all.
    left_out
        Groups of other runs with that figure, largest first, at most `GROUPS_NAMED`.
    left_out_runs
        How many runs were left out in all.
    """

    figure: str
    label: str
    unit: str
    better: str
    like: Columns
    lines: tuple[Ranked, ...]
    drives: int
    left_out: tuple[LeftOut, ...]
    left_out_runs: int


def rank(
    index: Index, figure: str, choice: Choice, *, like: str | None = None, limit: int | None = None
) -> Ranking:
    """Rank drives by a figure.

    Parameters
    ----------
    index
        The library's catalogue.
    figure
        Name of a headline figure, or a part of one name alone.
    choice
        Which runs are meant at all.
    like
        Folder name of a run: those like it are ranked.
    limit
        At most so many drives.

    Raises
    ------
    UsageError
        There is no such figure or tag, no run that was asked for has it, or shows its state, or `like` has
        not.
    """
    group = alike(index, figure, choice, like)
    figure, ours = group.figure, group.ours
    direction = "DESC" if ours["better"] == "higher" else "ASC"
    cut = "" if limit is None else f"LIMIT {limit}"
    found = index.ask(
        f"SELECT drive_id, drive_name, middle, runs, low, high, folder "
        f"FROM {group.standings} WHERE name = ? AND kin = ? ORDER BY middle {direction}, drive {cut}",
        [figure, ours["kin"]],
    )
    return Ranking(
        figure=figure,
        label=ours["label"],
        unit=ours["unit"],
        better=ours["better"],
        like={name: ours[name] for name in (*LIKE, METER, TAKEN_AT)},
        lines=tuple(
            Ranked(place, *line)
            for place, line in zip(places([line[2] for line in found]), found, strict=True)
        ),
        drives=ours["drives"],
        left_out=group.left_out,
        left_out_runs=group.left_out_runs,
    )


@dataclass(frozen=True)
class Group:
    """Runs that are alike and have a figure, as SQL over `entries`; what they are, and what was left out."""

    figure: str
    standings: str
    """Table of the standings of that figure; see `Index.standings`."""
    where: str
    values: list[object]
    ours: Columns
    others: list[Columns]

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The other groups, largest first, at most `GROUPS_NAMED`, each with what it is otherwise."""
        return tuple(
            LeftOut(each["runs"], each["drives"], differences(each, self.ours))
            for each in self.others[:GROUPS_NAMED]
        )

    @property
    def left_out_runs(self) -> int:
        """How many runs the other groups have."""
        return sum(each["runs"] for each in self.others)


def alike(index: Index, figure: str, choice: Choice, like: str | None = None) -> Group:
    """Return the runs of one group; arguments and errors are those of `rank`."""
    if choice.tag is not None:
        index.tag(choice.tag)
    more, given = choice.where(index)
    standings = index.standings(figure, more, given)
    groups = _groups(index, standings, figure)
    if not groups:  # only then are all names looked at
        figure = index.figure(figure)
        standings = index.standings(figure, more, given)
        groups = _groups(index, standings, figure)
    if not groups:
        raise UsageError(f"no run that was asked for has the figure {figure}", "leave a condition out")
    ours = groups[0] if like is None else _group_of(index, figure, like, groups)
    if ours[UNSHOWN]:
        raise _nothing_shown(index, figure, [ours] if like else groups)
    others = [group for group in groups if group is not ours]
    ours |= index.what_it_is(figure, ours["example"])
    where = f"name = ? AND value IS NOT NULL AND isfinite(value) AND {more} AND kin = ?"
    return Group(figure, standings, where, [figure, *given, ours["kin"]], ours, others)


def _nothing_shown(index: Index, figure: str, groups: Sequence[Columns]) -> UsageError:
    """Return the refusal to rank by a figure whose state no run shows."""
    runs = sum(group["runs"] for group in groups)
    states = ", ".join(dict.fromkeys(group[UNSHOWN] for group in groups))
    return UsageError(
        f"{figure} is not ranked: of {runs} run{'' if runs == 1 else 's'} that have it none shows the drive "
        f"in the state that it is named after ({states})",
        "; ".join(dict.fromkeys(_until_shown(index, group) for group in groups)),
        figure=figure,
    )


def _until_shown(index: Index, group: Columns) -> str:
    """Return what to do: only a quick run is told to leave `--quick` out."""
    state = str(group[UNSHOWN])
    if state.startswith(HOST_LIMITED):
        return "measure with fewer threads, or on a host that does less beside it"
    if state == THROTTLED:
        return "measure with the drive cooled"
    if state == FAILED_IO:
        return "see the kernel log and the drive's health: ssdlab show names the steps"
    if state == PAUSED:
        return "measure again without a stop, on a host that stays awake"
    query = "SELECT quick FROM entries WHERE folder = ? LIMIT 1"
    if index.ask(query, [group["example"]]) == [(True,)]:
        return "measure until it is shown: without --quick"
    return "measure for longer, until it is shown"


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return in what of `LIKE` and `LIKE_FIGURES` two runs or groups differ, with what each has."""
    return {name: (one[name], other[name]) for name in _KEY if one[name] != other[name]}


def difference(name: str, theirs: object, ours: object) -> str:
    """Return a difference in words: ``scale 4, not 1``."""
    if name == "quick":
        return "quick" if theirs else "not quick"
    if name == TAKEN_AT:
        return taken_apart((str(theirs or ""), str(ours or "")))
    if name == UNSHOWN:
        return str(theirs) if theirs else f"shown, not {ours}"
    return f"{_WORDS[name]} {_shown(name, theirs)}, not {_shown(name, ours)}"


def _shown(name: str, value: object) -> str:
    if value in ("", None):
        return "the drive's own" if name == "spare" else "none" if name != "settings" else "the preset's"
    if name == "spare" and isinstance(value, float):
        return fixed_share_text(value)
    return str(value)


def _groups(index: Index, standings: str, figure: str) -> list[Columns]:
    """Return the groups of runs that are alike, that to be ranked first; those not shown come last."""
    found = index.ask(
        "SELECT kin, sum(runs)::BIGINT AS runs, count(*) AS drives, max(newest) AS newest, "
        f"any_value(folder) AS example, any_value(unshown) AS {UNSHOWN}, any_value(meter) AS {METER}, "
        f"any_value(taken_at) AS {TAKEN_AT} "
        f"FROM {standings} WHERE name = ? GROUP BY kin "
        "ORDER BY any_value(unshown) IS NOT NULL, drives DESC, runs DESC, newest DESC",
        [figure],
    )
    names = ("kin", "runs", "drives", "newest", "example", UNSHOWN, METER, TAKEN_AT)
    groups = [dict(zip(names, line, strict=True)) for line in found]
    like = index.what_is_alike([group["example"] for group in groups])
    return [group | like[group["example"]] for group in groups]


def _group_of(index: Index, figure: str, run: str, groups: list[Columns]) -> Columns:
    """Return the group that a run belongs to."""
    found = index.ask(
        f"SELECT {', '.join(_KEY)} FROM {index.source} WHERE folder = ? AND name = ?", [run, figure]
    )
    for group in groups:
        if found and tuple(group[name] for name in _KEY) == found[0]:
            return group
    raise UsageError(
        f"no run that was asked for has the figure {figure} and is like {run}",
        "leave --like out, or name another run",
    )
