"""Shows suites in the terminal and as JSON: the runs of one drive, or several drives side by side."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ssdlab.cli.fitting import print_facts, print_parted, print_text, short_drive
from ssdlab.cli.output import one_line, paint, print_line
from ssdlab.cli.showing_figures import (
    Figures,
    Marks,
    Shown,
    metrics_of,
    parts_of,
    print_apart,
    print_ratings,
    qualifiers_of,
    rating_json,
    ratings_of,
    runs_of,
    shown_metrics,
    shown_of,
    shown_repeated,
)
from ssdlab.lab.outcome import findings_of, read_result, shown_by, warned_of
from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.units import counted
from ssdlab.results.claim import sentence
from ssdlab.results.qualifiers import ORDER, UNKNOWN
from ssdlab.results.remarks import departure_text, gathered_departures, warned_steps
from ssdlab.results.run_folder import MANIFEST, read_manifest
from ssdlab.results.schema import NOT_ASKED_FOR
from ssdlab.results.store import actual_status, short_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ssdlab.cli.printed import FigureSideBySide, Remark, SuiteFacts
    from ssdlab.lab.kinds import SuiteResult
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.results.schema import Child

_KINDS = ("departure", "warning")
_OF_FIGURES = ("throttled", "failed", "caveat")
"""Codes of warnings that a reader of a part's figures must know."""


def print_suite(run: RunFolder, result: SuiteResult) -> None:
    from ssdlab.runs.suites.outcome import finished_children

    runs = {each.manifest.run_id: each for each in finished_children(run.path.parent, run.manifest.children)}
    done = {each.part: runs[each.run_id] for each in result.outcomes if each.left_out is None}
    marks = Marks(qualifiers_of(run))
    names: Mapping[str, str] = {part: part for part in done}
    if run.manifest.several_drives:
        names = _print_drives(run, done, marks)
        if result.repeats == 1:  # of repeats, `show` prints the ratings of each run
            print_ratings({f"{names[of['drive']]}, {of['part']}": each for of, each in runs_of(run)}, marks)
    elif result.repeated:
        _print_repeated(run, result, done, marks)
    else:
        _print_parts(result, done, marks)
        print_ratings(done, marks)
    marks.print()
    _print_remarks(run, done, names)
    print_line()
    shown = _only_run(next(iter(done.values()))).manifest.run_id
    print_line(f"Details of one part: ssdlab show {short_id(shown)}", "dim")


def _print_parts(result: SuiteResult, done: Mapping[str, RunFolder], marks: Marks) -> None:
    """Print the figures of each part below its name; a part without a value shows its finding instead."""
    figures: list[Shown] = []
    headings: dict[str, list[str]] = {}
    for each in result.outcomes:
        if each.left_out == NOT_ASKED_FOR:
            continue  # one departure names all such parts
        if each.left_out is not None:
            headings[each.part] = [f"{each.part}: left out, {each.left_out}"]
            continue
        own = shown_metrics(each.part, metrics_of(done[each.part]))
        headings[each.part] = [f"{each.part}  {short_id(done[each.part].manifest.run_id)}"]
        if all(figure.value is None for figure in own):
            headings[each.part].append(f"  {_instead(done[each.part])}")
        figures += own
    Figures({"value": figures}, marks, headings).print(("figure", "value"))


def _print_repeated(run: RunFolder, result: SuiteResult, done: Mapping[str, RunFolder], marks: Marks) -> None:
    """Print the first figure of each run, and the medians of all with their confidence intervals."""
    rows = []
    for each in result.outcomes:
        if each.left_out == NOT_ASKED_FOR:
            continue
        if each.left_out is not None:
            rows.append((each.part, "left out", each.left_out))
            continue
        own = shown_metrics(each.part, metrics_of(done[each.part]))
        first = next((f"{one.label}  {one.text} {marks.of(one.qualified)}" for one in own), None)
        short = short_id(done[each.part].manifest.run_id)
        rows.append((each.part, short, first or _instead(done[each.part])))
    print_line()
    print_parted(rows, ("part", "run", "result"))
    figures = shown_repeated(run, result)
    titles = ("figure", "median", "interval", "confidence", "runs")
    Figures({"median": figures}, marks, _by_part(figures)).print(titles)
    print_apart({"": figures})


