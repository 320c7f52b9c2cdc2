"""`ssdlab export`: the numbers of runs as a workbook, CSV or Parquet, or as OCP records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ssdlab.cli.completers import RunName
from ssdlab.cli.flags import Library
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import print_json, print_line
from ssdlab.model.errors import UsageError
from ssdlab.model.units import and_listed, capacity_text, counted

SCHEMA = "ssdlab.export/1"


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
    with sheet_files.place(output) as file:  # before anything is read
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
        print_json({"schema": SCHEMA, **facts, "tables": tables, "runs": ids, "unfinished": cut})
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
