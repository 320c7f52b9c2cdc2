"""A run on one screen: its state, at most six figures with a legend, alarms, and what to do next."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ssdlab.cli.fitting import GAP, by_columns, cut, line_width, print_facts, print_tables, wrapped
from ssdlab.cli.marks import Letters
from ssdlab.cli.output import one_line, paint, print_line, table
from ssdlab.cli.showing_figures import (
    marked_cells,
    metrics_of,
    parts_of,
    print_apart,
    runs_of,
    shown_metrics,
    shown_of,
)
from ssdlab.lab.folders import top_figures
from ssdlab.lab.kinds import MEASURE, SUITE
from ssdlab.lab.outcome import findings_of, shown_by, warned_of
from ssdlab.model.printable import advice_text, plain_drive, visible_length
from ssdlab.model.units import and_listed, counted
from ssdlab.model.warning_texts import Level, level_of
from ssdlab.results.claim import sentence
from ssdlab.results.kind import loaded
from ssdlab.results.remarks import departure_text, gathered_departures, warned_steps
from ssdlab.results.store import short_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ssdlab.cli.showing_figures import Shown
    from ssdlab.lab.kinds import SuiteResult
    from ssdlab.results.metric import Metric
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.results.schema import ResultBase

FIGURES = 6
"""Maximum figures, the number of tiles on a page."""
_FINDINGS, _ALARMS = 4, 3
_LINES = 2
"""Maximum lines of a finding; `--all` prints all of it."""
_NAME = 14
"""Minimum width of a drive's name: most names fit in two lines, and three drives fit side by side."""
_PLAIN_LABELS = ("IOPS", "throughput")
"""Labels that add nothing to the value's unit."""
_LABEL = 32
"""Minimum width for the labels of figures, in characters."""


class _Row(NamedTuple):
    """One figure with its value in each column: of each drive, or of the only run."""

    label: str
    figures: Sequence[Shown | None]


def print_brief(run: RunFolder, result: ResultBase) -> str:
    """Print a finished run below its header; return the advice on its gravest qualifier."""
    advice = ""
    if SUITE.holds(result):
        advice = _print_suite(run, result)
    elif (kind := shown_by(result, run.manifest.method.name)) is MEASURE and kind.terminal is not None:
        loaded(kind.terminal)(result)
    else:
        claims = findings_of(kind, result)
        if claims:
            print_line()
        for claim in claims[:_FINDINGS]:
            for line in _short(sentence(claim)):
                print_line(line)
        figures = shown_metrics("", result.scalars)
        kept = set(_telling(result.scalars)[:FIGURES])
        rows = [_Row(each.label, [each]) for each in figures if each.name in kept]
        if rows:
            advice = _print_figures(rows, {"value": ""})
        else:  # a job, for example, has only the rates of its steps
            found = next((each for each in loaded(kind.tables)(result) if each.filled.rows), None)
            print_tables([replace(found, rows=found.rows[:FIGURES])] if found else ())
    _print_alarms(run)
    return advice


def print_more(run: RunFolder, status: str, advice: str) -> None:
    """Print what to do next, and the commands that show all details or write a page."""
    short = short_id(run.manifest.run_id)
    runs = [each for _, each in runs_of(run)]
    departures = {departure_text(each) for own in (run, *runs) for each in gathered_departures(own.manifest)}
    notes = {what for each in runs for what, _ in _levels(each)["note"]}
    counts = {
        "part": len(runs) if run.manifest.children else 0,
        "figure": sum(len(shown_metrics("", metrics_of(each))) for each in runs),
        "departure": len(departures),
        "note": len(notes) + len(run.notes()),
    }
    there = ", ".join(counted(count, what) for what, count in counts.items() if count)
    print_line()
    print_facts(
        [
            ("next", advice_text(advice)),
            ("all", f"ssdlab show {short} --all" + (f": {there}" if there else "")),
            ("page", f"ssdlab report {short} -o FILE.html" if status == "finished" else None),
        ]
    )


