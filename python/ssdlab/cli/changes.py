"""`ssdlab changes`: where a figure of a drive changed between runs."""

from __future__ import annotations

from dataclasses import asdict

from ssdlab.cli.fitting import print_text
from ssdlab.cli.flags import Library, RunText
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import print_json, print_line, print_table
from ssdlab.cli.rank import left_out_json, print_left_out
from ssdlab.cli.runs import Moment, Part, Word
from ssdlab.model.units import change_text, counted, figure_text

SCHEMA = "ssdlab.changes/1"


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
    """Find where a figure changed in a series of runs of one drive, such as nightly ones.

    It needs ten comparable runs, at least five on each side of a change. Method: E-divisive (Matteson and
    James, 2014), with a permutation test at 0.05. It gives no verdict: use `compare` as a gate.

    Parameters
    ----------
    figure
        Name of the figure, or a part of it that fits only one.
    drive
        Only drives with this in their identifier or name.
    method
        Only runs of this method.
    since
        Only runs started since: 2026-11-01, 7d, 36h.
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
        print_json({"schema": SCHEMA, "library": str(folder), **asdict(found), "left_out": left_out})
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
