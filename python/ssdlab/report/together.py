"""What a kind of Result says and shows of one run, put together for the runs of a page."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ssdlab.lab.presented.marked import marked
from ssdlab.model.units import and_listed
from ssdlab.report.view import Finding, Section
from ssdlab.results import cells
from ssdlab.results.cells import Table, of_run
from ssdlab.results.claim import as_sentence, sentence
from ssdlab.results.metric import labelled
from ssdlab.results.qualifiers import CATALOGUE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ssdlab.report.runs import R, Shown
    from ssdlab.results.claim import Claim

_NUMBER = re.compile(r"(?<![\w.,/-])(\d+(?:\.\d+)?)(?![\w/-]|\.\d)")
_LISTED = 4
"""So many numbers are listed in which wordings differ; of more the range."""


def lead(shown: Shown, claims: Iterable[Claim]) -> Finding:
    """Return the findings of a run in one line, behind its label, marked as its figures are."""
    figures = () if shown.run.result is None else shown.run.result.scalars
    return Finding(shown.index, shown.label, tuple(map(sentence, marked(claims, figures))))


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


_UNITS = (
    "kIOPS/W|MB/s/W|x/W|GB/s|MB/s|kB/s|IOPS|capacities|times|rounds|reads|°C|"
    "KiB|MiB|GiB|TB|GB|MB|kB|ms|µs|ns|min|mW|Wh|s|h|W|J|B|%"
)
_AMOUNT = rf"\d+(?:\.\d+)?(?:[kM](?= IOPS))?(?:x(?!\w)| (?:{_UNITS})(?![\w/]))?"
_SLOT = re.compile(
    rf"(?<![\w.,/-])(?:(?:rising by |falling by )?{_AMOUNT}(?: ± {_AMOUNT})?|level)(?![\w/-]|\.\d)"
)
_CLAUSES = re.compile(r"; (?![^()]*\))")
_STATE = re.compile(r" \(([^()]+)\)\.$")
_LABELS = sorted((kind.label for kind in CATALOGUE.values()), key=len, reverse=True)
_BLANK = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands for an amount, as nothing else in a sentence does; a heading has an ellipsis there."""


def tabled(section: Section, placed: Sequence[Shown]) -> Section:
    """Return a section in which what several runs say in the same words is a table, a row for each run.

    Clauses that are alike but for their amounts are its columns; one that is the same of all runs stands
    once. What only one run says stays a sentence of its own.
    """
    found = [each for each in section.lead if isinstance(each, Finding) and each.parts]
    runs = [each.run for each in found]
    if len(runs) < 2 or len(set(runs)) < len(runs):
        return section
    alike: dict[tuple[str, int], dict[int, _Clause]] = {}
    for each in found:
        seen: Counter[str] = Counter()
        for clause in _clauses([_without_state(part) for part in each.parts]):
            alike.setdefault((clause.words, seen[clause.words]), {})[each.run] = clause
            seen[clause.words] += 1
    columns: list[tuple[str, dict[int, str]]] = []
    once: list[str] = []
    own: dict[int, dict[tuple[int, str], list[str]]] = {}
    for (words, _), of in alike.items():
        amounts = [each.amounts for each in of.values()]
        varying = _varying(amounts, every=len(of) < len(runs))
        if len(of) == 1:
            ((run, only),) = of.items()
            own.setdefault(run, {}).setdefault((only.sentence, only.state), []).append(only.text)
            continue
        states = {each.state for each in of.values()}
        one_state = len(states) == 1
        varying = varying if one_state or varying or not amounts[0] else [0]
        text = _with_constants(words, amounts, varying).replace(_BLANK, "…")
        text = labelled(text, *states) if one_state else text
        if varying:
            values = {run: ", ".join(each.amounts[at] for at in varying) for run, each in of.items()}
            if not one_state:
                values = {run: labelled(value, of[run].state) for run, value in values.items()}
            columns.append((f"{text[:1].upper()}{text[1:]}", values))
        elif len(of) == len(runs):
            once.append(as_sentence(text))
        else:
            once.append(f"{and_listed([placed[run].style.short for run in of])}: {as_sentence(text)}")
    head = ("Run", *(name for name, _ in columns))
    rows = tuple(
        (of_run(placed[run].label, run), *(cells.words(of.get(run, cells.NOTHING)) for _, of in columns))
        for run in runs
    )
    others = [each for each in section.lead if each not in found]
    left = [
        Finding(
            run,
            placed[run].label,
            tuple(as_sentence(labelled("; ".join(each), state)) for (_, state), each in own[run].items()),
        )
        for run in runs
        if run in own
    ]
    common = (Table("What was found", head, rows),) if columns else ()
    return replace(section, lead=(*others, *once, *left), common=common)


def _without_state(sentence: str) -> tuple[str, str]:
    """Return a sentence without full stop and the labels of its figures at its end, and these."""
    found = _STATE.search(sentence)
    rest = "" if found is None else found[1]
    for label in _LABELS:
        rest = rest.replace(label, "")
    if found is None or rest.strip(", "):
        return sentence.removesuffix("."), ""
    return sentence[: found.start()], found[1]


@dataclass(frozen=True)
class _Clause:
    """A clause of a sentence of a run: the words around its amounts, and these."""

    text: str
    sentence: int
    state: str
    """The labels of its figures."""

    @property
    def words(self) -> str:
        return _SLOT.sub(_BLANK, self.text)

    @property
    def amounts(self) -> list[str]:
        return _SLOT.findall(self.text)


def _clauses(sentences: Sequence[tuple[str, str]]) -> Iterator[_Clause]:
    """Yield sentences clause by clause; whole where two of them have a clause in the same words."""
    parts = [
        [_Clause(clause, at, state) for clause in _CLAUSES.split(text)]
        for at, (text, state) in enumerate(sentences)
    ]
    count = Counter(clause.words for each in parts for clause in each)
    for at, each in enumerate(parts):
        text, state = sentences[at]
        yield from each if all(count[clause.words] == 1 for clause in each) else [_Clause(text, at, state)]


def _varying(amounts: Sequence[Sequence[str]], *, every: bool) -> list[int]:
    """Return which amounts are not the same of all runs; with `every` the first too, where any is not."""
    found = [at for at, each in enumerate(zip(*amounts, strict=True)) if len(set(each)) > 1]
    return sorted({0, *found}) if every and found else found


def _with_constants(words: str, amounts: Sequence[Sequence[str]], varying: Sequence[int]) -> str:
    """Put the amounts that all runs share back into the words."""
    parts = words.split(_BLANK)
    fixed = [_BLANK if at in varying else amount for at, amount in enumerate(amounts[0])]
    return parts[0] + "".join(f"{amount}{part}" for amount, part in zip(fixed, parts[1:], strict=True))
