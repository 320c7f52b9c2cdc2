"""Shows a run as text in a terminal, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ssdlab.cli.fitting import cut, line_width, print_facts, print_tables, print_text
from ssdlab.cli.output import one_line, paint, print_line
from ssdlab.cli.showing_figures import (
    Figures,
    Marks,
    print_ratings,
    qualifiers_json,
    qualifiers_of,
    rating_json,
    ratings_of,
    shown_metrics,
)
from ssdlab.lab.kinds import SUITE
from ssdlab.lab.outcome import findings_of, read_result, shown_by, warned_of
from ssdlab.lab.presented.points import scalars_table, tables_of_points
from ssdlab.lab.verbs.verb import describe_step
from ssdlab.model import units
from ssdlab.model.warning_texts import level_of
from ssdlab.results.claim import sentence
from ssdlab.results.kind import loaded
from ssdlab.results.metered import energy_words, limit_words, meter_words
from ssdlab.results.remarks import departure_text, gathered_departures, warned_steps
from ssdlab.results.run_folder import MANIFEST, RunFolder, read_manifest
from ssdlab.results.store import actual_status, run_words, short_id
from ssdlab.results.time_line import changes_of, drive_findings
from ssdlab.results.unwritten_tables import NOT_WRITTEN, continue_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ssdlab.cli.printed import ShowDocument, SuiteFacts
    from ssdlab.model.warning_texts import Level
    from ssdlab.results.claim import Claim
    from ssdlab.results.kind import ResultKind
    from ssdlab.results.schema import Manifest, Note, Replaced, ResultBase, VariantInfo

SCHEMA: Final = "ssdlab.show/1"
_NOTES = 3
"""Maximum user notes on one screen."""
_REDOING = "being repeated"
_KINDS: dict[Level, str] = {"alarm": "warning", "note": "note"}
_ENGINES = {"sync": "threads of one synchronous I/O", "uring": "io_uring", "sim": "simulated"}


def as_json(run: RunFolder) -> ShowDocument:
    """Return a run as JSON, schema ssdlab.show/1."""
    manifest = run.manifest.model_dump(mode="json", by_alias=True)
    manifest["status"] = actual_status(run.path, run.manifest)
    manifest["warnings"] = [each.model_dump(mode="json") for each in warned_of(run)]
    return {
        "schema": SCHEMA,
        "run": run.manifest.run_id,
        "folder": str(run.path),
        "status": manifest["status"],
        "seal": run.seal_state,
        "torn_bytes": torn_bytes(run, manifest["status"]),
        "result": manifest["result"],
        "qualifiers": qualifiers_json(run),
        **(_of_suite(run) if run.manifest.children else _of_run(run)),
        "manifest": manifest,
        "steps": [
            {
                "ordinal": s.ordinal,
                "attempt": s.attempt,
                "verb": s.verb,
                "label": s.label,
                "result": s.result.model_dump(mode="json"),
            }
            for s in run.steps()
        ],
        "telemetry": {
            "findings": [
                {"says": sentence(claim), "steps": list(claim.evidence.steps)}
                for claim in _drive_findings(run, read_result(run))
            ],
            "changes": changes_of(run.steps()),
        },
        "voided": [
            {"ordinal": v.ordinal, "attempt": v.attempt, "label": v.label, "why": v.why} for v in run.voided()
        ],
        "notes": [{**note.model_dump(), **whose} for whose, note in _notes(run)],
    }


def _of_run(run: RunFolder) -> SuiteFacts:
    return {"rated": [dict(rating_json(each)) for each in ratings_of(run)]}


def _of_suite(run: RunFolder) -> SuiteFacts:
    """Return ratings and remarks of a finished suite's parts; empty for an unfinished suite."""
    from ssdlab.cli.showing_suite import suite_json

    return suite_json(run) if run.manifest.result is not None else {"rated": [], "remarks": []}


def torn_bytes(run: RunFolder, status: str) -> int:
    """Return the length of an incomplete last journal record; 0 while the run may still be writing it."""
    return 0 if status == "running" else run.read_journal().torn_bytes


def print_result(run: RunFolder, *, whole: bool = False) -> None:
    """Print a run's header, result and remarks; with `whole`, also all figures, tables and notes."""
    manifest = run.manifest
    status = actual_status(run.path, manifest)
    of = "" if manifest.several_drives else f": {manifest.drive_names}"
    title, result = one_line(f"{manifest.method.title}{of}"), read_result(run)
    print_text(title if whole else cut(title, line_width()), "bold")
    print_facts(each for each in _header(manifest, status, result) if whole or each[0] in _BRIEF)
    if whole:
        _print_whole(run, result, status)
        return
    from ssdlab.cli.showing_brief import print_brief, print_more

    if result is None:
        _print_unfinished(run, status, whole=False)
    advice = "" if result is None else print_brief(run, result)
    _print_remarks([*_noted(run)[:_NOTES], *_broken(run)])
    print_more(run, status, advice)


