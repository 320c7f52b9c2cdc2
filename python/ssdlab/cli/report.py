"""`ssdlab report`: the page of one or more finished runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ssdlab.cli.output import print_json, print_line
from ssdlab.model.errors import UsageError
from ssdlab.model.units import capacity_text

SCHEMA = "ssdlab.report/1"


def report(
    *runs: str,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    claims: Annotated[Path | None, Parameter(metavar="FILE")] = None,
    library: Path | None = None,
    json: bool = False,
) -> None:
    """Write the report page of one or more runs: one HTML file that holds everything and loads nothing.

    Several runs are compared on one page; each drive keeps its colour.

    Parameters
    ----------
    runs
        Run folders, or ids or their beginnings; a suite brings all its runs.
    output
        The HTML file to write. An older page of ssdlab is replaced, and nothing else.
    claims
        A file of your own sentences, with figure and bound: marked true, false or not measured.
    library
        Folder of runs in which ids are looked up; by default ssdlab/runs in the XDG data folder.
    json
        Print path, size and runs of the page as JSON.
    """
    from ssdlab.host.documents import user_path
    from ssdlab.report import page, source
    from ssdlab.report.claims import read_claims
    from ssdlab.results.doubt import doubting
    from ssdlab.results.store import default_library, find_run

    if not runs:
        raise UsageError("no run is named", "name one or more: ssdlab report RUN -o drive.html")
    stated = () if claims is None else read_claims(user_path(claims))
    page.place(output).close()  # before anything is read
    folders = [find_run(text, library or default_library()) for text in runs]
    with doubting(folders):
        found = [source.read(folder) for folder in folders]
        size_bytes = page.write(found, output, stated)
    ids = [run.manifest.run_id for run in found]
    if json:
        print_json({"schema": SCHEMA, "path": str(output.absolute()), "bytes": size_bytes, "runs": ids})
    else:
        print_line(f"{output}: {capacity_text(size_bytes)}, {', '.join(ids)}")
