"""Tables of a result, fitted to the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.cli.fitting import print_parted, print_text
from ssdlab.cli.output import paint, print_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ssdlab.results.cells import Table


def print_tables(tables: Iterable[Table]) -> None:
    """Print tables, each below its caption; of a wide one only the columns it names for a terminal.

    Empty columns and tables are left out.
    """
    for table in (each.filled for each in tables):
        if table.rows:
            print_line()
            print_text(table.caption, "dim")
            _print_table(table)


def _print_table(table: Table) -> None:
    chosen = [at for at, title in enumerate(table.head) if not table.brief or title in table.brief]
    reasons = any(cell.span > 1 for row in table.rows for cell in row)
    rows, numeric = [], set(range(len(chosen)))
    for number, row in enumerate(table.rows):
        texts = [""] * len(table.head)
        why, at = "", 0
        for cell in row:
            if cell.span > 1:
                why = cell.text
            else:
                texts[at] = cell.text
                if not cell.numeric and cell.text and at in chosen:
                    numeric.discard(chosen.index(at))
            at += cell.span
        shown = [texts[each] for each in chosen]
        if number == table.marked:
            shown[0] += f" {paint('<', 'accent')}"
        rows.append((*shown, why) if reasons else tuple(shown))
    heads = [table.head[each] for each in chosen] + ([""] if reasons else [])
    print_parted(rows, heads, right=numeric)
