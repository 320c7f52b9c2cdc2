"""Suites in the terminal: progress and outcome of their runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ssdlab.cli.output import paint, print_line, print_table
from ssdlab.cli.showing_drives import beside_json, only_run, print_beside
from ssdlab.cli.showing_qualifiers import figures_of, parts_of, print_qualifiers
from ssdlab.cli.showing_ratings import rating_json, rating_row, ratings_of
from ssdlab.methods.presented.points import figure_words
from ssdlab.methods.results.outcome import read_result, shown_by, warned_of
from ssdlab.model import units
from ssdlab.model.units import counted, share_text
from ssdlab.results.claim import sentence
from ssdlab.results.departures import departure_text, gathered_departures
from ssdlab.results.kind import loaded
from ssdlab.results.metric import labelled
from ssdlab.results.run_folder import MANIFEST, read_manifest
from ssdlab.results.store import actual_status, short_id
from ssdlab.results.warned_steps import warned_steps

if TYPE_CHECKING:
    from ssdlab.methods.results.suite import SuiteResult
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.results.schema import Child


_FIGURES_SHOWN = 4
"""Of each part; all of them are in its own run."""
_KINDS = ("departure", "warning")
_OF_FIGURES = ("throttled", "failed", "caveat")
"""Warnings without which the figures of a part are read as something else."""


def print_suite(run: RunFolder, result: SuiteResult) -> None:
    """Print the outcome of the runs of a suite."""
    from ssdlab.runs.suites.outcome import finished_children

    runs = {each.manifest.run_id: each for each in finished_children(run.path.parent, run.manifest.children)}
    print_line()
    rows: list[tuple[object, ...]] = []
    for each in result.outcomes:
        if each.left_out is not None:
            rows.append((each.part, "left out", each.left_out))
            continue
        figures = _headlines(runs[each.run_id])[: 1 if result.repeated else None]  # medians have the others
        named = runs[each.run_id]
        if run.manifest.several_drives:
            figures, named = [_drive_line(named)], only_run(named)
        rows.append((each.part, short_id(named.manifest.run_id), figures[0] if figures else ""))
        rows += [("", "", figure) for figure in figures[1:_FIGURES_SHOWN]]
        if len(figures) > _FIGURES_SHOWN:
            rows.append(("", "", f"and {units.counted(len(figures) - _FIGURES_SHOWN, 'more figure')}"))
    print_table(rows, ("part", "run", "result"))
    done = {each.part: runs[each.run_id] for each in result.outcomes if each.left_out is None}
    if run.manifest.several_drives:
        print_beside(done)
    if result.repeated:
        print_line()
        print_repeated(result)
    rated = [
        rating_row(f"{part}, {name}", share)
        for part, each in done.items()
        if not result.repeated
        for name, share in ratings_of(each)
    ]
    if rated:
        print_line()
        print_table(rated, ("rated", "", "", ""), right=(1,))
    print_qualifiers(figures_of(done))
    _print_remarks(result, done)
    print_line()
    shown = only_run(next(iter(done.values()))).manifest.run_id
    print_line(f"All of one part: ssdlab show {short_id(shown)}", "dim")


def _drive_line(suite: RunFolder) -> str:
    """Say of one drive of a comparison what it is and how much of it there is."""
    children = suite.manifest.children
    words = [suite.manifest.drive.name, counted(len(children), "part")]
    counts = {
        "stood in the library": sum(child.standing for child in children),
        "left out": sum(child.left_out is not None for child in children),
    }
    return ", ".join([*words, *(f"{count} {what}" for what, count in counts.items() if count)])


def _print_remarks(result: SuiteResult, done: Mapping[str, RunFolder]) -> None:
    """Print limits, departures and warnings of the parts, each once with the parts it is of."""
    found = _gathered(done)
    if found:
        print_line()
    for (kind, text), parts in found:
        whose = "" if parts == list(done) else f" ({', '.join(parts)})"
        print_line(f"{paint(f'{kind}:', 'warn')} {text}{whose}")


def suite_json(run: RunFolder) -> dict[str, list[dict[str, object]]]:
    """Return ratings and remarks of a suite's parts, and of several drives the figures side by side."""
    parts = parts_of(run)
    rated = [
        {"part": part, **rating_json(share)} for part, each in parts.items() for _, share in ratings_of(each)
    ]
    remarks: list[dict[str, object]] = [
        {"kind": kind, "what": text, "parts": whose} for (kind, text), whose in _gathered(parts)
    ]
    beside = {"side_by_side": beside_json(parts)} if run.manifest.several_drives else {}
    return {"rated": rated, "remarks": remarks, **beside}


def _gathered(parts: Mapping[str, RunFolder]) -> list[tuple[tuple[str, str], list[str]]]:
    found: dict[tuple[str, str], list[str]] = {}
    for part, run in parts.items():
        for whose, each in ((part, run), *_without_figures(part, run)):
            for remark in _remarks(each):
                found.setdefault(remark, []).append(whose)
    return sorted(found.items(), key=lambda remark: _KINDS.index(remark[0][0]))


def _without_figures(drive: str, suite: RunFolder) -> Iterator[tuple[str, RunFolder]]:
    """Yield of one drive of several the parts that have no headline figure: they say why there is a dash."""
    for part, run in parts_of(suite).items():
        result = read_result(run)
        if result is not None and all(figure.value is None for figure in result.scalars):
            yield f"{drive}, {part}", run


def _remarks(run: RunFolder) -> Iterator[tuple[str, str]]:
    """Yield what must be known of a part beside its figures; all else is in its own run."""
    for departure in gathered_departures(run.manifest):
        yield "departure", departure_text(departure)
    for warned in warned_steps(warned_of(run), run.steps()):
        if warned.code in _OF_FIGURES:
            yield "warning", warned.line


def print_repeated(result: SuiteResult) -> None:
    """Print the medians of repeated parts, with their confidence intervals."""
    rows = [
        (
            f"{each.part}, {labelled(each.label, each.state)}",
            units.figure_text(each.median, each.unit),
            units.ends_text(units.figure_text(each.low, each.unit), units.figure_text(each.high, each.unit)),
            share_text(each.confidence),
            len(each.values),
        )
        for each in result.repeated
    ]
    print_table(rows, ("", "median", "interval", "confidence", "runs"), right=(1, 2, 3, 4))


def print_suite_state(run: RunFolder) -> None:
    """Print how far the runs of an unfinished suite are."""
    print_line()
    rows = []
    for child in run.manifest.children:
        folder = run.path.parent / child.run_id
        rows.append((child.part, _state(child, folder), short_id(child.run_id)))
    print_table(rows, ("part", "", "run"))


def _state(child: Child, folder: Any) -> str:  # noqa: ANN401 - a path
    if child.left_out is not None:
        return f"left out: {child.left_out}"
    if not (folder / MANIFEST).exists():
        return "not begun"
    return actual_status(folder, read_manifest(folder))


def _headlines(run: RunFolder) -> list[str]:
    found = read_result(run)
    if found is None:
        return []
    figures = [f"{each.marked} {figure_words(each)}" for each in found.scalars if each.value is not None]
    if figures:
        return figures
    # Of a mix without the share that comparisons use, say, there is no headline figure.
    findings = [
        sentence(claim) for claim in loaded(shown_by(found, run.manifest.method.name).findings)(found)
    ]
    return findings[:1] or ["no headline figure was measured"]