def _short(text: str) -> list[str]:
    """Wrap text to at most two lines, and cut it there."""
    first, *rest = wrapped(one_line(text), line_width(), "  ")
    if len(rest) < _LINES:
        return [first, *rest]
    return [first, cut(f"{rest[0]} {rest[1].strip()}", line_width())]


def _telling(figures: Iterable[Metric]) -> list[str]:
    """Return names of figures by importance: the first of each load, then the second of each load, and so on.

    The figures of one load are given in order of importance. A percentile of too few I/Os comes last.
    """
    places: dict[tuple[int, ...], int] = {}
    found = []
    for each in figures:
        place = places[each.steps] = places.get(each.steps, -1) + 1
        found.append((each.value is None and "few-samples" in each.codes, place, each.name))
    return [name for *_, name in sorted(found, key=lambda each: each[:2])]


def _print_suite(run: RunFolder, result: SuiteResult) -> str:
    """Print the chosen figures for each drive; return the advice on the gravest qualifier."""
    suites = parts_of(run) if run.manifest.several_drives else {"": run}
    shown = [{(each.part, each.name): each for each in shown_of(suite)} for suite in suites.values()]
    titles = _titles(suites.values())
    rows = [
        _Row(_label(first, titles), [own.get(key) for own in shown])
        for key in _chosen(run, suites.values(), shown)
        for first in [next(own[key] for own in shown if key in own)]
    ]
    columns = (
        dict.fromkeys(("median", "interval", "confidence", "runs"), "") if result.repeated else {"value": ""}
    )
    if run.manifest.several_drives:
        shorts = [short_id(suite.manifest.run_id) for suite in suites.values()]
        columns = dict(zip(_drive_names(suites), shorts, strict=True))
    advice = _print_figures(rows, columns)
    left_out = [each.part for each in result.outcomes if each.left_out is not None]
    if left_out:
        print_line(cut(f"left out: {and_listed(left_out)}", line_width()), "warn")
    return advice


def _chosen(
    run: RunFolder, suites: Iterable[RunFolder], shown: Sequence[Mapping[tuple[str, str], Shown]]
) -> list[tuple[str, str]]:
    """Return part and name of the figures to show: the review's tiles, else the first of each part."""
    every = dict.fromkeys(key for own in shown for key in own)
    tiles = run.manifest.review.get("tiles") or ()
    assert isinstance(tiles, list | tuple)
    named = [key for name in tiles for key in every if key[1] == name]
    if named:
        return named[:FIGURES]
    named = [key for name in top_figures() for key in every if key[1] == name]
    turns: dict[tuple[str, str], int] = {}
    for suite in suites:
        for whose, each in runs_of(suite):
            part = whose["part"].partition(" #")[0]
            for turn, name in enumerate(_telling(metrics_of(each))):
                turns.setdefault((part, name), turn)
    parts = {part for part, _ in named}
    others = sorted((key for key in every if key not in named), key=lambda key: turns.get(key, len(turns)))
    first = [key for key in others if key[0] not in parts and not turns.get(key, 1)]
    kept = list(dict.fromkeys([*named, *first, *others]))[:FIGURES]
    return [key for key in every if key in kept]


def _titles(suites: Iterable[RunFolder]) -> dict[str, str]:
    """Return a title for each part: that of its method if all differ, else its label; empty for one part."""
    found = {child.label: child.title for suite in suites for child in suite.manifest.children}
    if len(found) == 1:
        return dict.fromkeys(found, "")
    alike = len(set(found.values())) < len(found) or not all(found.values())
    return {part: part for part in found} if alike else found


def _label(figure: Shown, titles: Mapping[str, str]) -> str:
    title = titles.get(figure.part, figure.part)
    return (
        title if title and figure.label in _PLAIN_LABELS else ", ".join(filter(None, (title, figure.label)))
    )


