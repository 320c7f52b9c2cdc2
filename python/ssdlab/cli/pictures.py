"""`ssdlab figures`: the charts of runs as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ssdlab.cli.completers import RunName
from ssdlab.cli.flags import Library
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import print_json, print_line
from ssdlab.cli.theme import ThemeFile, themed
from ssdlab.model.errors import UsageError
from ssdlab.model.units import capacity_text

SCHEMA = "ssdlab.figures/1"


def figures(
    *runs: RunName,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    chart: Annotated[tuple[str, ...], Parameter(metavar="NAME")] = (),
    format: Literal["png", "svg", "pdf"] = "png",
    size: Annotated[str | None, Parameter(metavar="WxH")] = None,
    every_view: bool = False,
    name: Annotated[tuple[str, ...], Parameter(metavar="ID=TEXT")] = (),
    theme: ThemeFile = None,
    library: Library = None,
    json: bool = False,
) -> None:
    """Write the charts of one or more runs as self-contained pictures.

    Each has a title, the drives, method, block sizes, depth, version, date and a legend. Only older ssdlab
    pictures of the same name are replaced.

    Parameters
    ----------
    runs
        Run folders, ids or prefixes of ids; a suite includes all its runs.
    output
        Folder to write to; created if missing.
    chart
        Only this chart, by its name in the report: peak-random-read-throughput. May be given several times.
    format
        png, svg (the same bytes for the same runs) or pdf.
    size
        Width and height in pixels [default: the theme's, or 1200x675]; a chart that would be illegible
        becomes taller.
    every_view
        Write every view that the report has a button for, not only the first.
    name
        Name to show for a drive, given by its identifier in the report. May be given several times.
    json
        Print the pictures as JSON, schema ssdlab.figures/1.
    """
    from ssdlab.report import gallery, source
    from ssdlab.report.edition import names_of
    from ssdlab.results.store import find_run
    from ssdlab.results.verifying import doubting

    if not runs:
        raise UsageError("no run is named", "name one or more: ssdlab figures RUN -o pictures")
    pixels = None if size is None else gallery.parse_size(size)
    look = themed(theme)
    folders = [find_run(text, library_of(library)) for text in runs]
    with doubting(folders):
        found = [source.read(folder) for folder in folders]
        kept = []
        for one in gallery.write_pictures(
            found,
            output,
            names=chart,
            kind=format,
            size=pixels,
            every_view=every_view,
            drive_names=names_of(name),
            theme=look,
        ):
            kept.append(one)
            if not json:
                print_line(f"{one.path}: {one.title}, {capacity_text(one.size_bytes)}")
    if json:
        pictures = [
            {"chart": one.name, "title": one.title, "path": str(one.path.absolute()), "bytes": one.size_bytes}
            for one in kept
        ]
        print_json({"schema": SCHEMA, "pictures": pictures})
