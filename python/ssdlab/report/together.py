"""Combines findings and tables of several runs for a page."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.lab.outcome import marked
from ssdlab.model.units import and_listed
from ssdlab.report.view import Finding, Section
from ssdlab.results import cells
from ssdlab.results.cells import Table, of_run
from ssdlab.results.claim import row, sentence
from ssdlab.results.metric import labelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ssdlab.report.runs import R, Shown
    from ssdlab.results.claim import Claim

_NUMBER = re.compile(r"(?<![\w.,/-])(\d+(?:\.\d+)?)(?![\w/-]|\.\d)")
_LISTED = 4
"""Maximum count of different numbers that are listed; with more, only their range is given."""


def lead(shown: Shown, claims: Iterable[Claim]) -> Finding:
    """Return the findings of a run in one line after its label, with the labels of its figures."""
    figures = () if shown.run.result is None else shown.run.result.scalars
    found = marked(claims, figures)
    return Finding(shown.index, shown.label, " ".join(map(sentence, found)), found)


def leads(kept: Sequence[tuple[Shown, R]], findings: Callable[[R], Iterable[Claim]]) -> tuple[Finding, ...]:
    """Return the findings of each run."""
    return tuple(lead(shown, findings(result)) for shown, result in kept)


def texts_of(found: Sequence[tuple[Shown, str]]) -> tuple[str, ...]:
    """Return each text once, after the labels of the runs that have it, unless all runs have it."""
    of: dict[str, list[str]] = {}
    for shown, text in found:
        if text:
            of.setdefault(text, []).append(shown.label)
    return tuple(
        text if len(labels) == len(found) else f"{', '.join(dict.fromkeys(labels))}: {text}"
        for text, labels in of.items()
    )


def together(kept: Sequence[tuple[Shown, R]], table: Callable[[R], Table]) -> Table:
    """Return the tables of several runs as one table; the first column is the run."""
    return joined([(shown, table(result)) for shown, result in kept])


def joined(found: Sequence[tuple[Shown, Table]]) -> Table:
    """Return tables with the same columns as one table; the first column is the run."""
    first = max((table for _, table in found), key=lambda table: len(table.head))
    rows = tuple((of_run(shown.label, shown.index), *row) for shown, table in found for row in table.rows)
    return Table(first.caption, ("Run", *first.head), rows)


def each_of(kept: Sequence[tuple[Shown, R]], table: Callable[[R], Table]) -> tuple[Table, ...]:
    """Return a table for each run, with the run in its caption."""
    return tuple(named(shown, table(result)) for shown, result in kept)


def named(shown: Shown, table: Table) -> Table:
    """Return a table with the run in its caption."""
    return replace(table, caption=f"{shown.label}: {table.caption}")


def words_of(text: str) -> tuple[str, ...]:
    """Return the parts of a text between its numbers."""
    return tuple(_NUMBER.split(text)[::2])


def alike(texts: Iterable[str]) -> dict[tuple[str, ...], list[list[str]]]:
    """Group texts by the words between their numbers; return the numbers of each text."""
    found: dict[tuple[str, ...], list[list[str]]] = {}
    for text in texts:
        parts = _NUMBER.split(text)
        found.setdefault(tuple(parts[::2]), []).append(parts[1::2])
    return found


def with_numbers(words: Sequence[str], numbers: Sequence[Sequence[str]], *, each_own: bool = False) -> str:
    """Put numbers between words: a list of a few different numbers, or the range of many.

    With `each_own` the list has one number for each text, in their order, unless all are equal.

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


_CAPTION = "findings"
_MARKS = "labels"
"""Key under which a claim has the labels of its figures."""


def tabled(section: Section, placed: Sequence[Shown]) -> Section:
    """Return a section whose claims with columns become a table with a row per run.

    A sentence that several runs share appears once. The runs' names precede it unless all have it.
    """
    found = [each for each in section.lead if isinstance(each, Finding) and each.claims]
    runs = [each.run for each in found]
    if len(runs) < 2 or len(set(runs)) < len(runs):
        return section
    columns: dict[str, dict[int, list[tuple[str, str]]]] = {}
    sentences: dict[str, list[int]] = {}
    for each in found:
        for claim in each.claims:
            marks = str(claim.others.get(_MARKS, ""))
            for at, (heading, text) in enumerate(row(claim).items()):
                # Labels are shown once per claim.
                columns.setdefault(heading, {}).setdefault(each.run, []).append((text, "" if at else marks))
            if not claim.columns:
                sentences.setdefault(sentence(claim), []).append(each.run)
    names = {run: placed[run].style.short for run in runs}
    once = [
        text if len(own) == len(runs) else f"{and_listed([names[run] for run in own])}: {text}"
        for text, own in sentences.items()
        if len(own) > 1
    ]
    left: dict[int, list[str]] = {}
    for text, own in sentences.items():
        if len(own) == 1:
            left.setdefault(own[0], []).append(text)
    alone = [Finding(run, placed[run].label, " ".join(left[run])) for run in runs if run in left]
    others = [each for each in section.lead if each not in found]
    caption = f"{section.title}: {_CAPTION}"
    table = (replace(_of_columns(columns, runs, placed), caption=caption),) if columns else ()
    return replace(section, lead=(*others, *once, *alone), common=table)


def _of_columns(
    columns: Mapping[str, Mapping[int, Sequence[tuple[str, str]]]],
    runs: Sequence[int],
    placed: Sequence[Shown],
) -> Table:
    """Return a table of labelled cells; a label that a whole column shares moves to its heading.

    If there are more findings than runs, the findings become rows, which makes the table narrower.
    """
    head, rows = ["Run"], {run: [of_run(placed[run].label, run)] for run in runs}
    for heading, of in columns.items():
        marks = {mark for own in of.values() for _, mark in own}
        (shared,) = marks if len(marks) == 1 else ("",)
        head.append(labelled(heading, shared))
        for run in runs:
            texts = [text if shared else labelled(text, mark) for text, mark in of.get(run, ())]
            rows[run].append(cells.words("; ".join(texts) or cells.NOTHING))
    if len(columns) <= len(runs):
        return Table(_CAPTION, tuple(head), tuple(map(tuple, rows.values())))
    across = zip(*(own[1:] for own in rows.values()), strict=True)
    turned = tuple((cells.words(heading), *own) for heading, own in zip(head[1:], across, strict=True))
    return Table(_CAPTION, ("Finding", *(placed[run].label for run in runs)), turned)
