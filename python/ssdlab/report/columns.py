"""Which runs of a page are one column of it, and what a reader knows each column by.

The parts of a review of one drive are one column, whenever each of them began. A run that was not part of a
review is a column of its own; those of one drive in several methods have one name and one look all the same.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.results.store import short_id

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ssdlab.report.source import Run

_RUN_ID = re.compile(r"(\d{4})(\d{2})(\d{2})-(\d{2})(\d{2})-(.+)-[0-9a-z]{6}")


@dataclass(frozen=True)
class Subject:
    """What a run is of.

    Attributes
    ----------
    entry
        What has one look through the page: a drive in one variant.
    drive
        Its identifier.
    words
        What its label begins with: the drive, and how I/O was issued where that differs.
    """

    entry: str
    drive: str
    words: tuple[str, ...]


@dataclass
class Column:
    """Runs that a reader sees as one.

    Attributes
    ----------
    review
        Run id of the review or suite that they are of; empty: none.
    repeat
        From 0: how many runs of their method on that drive the review has before them.
    runs
        Places of its runs.
    """

    review: str
    subject: Subject
    repeat: int
    runs: list[int]


def columns_of(runs: Sequence[Run], subjects: Sequence[Subject]) -> list[Column]:
    """Gather runs into columns, in the order of their first runs."""
    found: dict[tuple[object, ...], Column] = {}
    seen: Counter[tuple[object, ...]] = Counter()
    for at, (run, subject) in enumerate(zip(runs, subjects, strict=True)):
        review, method = review_of(run), run.manifest.method.name
        repeat = seen[review, subject, method]
        seen[review, subject, method] += 1
        key = (review, subject, repeat, "" if review else method)
        found.setdefault(key, Column(review, subject, repeat, [])).runs.append(at)
    return list(found.values())


def review_of(run: Run) -> str:
    """Return the run id of the review or suite that a run is of, the outermost; empty: of none."""
    return run.review or ("" if run.manifest.member is None else run.manifest.member.suite)


def labels_of(runs: Sequence[Run], columns: Sequence[Column]) -> list[str]:
    """Name columns; add what tells drives apart, and runs of one method, that would have one name."""
    parts = [list(column.subject.words) for column in columns]
    firsts = [runs[column.runs[0]] for column in columns]
    methods = [{runs[at].manifest.method.name for at in column.runs} for column in columns]
    for number, more in enumerate(_FURTHER):
        alike: dict[tuple[str, ...], list[int]] = {}
        for at, words in enumerate(parts):
            alike.setdefault(tuple(words), []).append(at)
        for own in alike.values():
            counts = Counter(method for at in own for method in methods[at])
            # Two drives are two whatever their methods; of one drive its runs of several methods are one.
            clashing = [at for at in own if not number or any(counts[method] > 1 for method in methods[at])]
            extra = {at: more(columns[at], firsts[at]) for at in clashing}
            if len(set(extra.values())) > 1:
                for at, text in extra.items():
                    parts[at] += [text] if text else []
    return [" · ".join(words) for words in parts]


def _repeat(column: Column, first: Run) -> str:
    """Return which repeat a column is of, or which part of a review that has its method several times."""
    member = first.manifest.member
    if member is None or not column.review:
        return ""
    name, _, number = member.part.partition(" #")
    return f"repeat {number}" if number else name if column.repeat else ""


def _name(column: Column, first: Run) -> str:
    """Return the name of the review."""
    del first
    found = _RUN_ID.fullmatch(column.review)
    return found[6] if found else column.review


def _begun(column: Column, first: Run) -> tuple[str, str]:
    """Return date and time at which the review began, or the run."""
    found = _RUN_ID.fullmatch(column.review)
    if found is None:
        return first.manifest.created[:10], first.manifest.created[11:16]
    return "-".join(found.groups()[:3]), f"{found[4]}:{found[5]}"


def _id(column: Column, first: Run) -> str:
    return column.review or first.manifest.run_id


_FURTHER: tuple[Callable[[Column, Run], str], ...] = (
    lambda column, _: column.subject.drive,
    _repeat,
    _name,
    lambda _, first: "quick" if first.manifest.quick else "",
    lambda column, first: _begun(column, first)[0],
    lambda column, first: _begun(column, first)[1],
    lambda column, first: short_id(_id(column, first)),
    _id,
)
"""What tells columns apart, the more telling first; what is the same of all of them is not said."""
