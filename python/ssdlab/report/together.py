"""What a kind of Result says and shows of one run, put together for the runs of a page."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.lab.presented.marked import marked
from ssdlab.model.units import and_listed
from ssdlab.report.view import Finding
from ssdlab.results.cells import Table, of_run
from ssdlab.results.claim import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ssdlab.report.runs import R, Shown
    from ssdlab.results.claim import Claim

_NUMBER = re.compile(r"(?<![\w.,/-])(\d+(?:\.\d+)?)(?![\w/-]|\.\d)")
_LISTED = 4
"""So many numbers are listed in which wordings differ; of more the range."""


def lead(shown: Shown, claims: Iterable[Claim]) -> Finding:
    """Return the findings of a run in one line, behind its label, marked as its figures are."""
    figures = () if shown.run.result is None else shown.run.result.scalars
    return Finding(shown.index, shown.label, " ".join(map(sentence, marked(claims, figures))))


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


def words_of(text: str) -> tuple[str, ...]:
    """Return a text without its numbers: what stands between them."""
    return tuple(_NUMBER.split(text)[::2])


def alike(texts: Iterable[str]) -> dict[tuple[str, ...], list[list[str]]]:
    """Return the numbers of texts by the words between them."""
    found: dict[tuple[str, ...], list[list[str]]] = {}
    for text in texts:
        parts = _NUMBER.split(text)
        found.setdefault(tuple(parts[::2]), []).append(parts[1::2])
    return found


def with_numbers(words: Sequence[str], numbers: Sequence[Sequence[str]], *, each_own: bool = False) -> str:
    """Put numbers between words: where there are several a list of them, of many the ends.

    `each_own`: one for each text, in their order, unless they are the same.

    >>> with_numbers(["", " of ", ""], [["2", "9"], ["1", "9"]])
    '1 and 2 of 9'
    """
    columns = [
        list(each) if each_own else sorted(set(each), key=float) for each in zip(*numbers, strict=True)
    ]
    texts = (
        and_listed(each if len(set(each)) > 1 else each[:1])
        if each_own or len(each) <= _LISTED
        else f"{each[0]} to {each[-1]}"
        for each in columns
    )
    return words[0] + "".join(f"{number}{word}" for number, word in zip(texts, words[1:], strict=True))
