"""The result of a method in a terminal: its findings as sentences, then the tables that the page has too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ssdlab.cli.output import paint, print_line, print_table
from ssdlab.methods.presented.points import scalars_table
from ssdlab.results.claim import sentence
from ssdlab.results.kind import loaded
from ssdlab.results.metric import labels, united

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ssdlab.results.kind import ResultKind
    from ssdlab.results.numbers import Table
    from ssdlab.results.schema import ResultBase


def print_kind(kind: ResultKind[Any], result: ResultBase) -> None:
    """Print what a kind of result says and shows, and the headline figures that no table has."""
    print_line()
    for claim in loaded(kind.findings)(result):
        print_line(sentence(claim), "bold")
    tables = tuple(loaded(kind.tables)(result))
    print_tables(tables)
    if result.scalars and all(each.value is None for each in result.scalars):
        print_line()
        print_line(
            f"No headline figure: {labels(united(own for f in result.scalars for own in f.qualifiers))}"
        )
    elif result.scalars and scalars_table(result) not in tables:
        print_tables((scalars_table(result),))


def print_tables(tables: Iterable[Table]) -> None:
    """Print tables, each below its caption; of a wide one the columns that it names for a terminal.

    Columns and tables in which nothing stands are left out.
    """
    for table in (each.filled for each in tables):
        if table.rows:
            print_line()
            print_line(table.caption, "dim")
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
    print_table(rows, heads, right=numeric)
