"""Selects runs by drive, method, tag, age and status, and lists them, newest first."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ssdlab.library.index import RUN_COLUMNS, Index, Line, catalogue_of
from ssdlab.model.errors import Refused, UsageError, excerpt, raise_shortage, unknown
from ssdlab.model.units import parse_duration
from ssdlab.results.catalogue_files import OPEN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_DAYS = re.compile(r"(\d{1,5}) ?d(ays?)?")


@dataclass(frozen=True)
class Choice:
    """Conditions for selecting runs; None: no condition.

    Attributes
    ----------
    drive
        Part of the drive's identifier or name, ignoring case.
    since
        Earliest start of a run: ISO 8601, UTC.
    """

    drive: str | None = None
    method: str | None = None
    tag: str | None = None
    since: str | None = None
    status: str | None = None

    def where(self) -> tuple[str, list[object]]:
        """Return the conditions as an SQL expression with placeholders, and their values."""
        parts, values = ["true"], list[object]()
        if self.drive is not None:
            parts.append("(contains(lower(drive_id), ?) OR contains(lower(drive_name), ?))")
            values += [self.drive.lower()] * 2
        if self.method is not None:
            parts.append("method = ?")
            values.append(self.method)
        if self.tag is not None:
            parts.append("list_contains(tags, ?)")
            values.append(self.tag)
        if self.since is not None:
            parts.append("created >= ?")
            values.append(self.since)
        if self.status is not None:
            parts.append("status = ?")
            values.append(self.status)
        return " AND ".join(parts), values

    def fits(self, line: Line) -> bool:
        """Whether a run that is not in the SQL tables meets the conditions."""
        drive = (self.drive or "").lower()
        return (
            any(drive in str(line[name]).lower() for name in ("drive_id", "drive_name"))
            and self.method in (None, line["method"])
            and (self.tag is None or self.tag in line["tags"])
            and (self.since is None or line["created"] >= self.since)
            and self.status in (None, line["status"])
        )


def since_of(text: str, now: datetime | None = None) -> str:
    """Return the time that `--since` means: a date, a date and time (UTC), or an age such as 36h or 7d.

    >>> since_of("2026-11-01")
    '2026-11-01'

    Raises
    ------
    UsageError
        The text is neither a date nor an age.
    """
    now = now or datetime.now(UTC)
    if days := _DAYS.fullmatch(text):
        return _stamp(now - timedelta(days=int(days[1])))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        pass
    else:
        if len(text) == len("2026-11-01"):
            return text
        return _stamp(moment.astimezone(UTC) if moment.tzinfo else moment)
    try:
        age_ns = parse_duration(text)
    except UsageError as error:
        raise UsageError(
            f"--since {excerpt(text)} is neither a date nor an age", "give one such as 2026-11-01, 7d or 36h"
        ) from error
    return _stamp(now - timedelta(microseconds=age_ns / 1000))


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S")


@dataclass(frozen=True)
class Listing:
    """The runs of a library that match a choice.

    Attributes
    ----------
    runs
        The newest of them, newest first, with `RUN_COLUMNS` of each.
    total
        Number of matching runs.
    unreadable
        Folders of unfinished runs that are damaged or from a newer ssdlab, with the reason.
    parts
        Numbers of compared drives and of runs in each listed suite, by the suite's run id.
    """

    runs: tuple[Line, ...]
    total: int
    unreadable: tuple[tuple[str, str], ...]
    parts: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def list_runs(library: Path, choice: Choice, limit: int | None = None, *, folded: bool = False) -> Listing:
    """Return the matching runs, at most `limit` of them.

    With `folded`, a run that is part of another matching run is left out.

    Raises
    ------
    UsageError
        No run has that method or tag; the error names the nearest.
    Refused
        The catalogue is damaged.
    """
    unfinished, unreadable = _unfinished(library)
    with Index(library) as index:
        _check(choice, index, unfinished)
        where, values = choice.where()
        chosen = [line for line in unfinished if choice.fits(line)]
        if folded:
            chosen, where, values = _tops(chosen, where, values)
        (total,) = index.ask(f"SELECT count(*) FROM runs WHERE {where}", values)[0]
        names = ", ".join(RUN_COLUMNS)
        cut = "" if limit is None else f"LIMIT {limit}"
        found = index.ask(
            f"SELECT {names} FROM runs WHERE {where} ORDER BY created DESC, folder DESC {cut}", values
        )
        finished = [dict(zip(RUN_COLUMNS, line, strict=True)) for line in found]
        entered = {line["folder"] for line in finished}
        chosen = [line for line in chosen if line["folder"] not in entered]
        both = sorted([*finished, *chosen], key=lambda line: (line["created"], line["folder"]), reverse=True)
        parts = _parts(index, unfinished, [line["run_id"] for line in both[:limit]]) if folded else {}
    return Listing(tuple(both[:limit]), total + len(chosen), tuple(unreadable), parts)


def _tops(unfinished: list[Line], where: str, values: list[object]) -> tuple[list[Line], str, list[object]]:
    """Exclude runs that are part of another matching run.

    Returns the remaining unfinished runs, and an SQL condition with its values for the finished ones.
    """
    open_ones = [line["run_id"] for line in unfinished]
    tops = [line for line in unfinished if line["suite"] not in open_ones]
    marks = ", ".join("?" * len(open_ones)) or "''"
    within = f"suite <> '' AND (suite IN (SELECT run_id FROM runs WHERE {where}) OR suite IN ({marks}))"
    return tops, f"{where} AND NOT ({within})", [*values, *values, *open_ones]


def _parts(index: Index, unfinished: list[Line], suites: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the numbers of drives and of parts in the library, by run id of each suite."""
    below: dict[str, list[str]] = {}

    def look(suites: Sequence[str]) -> list[str]:
        marks = ", ".join("?" * len(suites)) or "''"
        finished = index.ask(
            f"SELECT suite, run_id FROM runs WHERE suite IN ({marks}) AND suite <> ''", suites
        )
        others = [(line["suite"], line["run_id"]) for line in unfinished if line["suite"] in suites]
        for suite, run_id in dict.fromkeys([*finished, *others]):
            below.setdefault(suite, []).append(run_id)
        return [run_id for suite in suites for run_id in below.get(suite, ())]

    look(look(suites))
    found = {}
    for suite in suites:
        drives = [each for each in below.get(suite, ()) if each in below]
        parts = sum(len(below.get(each, (each,))) for each in below.get(suite, ()))
        if parts:
            found[suite] = (len(drives), parts)
    return found