def _print_whole(run: RunFolder, result: ResultBase | None, status: str) -> None:
    if result is None:
        _print_unfinished(run, status, whole=True)
    elif SUITE.holds(result):
        from ssdlab.cli.showing_suite import print_suite

        print_suite(run, result)
    else:
        kind, marks = shown_by(result, run.manifest.method.name), Marks(qualifiers_of(run))
        if kind.terminal is not None:
            loaded(kind.terminal)(result)
        else:
            print_kind(kind, result)
        _print_figures(result, marks)
        print_ratings({"": run}, marks)
        marks.print()
    _print_proofs(run)
    _print_drive(run, result)
    _print_remarks([*_remarks(run), *_broken(run)])


def print_kind(kind: ResultKind[Any], result: ResultBase) -> None:
    """Print the findings and tables of a result, without the headline figures."""
    print_line()
    for claim in findings_of(kind, result):
        print_text(sentence(claim), "bold", "  ")
    figures = scalars_table(result)
    print_tables(each for each in loaded(kind.tables)(result) if each != figures)


def _print_figures(result: ResultBase, marks: Marks) -> None:
    """Print the headline figures that have a value or a reason for having none."""
    found = shown_metrics("", result.scalars)
    if found:
        Figures({"value": found}, marks).print(("figure", "value"))
    elif result.scalars:
        print_line()
        print_line("No headline figures.")


_SEALS = {
    "sealed": None,
    "unfinished": None,
    "not sealed": "not sealed: a version without seals wrote it, so damage cannot be detected",
}


_BRIEF = ("run", "drive", "variant", "power limit", "seal", "quick", "verdict")
"""The header fields that are shown without `--all`."""


def _header(manifest: Manifest, status: str, result: ResultBase | None) -> list[tuple[str, object]]:
    drive = manifest.drive
    passed = None if result is None else result.passed
    return [
        ("run", f"{manifest.run_id} (short: {short_id(manifest.run_id)}), {status}"),
        *_drives(manifest),
        ("variant", None if drive.variant is None else _variant(drive.variant)),
        ("engine", _ENGINES.get(manifest.engine, manifest.engine)),
        ("power", meter_words(manifest)),
        ("energy", energy_words(manifest)),
        ("power limit", limit_words(manifest)),
        ("begun", manifest.created),
        ("seal", _SEALS[manifest.seal_state]),
        ("quick", "indicative only: shorter than the method requires" if manifest.quick else None),
        ("verdict", None if passed is None else "passed" if passed else "failed"),
    ]


def _drives(manifest: Manifest) -> list[tuple[str, object]]:
    """Return header fields for the drive, unless there are several, and for a review's absent drives."""
    drive = manifest.drive
    several = [child.drive for child in manifest.children if child.suite]
    known = "" if drive.id == drive.text else f", {drive.id}"
    size = f", {units.capacity_text(drive.capacity_bytes)}" if drive.capacity_bytes else ""
    own = None if several else f"{drive.text}{size}{known}"
    absent = _absent(manifest, several or [drive.text])
    return [("drive", own), *(("absent", text) for text in absent)]


def _absent(manifest: Manifest, texts: list[str]) -> tuple[str, ...]:
    if manifest.member is not None or not manifest.review:
        return ()
    from ssdlab.lab.suites.suite import absent_drives  # not loaded for a single method's run

    return absent_drives(manifest.review, texts)


def _variant(variant: VariantInfo) -> str:
    words, usable = list(variant.words), variant.usable
    if usable is not None:
        size = units.capacity_text(usable.length)
        words.append(
            f"{size} used, {units.share_text(usable.spare)} of the {usable.of} spare by the {usable.by}"
        )
    return ", ".join(words)


