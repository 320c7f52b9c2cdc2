"""Exports as files: a workbook (.xlsx), one table (.csv or .parquet), or records of runs (.jsonl)."""

from __future__ import annotations

import csv
import os
import re
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from ssdlab.host.output_files import OutputFile
from ssdlab.model.errors import UsageError
from ssdlab.report import ocp
from ssdlab.report.sheets import FIRST
from ssdlab.results import tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from zipfile import ZipInfo

    from ssdlab.report.sheets import Column, Sheet

Format = Literal["xlsx", "csv", "parquet", "jsonl"]
FORMATS: tuple[Format, ...] = get_args(Format)
PACKAGE = "openpyxl"
_EXTRAS: dict[Format, tuple[str, str, str]] = {
    "xlsx": (PACKAGE, "xlsx", "a workbook"),
    "jsonl": (ocp.PACKAGE, "ocp", "a record of OCP Test & Validation"),
}
"""Formats that need a package: the package, the extra that installs it, and words for the file."""
SHEET_ROWS = 1 << 20
"""Maximum rows of a sheet, including headings. This and `CELL_CHARACTERS` are Excel's limits, beyond which it
truncates (support.microsoft.com, "Excel specifications and limits")."""
CELL_CHARACTERS = 32_767
_SCHEMA = "ssdlab.export/1"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CREATOR = b">ssdlab</dc:creator>"
_PROPERTIES = "docProps/core.xml"
_FORMULA = re.compile(r"[=+\-@\t\r\n]")
"""First characters by which a spreadsheet takes a cell of CSV for a formula (OWASP, "CSV Injection")."""
_SPECIAL = re.compile(r"[=+\-@#]")
"""The same for a cell of a workbook; the names of errors begin with a hash sign."""
_WIDEST, _NARROWEST, _ROWS_ASKED = 60, 8, 100
"""Maximum and minimum width of a column in characters, and the number of rows that decide its width."""


class Written(NamedTuple):
    """Size of a written file, and the tables that were too long for a sheet."""

    size_bytes: int
    left_out: tuple[Sheet, ...]


def format_of(path: Path) -> Format:
    """Return the format for a file's extension.

    Raises
    ------
    UsageError
        The extension is unknown, or its extra (`xlsx`, `ocp`) is not installed.
    """
    found = next((each for each in FORMATS if path.suffix.lower() == f".{each}"), None)
    if found is None:
        raise UsageError(
            f"{path.name} has no extension of an export format",
            "end it in .xlsx (a workbook), .csv or .parquet (one table), or .jsonl (OCP)",
            path=str(path),
        )
    package, extra, what = _EXTRAS.get(found, ("", "", ""))
    if package and find_spec(package) is None:
        raise UsageError(
            f"{what} needs the extra `{extra}`, which is not installed",
            f"install it: pip install 'ssdlab[{extra}]', or name a file that ends in .csv or .parquet",
            package=package,
        )
    return found


def place(path: Path) -> OutputFile:
    """Reserve the file name of an export; only an older export in the same format may be replaced.

    Raises
    ------
    UsageError, Refused
        See `format_of` and `OutputFile`.
    """
    kind = format_of(path)
    return OutputFile(path, ours=lambda known: is_export(kind, known), noun="export", ends=kind == "parquet")


def is_export(kind: Format, known: bytes) -> bool:
    """Return whether the start of a file (for Parquet, also its end) shows an export by ssdlab.

    A workbook that was saved by a spreadsheet belongs to the user.
    """
    match kind:
        case "xlsx":
            return known.startswith(b"PK") and _CREATOR in known
        case "csv":
            heads = (",".join(columns).encode() for columns in FIRST.values())
            return any(known.startswith(_BYTE_ORDER_MARK + head) for head in heads)
        case "parquet":
            return known.startswith(b"PAR1") and _SCHEMA.encode() in known
        case "jsonl":
            return ocp.is_record(known)


def write(sheets: Sequence[Sheet], file: OutputFile, records: str = "") -> Written:
    """Write an export atomically: all tables (workbook), the one table, or the `records` (.jsonl).

    Raises
    ------
    UsageError
        A text does not fit into a workbook's cell.
    Refused, HostError
        The file cannot be written, or exists and is not ssdlab's.
    """
    kind = format_of(file.given)
    left_out = tuple(each for each in sheets if kind == "xlsx" and each.length >= SHEET_ROWS)
    with file.replacing() as descriptor:
        if kind == "jsonl":
            with open(descriptor, "w", encoding="utf-8", closefd=False) as out:
                out.write(records)
        elif kind == "xlsx":
            _write_workbook(sheets, left_out, descriptor)
        else:
            (sheet,) = sheets
            if kind == "csv":
                _write_csv(sheet, descriptor)
            else:
                _write_parquet(sheet, descriptor, file.path)
        size_bytes = os.fstat(descriptor).st_size
    return Written(size_bytes, left_out)


def _write_csv(sheet: Sheet, descriptor: int) -> None:
    # Excel recognises UTF-8 by the byte order mark.
    with open(descriptor, "w", encoding="utf-8-sig", newline="", closefd=False) as out:
        lines = csv.writer(out)
        lines.writerow([*map(_no_formula, (column.heading for column in sheet.columns))])
        lines.writerows(zip(*map(_csv_cells, sheet.columns), strict=True))