def _by_part(figures: Iterable[Shown]) -> dict[str, list[str]]:
    """Return the names of parts as headings, if there are several parts."""
    parts = list(dict.fromkeys(each.part for each in figures))
    return {part: [part] for part in parts} if len(parts) > 1 else {}


def _print_drives(run: RunFolder, done: Mapping[str, RunFolder], marks: Marks) -> dict[str, str]:
    """Print drives and their figures side by side; return each drive's name by part."""
    columns = {part: [each._replace(more=()) for each in shown_of(suite)] for part, suite in done.items()}
    found = Figures(columns, marks, _by_part(each for own in columns.values() for each in own))
    names = _heads(done, found)
    print_line()
    print_facts(
        [
            (names.get(child.part, child.part), f"{_drive(child)} ({_made(child, done.get(child.part))})")
            for child in run.manifest.children
        ]
    )
    found.print(("figure", *names.values()))
    if any(each.runs > 1 for own in columns.values() for each in own):
        print_text("Values are medians over a drive's runs; marks show how many runs they apply to.", "dim")
    print_apart({names.get(part, part): own for part, own in columns.items()})
    return names


def _heads(done: Mapping[str, RunFolder], figures: Figures) -> dict[str, str]:
    """Return a heading for each drive: its short name, unless that is ambiguous or needs one more table."""
    short = [one_line(short_drive(each.manifest.drive.name)) for each in done.values()]
    more = len(figures.tables(("figure", *short))) > len(figures.tables(("figure", *done)))
    return dict(zip(done, done if more or len(set(short)) < len(short) else short, strict=True))


def _drive(child: Child) -> str:
    """Return a drive's title and path; for a simulated drive, its text as given."""
    return child.drive if child.drive.startswith(SIMULATED_PREFIX) else f"{child.title}, {child.drive}"


def _made(drive: Child, suite: RunFolder | None) -> str:
    """Return the run id of one drive in a comparison, and how many parts it has, reuses or leaves out."""
    if suite is None:
        return f"left out, {drive.left_out}"
    children = suite.manifest.children
    counts = {
        "from the library": sum(child.standing for child in children),
        "left out": sum(child.left_out is not None for child in children),
    }
    words = [short_id(_only_run(suite).manifest.run_id), counted(len(children), "part")]
    return ", ".join([*words, *(f"{count} {what}" for what, count in counts.items() if count)])


def _only_run(suite: RunFolder) -> RunFolder:
    """Return the only run of a drive's suite, or the suite itself if it has several runs."""
    runs = list(parts_of(suite).values())
    return runs[0] if len(runs) == 1 else suite


def _instead(run: RunFolder) -> str:
    """Return the first finding of a run that has no headline figures."""
    found = read_result(run)
    claims = () if found is None else findings_of(shown_by(found, run.manifest.method.name), found)
    return next(map(sentence, claims), "no headline figure was measured")


def _print_remarks(run: RunFolder, done: Mapping[str, RunFolder], names: Mapping[str, str]) -> None:
    """Print the departures and warnings of parts, each once, with the parts that have it.

    Remarks that the suite itself has are left out: the header or the lines that follow print them.
    """
    own = {("departure", departure_text(each)) for each in gathered_departures(run.manifest)}
    found = [each for each in _gathered(done, quick=not run.manifest.quick) if each[0] not in own]
    if found:
        print_line()
    for (kind, text), whose in found:
        of = _scope(whose, names) if run.manifest.several_drives else ", ".join(whose)
        shown = "" if whose == list(done) else f" ({of})"
        print_text(f"{paint(f'{kind}:', 'warn')} {text}{shown}", indent="  ")


def _scope(whose: Sequence[str], names: Mapping[str, str]) -> str:
    """Return the drives, or their parts, that a remark applies to."""
    drives: dict[str, list[str]] = {}
    for each in whose:
        drive, _, part = each.partition(", ")
        drives.setdefault(part, []).append(names[drive])
    parts: dict[str, list[str]] = {}
    for part, having in drives.items():
        of = "all drives" if len(having) == len(names) else ", ".join(having)
        parts.setdefault(of, []).extend([part] if part else [])
    return "; ".join(", ".join((of, *own)) for of, own in parts.items())