def _print_unfinished(run: RunFolder, status: str, *, whole: bool) -> None:
    print_line()
    if run.manifest.children:
        from ssdlab.cli.showing_suite import print_suite_state

        print_suite_state(run, whole=whole)
    else:
        finished = len(run.steps())
        counted = "1 step is" if finished == 1 else f"{finished} steps are"
        print_line(f"{counted} finished; there is no result yet.")
    if run.manifest.failure is not None:
        print_text(f"Stopped: {run.manifest.failure.what}", indent="  ")
    if whole and status != "running" and not run.manifest.children:
        from ssdlab.lab.job import finished_steps  # imports every kind of step

        if points := finished_steps(run).points:
            print_tables(tables_of_points(points))
            print_line()
    verb = "watch" if status == "running" else "resume"
    print_line(f"ssdlab {verb} {run_words(run.path)}")


def _notes(run: RunFolder) -> Iterator[tuple[dict[str, str], Note]]:
    """Yield the notes of a run and, for a suite, of its parts, each with part and drive."""
    yield from (({}, note) for note in run.notes())
    own = "drive" if run.manifest.several_drives else "part"
    for child in run.manifest.children:
        folder = run.path.parent / child.run_id
        if (folder / MANIFEST).exists():
            yield from (({own: child.part, **whose}, note) for whose, note in _notes(RunFolder(folder)))


def _replaced(run: RunFolder) -> Iterator[tuple[dict[str, str], Replaced]]:
    """Yield the earlier runs of repeated parts of a suite; for several drives, each with the drive."""
    yield from (({}, each) for each in run.manifest.replaced)
    for child in run.manifest.children if run.manifest.several_drives else ():
        folder = run.path.parent / child.run_id
        if (folder / MANIFEST).exists():
            yield from (({"drive": child.part}, each) for each in read_manifest(folder).replaced)


def _note_text(whose: dict[str, str], note: Note) -> str:
    chapter = f"{note.chapter}: " if note.chapter else ""
    return _dated(note.when, f"{chapter}{note.words}", whose)


def _dated(when: str, words: str, whose: dict[str, str]) -> str:
    return f"{when}  {words}" + (f" ({', '.join(whose.values())})" if whose else "")


def _print_proofs(run: RunFolder) -> None:
    """Print the outcome of purges and trims."""
    found = [(step.label, text) for step in run.steps() if (text := describe_step(step)) is not None]
    if found:
        print_line()
        print_facts(found)


def _drive_findings(run: RunFolder, result: ResultBase | None) -> tuple[Claim, ...]:
    return drive_findings(run.steps(), () if result is None else result.scalars)


def _print_drive(run: RunFolder, result: ResultBase | None) -> None:
    """Print findings from the drive's own counters."""
    found = _drive_findings(run, result)
    if found:
        print_line()
        print_facts([("drive", sentence(claim)) for claim in found])


def _remarks(run: RunFolder) -> list[tuple[str, str]]:
    """Return departures, warnings, voided attempts, replaced runs and notes, each with its kind.

    Warnings of one kind share a line, which names the steps.
    """
    manifest = run.manifest
    shown = manifest.result is not None and bool(manifest.children)
    lines = [
        ("departure", departure_text(each))
        for each in gathered_departures(manifest)
        # Left-out parts are in the table, and remarks on several drives are printed with each drive.
        if not shown or (each.code != "left-out" and not manifest.several_drives)
    ]
    lines += [(_KINDS[level_of(w.code)], w.line) for w in warned_steps(warned_of(run), run.steps())]
    lines += [("voided", f"step {v.ordinal + 1}, attempt {v.attempt}: {v.why}") for v in run.voided()]
    lines += [("replaced", _dated(each.at, each.words, whose)) for whose, each in _replaced(run)]
    return [*lines, *_noted(run)]


def _noted(run: RunFolder) -> list[tuple[str, str]]:
    return [("note", _note_text(whose, note)) for whose, note in _notes(run)]


def _broken(run: RunFolder) -> list[tuple[str, str]]:
    """Return faults in a run's files, and how to fix them."""
    lines = [(NOT_WRITTEN, continue_words(run.path))] if run.lacks_tables else []
    if run.manifest.redoing:
        parts = ", ".join(child.part for child in run.manifest.redoing)
        lines.append((_REDOING, f"{parts}; {continue_words(run.path)}"))
    if torn := torn_bytes(run, actual_status(run.path, run.manifest)):
        lines.append(("torn", f"the journal ends with {torn} bytes of an incomplete record; left out"))
    return lines


def _print_remarks(lines: Sequence[tuple[str, str]]) -> None:
    if lines:
        print_line()
    for kind, text in lines:
        shown = f"{paint(kind + ':', 'warn')} {text}"
        if kind in (NOT_WRITTEN, _REDOING):  # commands must not be wrapped
            print_line(one_line(shown))
        else:
            print_text(shown, indent="  ")
