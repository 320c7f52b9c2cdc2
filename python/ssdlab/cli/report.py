"""`ssdlab report`, `figures`, `export` and `theme`: write files from runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from ssdlab.cli.completion import RunName
from ssdlab.cli.flags import Library
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import print_json, print_line, warn
from ssdlab.model.errors import UsageError
from ssdlab.model.printable import unmirrored
from ssdlab.model.units import and_listed, capacity_text, counted

if TYPE_CHECKING:
    from ssdlab.report.claims import UserClaim
    from ssdlab.report.edition import Edition
    from ssdlab.report.sections.claims import Judged
    from ssdlab.report.source import Reported
    from ssdlab.report.theme import Theme

SCHEMA = "ssdlab.report/1"
OVERVIEW_SCHEMA = "ssdlab.overview/1"
EXPORT_SCHEMA = "ssdlab.export/1"
FIGURES_SCHEMA = "ssdlab.figures/1"

ThemeFile = Annotated[
    Path | None,
    Parameter(
        metavar="FILE",
        help="Theme, a TOML file: fonts, logo, colours, sizes. `ssdlab theme` prints one to start from. "
        "[default: that of config.toml, or ours]",
    ),
]


def report(
    *runs: RunName,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    title: Annotated[str, Parameter(metavar="TEXT")] = "",
    name: Annotated[tuple[str, ...], Parameter(metavar="ID=TEXT")] = (),
    text: Annotated[tuple[str, ...], Parameter(metavar="PART=FILE")] = (),
    declaration: Annotated[Path | None, Parameter(metavar="FILE")] = None,
    claims: Annotated[Path | None, Parameter(metavar="FILE")] = None,
    theme: ThemeFile = None,
    pdf: bool = False,
    full: bool = False,
    overview: bool = False,
    library: Library = None,
    json: bool = False,
) -> int:
    """Write the report of one or more runs: one self-contained HTML file.

    Several runs are compared on one page; each drive keeps its colour.

    Parameters
    ----------
    runs
        Run folders, ids or prefixes of ids; a suite includes all its runs.
    output
        File to write [default: RUN.html here]; only an older ssdlab report is replaced.
    title
        Title of the page.
    name
        Name to show for a drive, given by its identifier in the report. May be given several times.
    text
        Markdown text for a chapter (by title), or for a section or chart (by the id in its link). May be
        given several times.
    declaration
        A review's TOML: its title, chapters and tiles replace those of the run.
    claims
        A file of your own claims, each with a figure and a bound. Each is marked true, false or not measured,
        here and on the page. Exit status 1 if a claim is false.
    pdf
        Write a PDF of the open charts instead, each in one unit. Needs Chromium and the extra `figures`.
    full
        Open every chart; in a PDF also every view, table, header and measurement description.
    overview
        For many drives: a page of their headline figures, and a folder with a page for each drive.
    json
        Print path, size and runs of the page as JSON.
    """
    from ssdlab.report import engine

    if not runs:
        raise UsageError("no run is named", "name one or more: ssdlab report RUN -o drive.html")
    engine.ready()  # first, because it loads in the background
    from ssdlab.results import tables

    tables.ready()  # loads in the background too
    from ssdlab.report import page, source
    from ssdlab.results.store import find_run
    from ssdlab.results.verifying import doubting

    edition = replace(_edition(title, name, text, declaration, claims, full=full), theme=themed(theme))
    if pdf and overview:
        raise UsageError(
            "an overview links to other pages and cannot be a PDF", "leave out --pdf or --overview"
        )
    if output is None:
        first = find_run(runs[0], library_of(library))
        output = Path(f"{first.resolve().name}{'.pdf' if pdf else '.html'}")
    _check_name(output, pdf=pdf)
    place, write = page.place, page.write
    if pdf:
        from ssdlab.report import paper

        paper.browser()
        place, write = paper.place, paper.write_pdf
    place(output).close()  # fail now if the file cannot be written
    folders = [find_run(one, library_of(library)) for one in runs]
    if overview:
        _overview(folders, output, edition.theme, json)
        return 0
    with doubting(folders):
        found = [source.read(folder) for folder in folders]
        cut = [run.manifest.run_id for folder, run in zip(folders, found, strict=True) if _ended(folder, run)]
        size_bytes = write(found, output, edition)
    ids, marked = [run.manifest.run_id for run in found], page.marked(found, edition.claims)
    if json:
        facts = {"path": str(output.absolute()), "bytes": size_bytes, "runs": ids, "unfinished": cut}
        print_json({"schema": SCHEMA, **facts, "claims": [_stored(each) for each in marked]})
    else:
        print_line(f"{output}: {capacity_text(size_bytes)}, {', '.join(ids)}")
        for run_id in cut:
            print_line(f"note: run {run_id} did not finish: the page has its completed steps")
        for each in marked:
            print_line(f"{each.mark}: {each.sentence} ({each.figure} {each.bound}; {each.found})")
    return int(any(each.mark == "false" for each in marked))


def _edition(
    title: str,
    names: tuple[str, ...],
    texts: tuple[str, ...],
    declaration: Path | None,
    claims: Path | None,
    *,
    full: bool,
) -> Edition:
    from ssdlab.report.edition import Edition, names_of, review_of, texts_of

    declared, review = ("", {}) if declaration is None else review_of(str(declaration))
    return Edition(
        title=unmirrored(title or declared),
        names=names_of(names),
        texts=texts_of(texts),
        review=review,
        claims=() if claims is None else _stated(claims),
        full=full,
    )


def _stated(file: Path) -> tuple[UserClaim, ...]:
    from ssdlab.host.documents import user_path
    from ssdlab.report.claims import read_claims

    return read_claims(user_path(file))


def _stored(claim: Judged) -> dict[str, str]:
    return {name: getattr(claim, name) for name in ("sentence", "figure", "bound", "mark", "found")}


def _ended(folder: Path, run: Reported) -> bool:
    """Return whether a run ended before its last step, so that it has no result."""
    from ssdlab.results.store import actual_status

    return actual_status(folder, run.manifest) != "finished"


def _check_name(output: Path, *, pdf: bool) -> None:
    """Refuse a file name whose extension contradicts --pdf."""
    other = (".html", ".htm") if pdf else (".pdf",)
    if output.suffix.lower() in other:
        is_one, name = (
            ("a PDF", output.with_suffix(".pdf")) if pdf else ("a page", output.with_suffix(".html"))
        )
        advice = f"name it {name}, or leave out --pdf" if pdf else f"name it {name}, or add --pdf"
        raise UsageError(f"the output is {is_one}, but {output} has another extension", advice)


def _overview(folders: list[Path], output: Path, theme: Theme | None, json: bool) -> None:
    from ssdlab.report.overview import write_overview
    from ssdlab.results.verifying import doubting

    pages = []
    with doubting(folders):
        for one in write_overview(folders, output, theme):
            pages.append({"path": str(one.path.absolute()), "bytes": one.size_bytes, "runs": one.runs})
            if not json:
                print_line(f"{one.path}: {capacity_text(one.size_bytes)}, {counted(one.runs, 'run')}")
    if json:
        print_json({"schema": OVERVIEW_SCHEMA, "pages": [pages[-1], *pages[:-1]]})


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

    Each picture has a title, the drives, method, block sizes, depth, version, date and a legend. Only older
    ssdlab pictures of the same name are replaced.

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
        print_json({"schema": FIGURES_SCHEMA, "pictures": pictures})


def export(
    *runs: RunName,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    table: Literal["figures", "runs", "qualifiers", "steps", "series", "histograms", "power", "telemetry"]
    | None = None,
    library: Library = None,
    json: bool = False,
) -> None:
    """Export the numbers of one or more runs for a spreadsheet or a program.

    A workbook (.xlsx) has a sheet per table; a .csv or .parquet holds one table. A .jsonl holds runs as OCP
    Test & Validation records. Values have full precision, in base units.

    Parameters
    ----------
    runs
        Run folders, ids or prefixes of ids; a suite includes all its runs.
    output
        File to write; its extension sets the format: .xlsx, .csv, .parquet or .jsonl. Only an older export is
        replaced.
    table
        Only this table [default: all in a workbook, else the figures].
    json
        Print path, format, size and tables as JSON, schema ssdlab.export/1.
    """
    from ssdlab.report import ocp, sheet_files, source
    from ssdlab.report.body import single_runs
    from ssdlab.report.sheets import NAMES, sheets_of
    from ssdlab.results.store import find_run
    from ssdlab.results.verifying import doubting

    if not runs:
        raise UsageError("no run is named", "name one or more: ssdlab export RUN -o drives.xlsx")
    kind = sheet_files.format_of(output)
    if kind == "jsonl" and table is not None:
        raise UsageError("a .jsonl holds whole runs, not a table", "leave out --table, or name a .csv")
    with sheet_files.place(output) as file:  # fail now if the file cannot be written
        folders = [find_run(text, library_of(library)) for text in runs]
        with doubting(folders):
            found = [source.read(folder) for folder in folders]
            whole = {"xlsx": NAMES, "jsonl": ()}.get(kind, NAMES[:1])
            sheets = sheets_of(found, whole if table is None else (table,))
            records = ocp.records_of(single_runs(found)) if kind == "jsonl" else ""
        done = sheet_files.write(sheets, file, records)
    cut = [one.manifest.run_id for one in found if source.is_unended(one.manifest)]
    if json:
        tables = [
            {"name": each.name, "rows": each.length, "written": each not in done.left_out} for each in sheets
        ]
        facts = {"path": str(output.absolute()), "format": kind, "bytes": done.size_bytes}
        ids = [one.manifest.run_id for one in found]
        print_json({"schema": EXPORT_SCHEMA, **facts, "tables": tables, "runs": ids, "unfinished": cut})
        return
    written = [f"{each.name} {counted(each.length, 'row')}" for each in sheets if each not in done.left_out]
    print_line(", ".join([f"{output}: {capacity_text(done.size_bytes)}", *written]))
    if kind != "jsonl" and not any(each.length for each in sheets):
        others = [name for name in NAMES if name not in {each.name for each in sheets}]
        print_line(f"note: the runs have none; other tables by --table: {and_listed(others)}")
    for run_id in cut:
        print_line(f"note: run {run_id} did not finish: it has its completed steps but no figures")
    for each in done.left_out:
        print_line(f"note: {sheet_files.left_out_words(each)}")


def theme(*, json: bool = False) -> None:
    """Print the default theme as TOML, to copy and change.

    To start your own theme: ssdlab theme > house.toml. Reports and pictures use it with --theme.

    Parameters
    ----------
    json
        Print the theme as JSON, schema ssdlab.theme/1.
    """
    from ssdlab.host.documents import parse_toml
    from ssdlab.report.theme_file import default_text

    if json:
        print_json(parse_toml(default_text(), "theme"))
    else:
        print(default_text(), end="")


def themed(file: Path | None) -> Theme | None:
    """Read the theme from `file`, else from the file that `config.toml` names, and print its warnings."""
    from ssdlab.host.defaults import read_defaults
    from ssdlab.host.documents import user_path
    from ssdlab.report.theme_file import read_theme

    path = read_defaults().theme if file is None else user_path(file)
    if path is None:
        return None
    found = read_theme(path)
    for remark in found.remarks:
        warn(remark)
    return found