def suite_json(run: RunFolder) -> SuiteFacts:
    """Return ratings and remarks of a suite's parts, and for several drives the figures side by side."""
    parts = parts_of(run)
    rated = [{**whose, **rating_json(share)} for whose, each in runs_of(run) for share in ratings_of(each)]
    remarks: list[Remark] = [
        {"kind": kind, "what": text, "parts": whose} for (kind, text), whose in _gathered(parts)
    ]
    found: SuiteFacts = {"rated": rated, "remarks": remarks}
    return {**found, "side_by_side": _beside_json(parts)} if run.manifest.several_drives else found


def _beside_json(suites: Mapping[str, RunFolder]) -> list[FigureSideBySide]:
    """Return each figure for every drive; null if withheld."""
    found: dict[tuple[str, str], dict[str, Shown]] = {}
    for drive, suite in suites.items():
        for each in shown_of(suite):
            found.setdefault((each.part, each.name), {})[drive] = each
    return [
        {
            "part": part,
            "figure": name,
            "label": f"{first.label}, median" if first.runs > 1 else first.label,
            "unit": first.unit,
            "drives": {
                drive: {
                    "value": each.value,
                    "state": each.state,
                    "qualifiers": dict(sorted(each.qualified.items(), key=lambda one: _grave(one[0]))),
                    "runs": each.runs,
                }
                for drive, each in own.items()
            },
        }
        for (part, name), own in found.items()
        for first in [next(iter(own.values()))]
    ]


def _grave(code: str) -> int:
    return ORDER.get(code, ORDER[UNKNOWN])


def _gathered(
    parts: Mapping[str, RunFolder], *, quick: bool = True
) -> list[tuple[tuple[str, str], list[str]]]:
    found: dict[tuple[str, str], list[str]] = {}
    for part, run in parts.items():
        for whose, each in ((part, run), *_without_figures(part, run)):
            for remark in _remarks(each, quick=quick):
                found.setdefault(remark, []).append(whose)
    return sorted(found.items(), key=lambda remark: _KINDS.index(remark[0][0]))


def _without_figures(drive: str, suite: RunFolder) -> Iterator[tuple[str, RunFolder]]:
    """Yield a drive's parts without headline figures; their remarks explain a dash in the table."""
    for part, run in parts_of(suite).items():
        result = read_result(run)
        if result is not None and all(figure.value is None for figure in result.scalars):
            yield f"{drive}, {part}", run


def _remarks(run: RunFolder, *, quick: bool) -> Iterator[tuple[str, str]]:
    """Yield the essential remarks on a part; `ssdlab show` of its own run prints all of them."""
    for departure in gathered_departures(run.manifest):
        if quick or departure.code != "quick":
            yield "departure", departure_text(departure)
    for warned in warned_steps(warned_of(run), run.steps()):
        if warned.code in _OF_FIGURES:
            yield "warning", warned.line


def print_suite_state(run: RunFolder, *, whole: bool = True) -> None:
    """Print the state of each run of an unfinished suite; without `whole`, only the number in each state."""
    states = [_state(child, run.path.parent / child.run_id) for child in run.manifest.children]
    if not whole:
        counts = Counter(each.partition(":")[0] for each in states)
        print_line(f"Parts: {', '.join(f'{count} {state}' for state, count in counts.items())}.")
        return
    rows = []
    for child, state in zip(run.manifest.children, states, strict=True):
        drive = (_drive(child),) if child.suite else ()
        rows.append((child.part, short_id(child.run_id), state, *drive))
    print_parted(rows, ("part", "run", "", "")[: len(rows[0])])


def _state(child: Child, folder: Any) -> str:  # noqa: ANN401 - a path
    if child.left_out is not None:
        return f"left out: {child.left_out}"
    if not (folder / MANIFEST).exists():
        return "not begun"
    return actual_status(folder, read_manifest(folder))
