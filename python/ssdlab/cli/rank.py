"""`ssdlab rank` and `ssdlab changes`: one figure of many runs, by drive and over time."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.cli.fitting import fitted, line_width, print_text, short_drive
from ssdlab.cli.flags import Count, Library, RunText
from ssdlab.cli.marks import Letters
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import one_line, print_json, print_line, print_table, say
from ssdlab.cli.runs import Moment, Part, Word
from ssdlab.model.printable import plain_drive
from ssdlab.model.units import change_text, counted, ends_text, figure_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.library.ranking import LeftOut, Ranking

SCHEMA = "ssdlab.rank/1"
SHOWN = 40
_TITLES = ("", "drive", "identifier", "median", "runs", "range", "marks")


def rank(
    figure: str | None = None,
    /,
    *,
    drive: Part = None,
    method: Word = None,
    since: Moment = None,
    tag: Word = None,
    like: RunText = None,
    limit: Count | None = None,
    library: Library = None,
    json: bool = False,
) -> None:
    """Rank drives by a headline figure, best first, by the median of each drive's runs.

    Only comparable runs are ranked: same method and version, parameters, engine, kind of drive, scale, span
    and departures. Quick runs are never ranked with full runs. A variant of a drive is a separate entry;
    differences in spare area or software are noted. Latencies of a depth sweep are ranked only at one depth.
    Unusable figures, such as throttled ones, are not ranked. Runs left out are listed with the reason.

    Parameters
    ----------
    figure
        Name of the figure, such as qd1_random_read_iops, or a part of it that fits only one [default: list
        the library's figures].
    drive
        Only drives with this in their identifier or name.
    method
        Only runs of this method.
    since
        Only runs started since this date, or within this time: 2026-11-01, 7d, 36h.
    tag
        Only runs with this tag.
    like
        Rank the runs comparable with this one [default: the largest comparable group].
    limit
        Maximum drives (default 40; JSON: all).
    json
        Print the ranking, or the names, as JSON, schema ssdlab.rank/1.
    """
    from ssdlab.library.choosing import Choice, since_of
    from ssdlab.library.index import Index
    from ssdlab.library.ranking import rank as ranked

    folder = library_of(library)
    if figure is None:
        with Index(folder) as index:
            _list(index.figures(), folder, json=json)
        return
    choice = Choice(drive, method, tag, None if since is None else since_of(since), "finished")
    run = None if like is None else _folder_of(like, folder)
    with Index(folder) as index:
        found = ranked(index, figure, choice, like=run, limit=limit if json else limit or SHOWN)
    if json:
        left_out = left_out_json(found.left_out)
        print_json({"schema": SCHEMA, "library": str(folder), **asdict(found), "left_out": left_out})
    else:
        _print(found)


def _list(names: Sequence[str], folder: Path, *, json: bool) -> None:
    """Print the figures that can be ranked."""
    if json:
        print_json({"schema": SCHEMA, "library": str(folder), "figures": list(names)})
        return
    for name in names:
        print_line(name)
    if not names:
        print_line(f"{folder}: no finished run has figures")


def _folder_of(run: str, library: Path) -> str:
    from ssdlab.results.store import find_run  # imports the models of runs, which other rankings do not need

    return find_run(run, library).name


def _print(found: Ranking) -> None:
    print_text(f"{found.figure}: {found.label}, {found.better} is better", "bold", "  ")
    print_text(found.common, "dim", "  ")
    letters = Letters(code for line in found.lines for code in line.marks)
    rows = []
    varied = any(", " in plain_drive(line.drive_name) for line in found.lines)  # shown at the end of a name
    for line in found.lines:
        value, low, high = (figure_text(each, found.unit) for each in (line.value, line.min, line.max))
        spread = "" if line.runs == 1 else ends_text(low, high)
        drive = one_line((plain_drive if varied else short_drive)(line.drive_name))
        known = one_line(line.drive_id)
        rows.append(
            (str(line.place), drive, known, value, str(line.runs), spread, letters.of(line.marks, line.runs))
        )
    titles: tuple[str, ...] = _TITLES if any(line.marks for line in found.lines) else _TITLES[:-1]
    table: list[tuple[str, ...]] = [row[: len(titles)] for row in rows]
    for shortened in (("identifier",), ("drive",)) if varied else (("drive", "identifier"),):
        table, titles = fitted(table, titles, line_width(), shortened=shortened)
    print_table(table, titles, right=(0, 3, 4))
    if found.drives > len(found.lines):
        say(f"showing the best {len(found.lines)} of {found.drives} drives; more with --limit")
    letters.print()
    for remark in found.remarks:
        print_text(one_line(remark), indent="  ")
    print_left_out(found.left_out, found.left_out_runs)


def left_out_json(groups: Sequence[LeftOut]) -> list[dict[str, object]]:
    return [
        {
            "runs": each.runs,
            "drives": each.drives,
            "differs": {differs.code: (differs.theirs, differs.ours) for differs in each.differs},
            "why": each.words,
        }
        for each in groups
    ]


def print_left_out(groups: Sequence[LeftOut], runs: int) -> None:
    """Print which runs were left out, and how they differ from the others; `runs` is their total number."""
    from ssdlab.library.ranking import left_out_lines

    for line in left_out_lines(groups, runs):
        print_text(line, indent="  ")


CHANGES_SCHEMA = "ssdlab.changes/1"


def changes(
    figure: str,
    /,
    *,
    drive: Part = None,
    method: Word = None,
    since: Moment = None,
    tag: Word = None,
    like: RunText = None,
    library: Library = None,
    json: bool = False,
) -> None:
    """Find where a figure changed in a series of runs of one drive, such as nightly runs.

    It needs ten comparable runs, at least five on each side of a change. Method: E-divisive (Matteson and
    James, 2014), with a permutation test at 0.05. It gives no verdict: use `compare` as a gate.

    Parameters
    ----------
    figure
        Name of the figure, or a part of the name that matches no other figure.
    drive
        Only drives with this in their identifier or name.
    method
        Only runs of this method.
    since
        Only runs started since this date, or within this time: 2026-11-01, 7d, 36h.
    tag
        Only runs with this tag.
    like
        Use the runs comparable with this one [default: the largest comparable group].
    json
        Print series and changes as JSON, schema ssdlab.changes/1.
    """
    from ssdlab.library.choosing import Choice, since_of
    from ssdlab.library.index import Index
    from ssdlab.library.trend import trend
    from ssdlab.results.store import find_run

    folder = library_of(library)
    choice = Choice(drive, method, tag, None if since is None else since_of(since), "finished")
    run = None if like is None else find_run(like, folder).name
    with Index(folder) as index:
        found = trend(index, figure, choice, like=run)
    if json:
        left_out = left_out_json(found.left_out)
        print_json({"schema": CHANGES_SCHEMA, "library": str(folder), **asdict(found), "left_out": left_out})
        return
    print_line(f"{found.figure}, {found.better} is better", "bold")
    rows = []
    for each in found.series:
        for change in each.changes:
            before, after = (figure_text(value, found.unit) for value in (change.before, change.after))
            share = change_text(change.share)
            rows.append((each.drive_name, each.drive_id, each.runs[change.at], before, after, share))
    if rows:
        print_table(rows, ("drive", "identifier", "since run", "before", "after", "change"))
    looked = [each for each in found.series if each.enough]
    if looked and not rows:
        print_line("no change found")
    for each in found.series:
        words = "series" if each.enough else "too few runs (needs ten)"
        marked = f", {each.marked}" if each.marked else ""
        runs = counted(len(each.runs), "run")
        print_text(f"{words}: {each.drive_name} ({each.drive_id}), {runs}{marked}", indent="  ")
    print_left_out(found.left_out, found.left_out_runs)
