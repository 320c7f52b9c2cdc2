"""`ssdlab fleet report`: the page of all drives of one model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ssdlab.cli.kinds import Serials
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import print_json, print_line, print_table
from ssdlab.cli.runs import Moment, Part, Word
from ssdlab.model.units import capacity_text

SCHEMA = "ssdlab.fleet-report/1"


def report(
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
    model: Part = None,
    method: Word = None,
    since: Moment = None,
    tag: Word = None,
    series: Serials = (),
    library: Path | None = None,
    json: bool = False,
) -> None:
    """Write a page of all drives of one model: their spread, which are unlike the rest, and the likely why.

    Made of the library's catalogue: of each drive the median of its runs that are alike. By host and rack
    where `ssdlab fleet inventory` was taken.

    Parameters
    ----------
    output
        The HTML file to write. An older page of ssdlab is replaced, and nothing else.
    model
        The model, or a part of its name; may be left out where there is one.
    method
        Only runs of this method.
    since
        Only runs begun then or later: 2026-11-01, 7d, 36h.
    tag
        Only runs with this tag.
    series
        Serial of a drive, as the inventories have it, whose interval rows are drawn too. May be repeated.
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    json
        Print the drives that are unlike the rest as JSON, schema ssdlab.fleet-report/1.
    """
    from dataclasses import asdict

    from ssdlab.fleet.page import NO_REASON, fleet_page
    from ssdlab.library.choosing import Choice, since_of
    from ssdlab.library.index import Index
    from ssdlab.report import page

    page.place(output).close()  # before anything is read
    choice = Choice(None, method, tag, None if since is None else since_of(since), "finished")
    with Index(library_of(library)) as index:
        found = fleet_page(index, choice, model, series)
    size_bytes = page.write_text(found.html(), output)
    if json:
        named = [asdict(each) for each in found.named]
        judged = {"figures": found.figures, "judged": found.judged}
        summary = {"path": str(output.absolute()), "bytes": size_bytes, "model": found.model}
        print_json({"schema": SCHEMA, **summary, "drives": found.count, **judged, "unlike": named})
        return
    print_line(found.verdict, "warn" if found.named else None)
    rows = [
        (each.name, each.host, each.unlike[0], "; ".join(each.reasons) or NO_REASON) for each in found.named
    ]
    if rows:
        print_table(rows, ("drive", "host", "in what", "likely reason"))
    print_line(f"{output}: {capacity_text(size_bytes)}")
