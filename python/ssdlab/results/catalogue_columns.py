"""What the catalogue holds of a run, by name and type: all that a query has to know of it.

Queries import no more than this. Models check what is written (`catalogue_row.Row`), and to build those takes
longer than a query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.results.kin import MARKS, OF_FIGURES, VARIES

if TYPE_CHECKING:
    from ssdlab.model.document import Document

ROW_SCHEMA = "ssdlab.row/8"
"""2: a figure says what of its state was not shown. 3: one of power says which meter it is of. 4: a latency
says at which depth it was taken, where each run chooses its own. 5: a row is sealed as a document is.
6: the settings of a measurement that was saved are its workload. 7: a figure says by codes what is the matter
with it. 8: and by how much it varies; a run says which
part of the drive it was kept to."""
ROW_SEALED_SINCE = 5
FIGURE_COLUMNS = {
    "name": "VARCHAR",
    "label": "VARCHAR",
    "value": "DOUBLE",
    "unit": "VARCHAR",
    "better": "VARCHAR",
    "unfit": "VARCHAR",
    "meter": "VARCHAR",
    "load": "VARCHAR",
    "marks": "VARCHAR",
    "varies": "DOUBLE",
}
"""What there is of each headline figure."""
COLUMNS = {
    "folder": "VARCHAR",
    "entered": "BIGINT",
    "gone": "BOOLEAN",
    "run_id": "VARCHAR",
    "status": "VARCHAR",
    "method": "VARCHAR",
    "version": "INTEGER",
    "settings": "VARCHAR",
    "quick": "BOOLEAN",
    "engine": "VARCHAR",
    "scale": "INTEGER",
    "spare": "DOUBLE",
    "span": "BIGINT",
    "variant": "VARCHAR",
    "departures": "VARCHAR",
    "warnings": "INTEGER",
    "drive_id": "VARCHAR",
    "drive_name": "VARCHAR",
    "drive_kind": "VARCHAR",
    "capacity_bytes": "BIGINT",
    "seed": "VARCHAR",
    "tool": "VARCHAR",
    "created": "VARCHAR",
    "suite": "VARCHAR",
    "seal": "VARCHAR",
    "tags": "VARCHAR[]",
    **{f"figure_{name}": f"{kind}[]" for name, kind in FIGURE_COLUMNS.items()},
}
"""The fields of `catalogue_row.Row` as SQL types. Figures are a list for each of their columns, side by side:
of lists of records a query would read all to find one."""
_KINDS: dict[str, type | tuple[type, ...]] = {
    "VARCHAR": str,
    "BIGINT": int,
    "INTEGER": int,
    "BOOLEAN": bool,
    "DOUBLE": (int, float, type(None)),
}


def is_row(stored: Document) -> bool:
    """Whether all columns are there, each of its kind."""
    plain = all(
        isinstance(stored.get(name, ...), _KINDS[kind])
        for name, kind in COLUMNS.items()
        if kind in _KINDS and not (name == "span" and stored.get(name, ...) is None)
    )
    tags, figures = stored.get("tags"), stored.get("figures")
    return (
        plain
        and isinstance(tags, list)
        and all(isinstance(tag, str) for tag in tags)
        and isinstance(figures, list)
        and all(_is_figure(figure) for figure in figures)
    )


def _is_figure(stored: object) -> bool:
    return isinstance(stored, dict) and all(
        isinstance(stored.get(name, ...), _KINDS[kind])
        for name, kind in FIGURE_COLUMNS.items()
        if name not in (*OF_FIGURES, MARKS, VARIES) or stored.get(name) is not None
    )


def columns_of(row: Document) -> Document:
    """Return a row with its figures column by column."""
    figures = row["figures"]
    return dict(row) | {f"figure_{name}": [each.get(name) for each in figures] for name in FIGURE_COLUMNS}