def _check(choice: Choice, index: Index, unfinished: list[Line]) -> None:
    if choice.tag is not None:
        tags = {*index.tags(), *(tag for line in unfinished for tag in line["tags"])}
        if choice.tag not in tags:
            elsewhere = "" if tags else "no run has a tag yet: ssdlab tag RUN WORD"
            raise unknown("tag", choice.tag, sorted(tags), elsewhere=elsewhere)
    if choice.method is not None:
        methods = {name for (name,) in index.ask("SELECT DISTINCT method FROM runs")}
        methods |= {line["method"] for line in unfinished}
        if choice.method not in methods:
            elsewhere = "" if methods else "the library has no run yet"
            raise unknown("method", choice.method, sorted(methods), elsewhere=elsewhere)


def _unfinished(library: Path) -> tuple[list[Line], list[tuple[str, str]]]:
    """Return the unfinished runs in their present state, and the folders that cannot be read."""
    held = catalogue_of(library)
    if held is None:
        return [], []
    try:
        with held, held.folder(OPEN) as unfinished:
            names = [name for name in unfinished.names() if not name.startswith(".")]
    except FileNotFoundError:
        return [], []
    if not names:
        return [], []
    from ssdlab.results.run_folder import MANIFEST  # imports the models, which most listings do not need

    found, unreadable = [], []
    for name in names:
        folder = library / name
        if not (folder / MANIFEST).is_file():  # removed by hand
            continue
        try:
            found.append(_line(folder))
        except (Refused, OSError) as error:
            raise_shortage(error)
            unreadable.append((name, error.what if isinstance(error, Refused) else str(error)))
    return found, unreadable


def _line(folder: Path) -> Line:
    from ssdlab.results.catalogue_row import row_of
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.results.store import actual_status

    run = RunFolder(folder)
    row = row_of(run, run.manifest.seal_state).model_dump(include=set(RUN_COLUMNS))
    return row | {"status": actual_status(folder, run.manifest), "tags": list(row["tags"])}
