"""What a kind of Result says and shows of one run, put together for the runs of a page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.report.view import Finding
from ssdlab.results.claim import sentence
from ssdlab.results.numbers import Table, of_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ssdlab.report.runs import R, Shown
    from ssdlab.results.claim import Claim


def lead(shown: Shown, claims: Iterable[Claim]) -> Finding:
    """Return the findings of a run in one line, behind its label."""
    return Finding(shown.index, shown.label, " ".join(sentence(each) for each in claims))


def leads(kept: Sequence[tuple[Shown, R]], findings: Callable[[R], Iterable[Claim]]) -> tuple[Finding, ...]:
    """Return the findings of each run."""
    return tuple(lead(shown, findings(result)) for shown, result in kept)


def texts_of(found: Sequence[tuple[Shown, str]]) -> tuple[str, ...]:
    """Return a text of each run, once; where not all have it, behind those that do."""
    of: dict[str, list[str]] = {}
    for shown, text in found:
        if text:
            of.setdefault(text, []).append(shown.label)
    return tuple(
        text if len(labels) == len(found) else f"{', '.join(dict.fromkeys(labels))}: {text}"
        for text, labels in of.items()
    )


def together(kept: Sequence[tuple[Shown, R]], table: Callable[[R], Table]) -> Table:
    """Return the tables of several runs as one, each row behind its run."""
    return joined([(shown, table(result)) for shown, result in kept])


def joined(found: Sequence[tuple[Shown, Table]]) -> Table:
    """Return tables of the same columns as one, each row behind its run."""
    first = max((table for _, table in found), key=lambda table: len(table.head))
    rows = tuple((of_run(shown.label, shown.index), *row) for shown, table in found for row in table.rows)
    return Table(first.caption, ("Run", *first.head), rows)


def each_of(kept: Sequence[tuple[Shown, R]], table: Callable[[R], Table]) -> tuple[Table, ...]:
    """Return a table for each run, named after it."""
    return tuple(named(shown, table(result)) for shown, result in kept)


def named(shown: Shown, table: Table) -> Table:
    """Return a table with its run in the caption."""
    return replace(table, caption=f"{shown.label}: {table.caption}")