def _drive_names(suites: Mapping[str, RunFolder]) -> list[str]:
    """Return distinct names of drives."""
    names = []
    for suite in suites.values():
        first = next((each for _, each in runs_of(suite)), suite)  # a simulated drive has its name only there
        names.append(one_line(plain_drive(first.manifest.drive.name)))
    return [
        name if names.count(name) == 1 else f"#{names[: at + 1].count(name)} {name}"
        for at, name in enumerate(names)
    ]


def _print_figures(rows: Sequence[_Row], columns: Mapping[str, str]) -> str:
    """Print figures below the names of their columns, with a short legend; return the advice on the gravest.

    Parameters
    ----------
    columns
        The run id of each column, by the column's name; empty if the header names the only run.
    """
    print_line()
    if not rows:
        print_line("No headline figure.")
        return ""
    letters = Letters(code for row in rows for each in row.figures if each for code in each.qualified)
    of_columns = list(zip(*(row.figures for row in rows), strict=True))
    cells = [marked_cells(own, letters) for own in of_columns]
    if len(columns) > len(cells):  # repeats also have interval, confidence and runs
        cells += [[one.more[at] if one and one.more else "" for one in of_columns[0]] for at in range(3)]
    heads = [_head(name, own) for name, own in zip(columns, cells, strict=True)]
    tall = max(map(len, heads))
    whole = [[*[""] * (tall - len(head)), *head, *own] for head, own in zip(heads, cells, strict=True)]
    room = line_width() - sum(GAP + max(map(visible_length, own)) for own in whole)
    labels = (cut(one_line(row.label), max(_LABEL, room)) for row in rows)
    whole.insert(0, [*[""] * (tall - 1), "figure", *labels])
    if any(columns.values()):
        whole = [[*own, name] for own, name in zip(whole, ("run", *columns.values()), strict=True)]
    lines = [*zip(*whole, strict=True)]
    for number, shown in enumerate(by_columns(lines, [""] * len(whole), line_width())):
        if number:
            print_line()
        right = range(1, len(shown))
        for at, line in enumerate(table([[row[each] for each in shown] for row in lines], right=right)):
            if line:  # empty where these names have fewer lines than those in the table above
                print_line(line, "dim" if at < tall else None)
    if any(each is not None and each.runs > 1 for own in of_columns[1:] for each in own):
        print_line("Values are medians over the runs of a drive.", "dim")
    print_apart(dict(zip(columns, ([each for each in own if each] for own in of_columns), strict=False)))
    return letters.print_labels()


def _head(name: str, cells: Sequence[str]) -> list[str]:
    """Return the name of a column in at most two lines, as narrow as possible."""
    width = max(_NAME, *map(visible_length, cells))
    first, *rest = wrapped(name, width)
    return [first, *([cut(" ".join(rest), width)] if rest else ())]


def _print_alarms(run: RunFolder) -> None:
    """Print a line for each kind of alarm: the text of the first, and how many parts have it."""
    found: dict[str, list[str]] = {}
    runs = [each for _, each in runs_of(run)]
    for each in runs:
        for code, what in _levels(each)["alarm"]:
            found.setdefault(code, []).append(what)
    if found:
        print_line()
    for whats in [*found.values()][:_ALARMS]:
        of = f" ({len(whats)} of {counted(len(runs), 'part')})" if len(runs) > 1 else ""
        text = cut(one_line(whats[0]), line_width() - len("warning: ") - len(of))
        print_line(f"{paint('warning:', 'warn')} {text}{of}")
    if len(found) > _ALARMS:
        print_line(f"{paint('warning:', 'warn')} {counted(len(found) - _ALARMS, 'other')}, see --all")


def _levels(run: RunFolder) -> dict[Level, list[tuple[str, str]]]:
    """Return a run's warnings by level: each code, and its first text."""
    found: dict[Level, list[tuple[str, str]]] = {"alarm": [], "note": []}
    for each in warned_steps(warned_of(run), run.steps()):
        found[level_of(each.code)].append((each.code, each.worded[0].what))
    return found