def _csv_cells(column: Column) -> list[Any]:
    match column.kind:
        case "VARCHAR":
            return list(map(_no_formula, column.cells()))
        case "BOOLEAN":
            return ["true" if each else "false" for each in column.cells()]
        case _:
            return column.cells()


def _no_formula(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: an apostrophe precedes it if needed."""
    return f"'{text}" if _FORMULA.match(text) else text


def _write_parquet(sheet: Sheet, descriptor: int, path: Path) -> None:
    data = {f"c{at}": column.values for at, column in enumerate(sheet.columns)}
    chosen = ", ".join(
        f"{_sql(f'c{at}', column.kind)} AS {_quoted(column.heading)}"
        for at, column in enumerate(sheet.columns)
    )
    tables.put(descriptor, path, data, f"SELECT {chosen} FROM data", _SCHEMA)


def _sql(name: str, kind: str) -> str:
    return f"(CASE WHEN isfinite({name}) THEN {name} END)" if kind == "DOUBLE" else f"{name}::{kind}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class _Archive(ZipFile):
    """A workbook's archive with the creator uncompressed at its beginning, where `is_export` finds it."""

    def writestr(
        self,
        zinfo_or_arcname: str | ZipInfo,
        data: Any,  # noqa: ANN401 - bytes or text
        compress_type: int | None = None,
        compresslevel: int | None = None,
    ) -> None:
        stored = ZIP_STORED if zinfo_or_arcname == _PROPERTIES else compress_type
        super().writestr(zinfo_or_arcname, data, stored, compresslevel)


def _write_workbook(sheets: Sequence[Sheet], left_out: Sequence[Sheet], descriptor: int) -> None:
    for sheet in sheets:
        _check_texts(sheet)
    book = import_module(PACKAGE).Workbook(write_only=True)
    book.properties.creator = "ssdlab"
    try:
        for sheet in sheets:
            made = book.create_sheet(sheet.name)
            if sheet in left_out:
                made.append([left_out_words(sheet)])
            else:
                _fill(made, sheet)
    except BaseException:
        for made in book.worksheets:
            made.close()  # otherwise openpyxl complains on stderr
        raise
    with open(descriptor, "wb", closefd=False) as out, _Archive(out, "w", ZIP_DEFLATED) as archive:
        import_module("openpyxl.writer.excel").ExcelWriter(book, archive).save()


def _check_texts(sheet: Sheet) -> None:
    texts = (column.values.tolist() for column in sheet.columns if column.kind == "VARCHAR")
    longest = max((len(each) for each in chain.from_iterable(texts)), default=0)
    if longest > CELL_CHARACTERS:
        raise UsageError(
            f"a text has {longest:,} characters, and a workbook cell holds at most {CELL_CHARACTERS:,}",
            "name a file that ends in .csv or .parquet",
        )


def _fill(made: Any, sheet: Sheet) -> None:  # noqa: ANN401 - of openpyxl
    letter = import_module("openpyxl.utils").get_column_letter
    made.freeze_panes = "A2"
    for at, column in enumerate(sheet.columns, start=1):
        made.column_dimensions[letter(at)].width = _width(column)
    cells = _Cells(made)
    made.append([cells.heading(column.heading) for column in sheet.columns])
    makers: dict[str, Callable[[Any], Any]] = {"VARCHAR": cells.words, "DOUBLE": cells.number}
    of_columns = [makers.get(column.kind) for column in sheet.columns]
    for row in sheet.rows():
        made.append([make(each) if make else each for each, make in zip(row, of_columns, strict=True)])


class _Cells:
    """Makes cells of a sheet: texts that are never taken for formulas, and numbers with all their digits."""

    def __init__(self, sheet: Any) -> None:  # noqa: ANN401 - of openpyxl
        self._sheet = sheet
        self._made = import_module("openpyxl.cell").WriteOnlyCell
        self._bold = import_module("openpyxl.styles").Font(bold=True)

    def heading(self, text: str) -> Any:  # noqa: ANN401
        made = self._of(text, "s")
        made.font = self._bold
        return made

    def words(self, text: str) -> Any:  # noqa: ANN401
        if not _SPECIAL.match(text):
            return text or None
        made = self._of(text, "s")
        made.quotePrefix = True  # stays text when a user edits it
        return made

    def number(self, value: float | None) -> Any:  # noqa: ANN401
        # openpyxl writes 16 digits, but some numbers need 17.
        if value is None or float(f"{value:.16g}") == value:
            return value
        return self._of(repr(value), "n")

    def _of(self, text: str, kind: str) -> Any:  # noqa: ANN401
        made = self._made(self._sheet, text)
        made.data_type = kind
        return made


def _width(column: Column) -> int:
    longest = max(len(column.heading), *(len(str(each)) for each in column.values[:_ROWS_ASKED].tolist()), 0)
    return min(max(longest + 2, _NARROWEST), _WIDEST)


def left_out_words(sheet: Sheet) -> str:
    return (
        f"{sheet.name} has {sheet.length:,} rows, more than a sheet holds ({SHEET_ROWS - 1:,}): "
        f"write it with --table {sheet.name} into a file that ends in .parquet or .csv"
    )
