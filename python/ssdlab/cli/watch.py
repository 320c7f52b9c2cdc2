"""`ssdlab watch`: follow a run from another terminal."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.cli.completion import RunName
from ssdlab.cli.flags import Library
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import print_json, print_line
from ssdlab.cli.progress import Place, display, live_lines, status_lines
from ssdlab.model.printable import plain_drive
from ssdlab.results.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ssdlab.results.schema import ActualStatus

SCHEMA = "ssdlab.watch/1"
_LOOK_EVERY_S = 0.5


def watch(run: RunName, /, *, library: Library = None, json: bool = False) -> None:
    """Show the progress of a run until it ends. Changes nothing, and may be stopped at any time.

    Parameters
    ----------
    run
        The run: its folder, its id, a prefix of the id or of its last letters, or `last`.
    json
        Print the present state once, as JSON, schema ssdlab.watch/1.
    """
    from ssdlab.results.store import find_run, run_words

    folder = find_run(run, library_of(library))
    _check(folder)
    if json:
        status, live = _look(folder)
        print_json(
            {"schema": SCHEMA, "run": folder.name, "status": status, "live": live, "parts": _parts(folder)}
        )
        return
    shown = display(at_once=True)
    known: dict[str, str] = {}
    try:
        while True:
            status, live = _look(folder)
            if status != "running":
                break
            if live is not None:
                shown.update(status_lines(Progress.of(live)))
            elif parts := _named(_parts(folder), folder):
                states = {name: str(part["status"]) for name, part in parts.items()}
                for line in _changes(known, states):
                    shown.say(line)
                known = states
                shown.update(_suite_lines(parts))
            time.sleep(_LOOK_EVERY_S)
    finally:
        shown.close()
    _check(folder)
    advice = {"finished": "show", "failed": "show"}.get(status, "resume")
    print_line(f"{folder.name} is {status}: ssdlab {advice} {run_words(folder)}")


def _check(folder: Path) -> None:
    """Check a run, or a suite and its started runs, against their seals."""
    from ssdlab.results.run_folder import MANIFEST, RunFolder
    from ssdlab.results.verifying import check_run

    suite = RunFolder(folder)
    for child in suite.manifest.children:
        if (folder.parent / child.run_id / MANIFEST).exists():
            check_run(RunFolder(folder.parent / child.run_id))
    check_run(suite)


def _look(folder: Path) -> tuple[ActualStatus, dict[str, Any] | None]:
    from ssdlab.results.lease import is_running
    from ssdlab.results.progress import read_live
    from ssdlab.results.run_folder import read_manifest
    from ssdlab.results.store import actual_status

    manifest = read_manifest(folder)
    status = actual_status(folder, manifest)
    if manifest.redoing and is_running(folder):
        status = "running"  # the sealed status stays unchanged meanwhile
    return status, read_live(folder)


def _parts(folder: Path) -> dict[str, dict[str, Any]]:
    """Return status and live state of each run of a suite; empty for a single run."""
    from ssdlab.results.run_folder import MANIFEST, read_manifest

    found: dict[str, dict[str, Any]] = {}
    manifest = read_manifest(folder)
    for child in {each.part: each for each in (*manifest.children, *manifest.redoing)}.values():
        path = folder.parent / child.run_id
        begun = (path / MANIFEST).exists()
        status, live = _look(path) if begun else ("left out" if child.left_out else "not begun", None)
        took_s = _took_s(path) if status == "finished" else None
        found[child.part] = {"run": child.run_id, "status": status, "live": live, "took_s": took_s}
        if child.suite and begun:  # a drive's suite has parts of its own
            found |= {f"{child.part}, {part}": state for part, state in _parts(path).items()}
    return found


def _changes(known: Mapping[str, str], states: Mapping[str, str]) -> Iterator[str]:
    """Yield the parts whose state changed; at first, those that have started or were left out."""
    for name, status in states.items():
        before = known.get(name, "not begun")
        if status == "interrupted" and known and before != "running":
            continue  # just created: the process that runs it has no lease yet
        if status != before:
            yield f"{name}: {'begins' if status == 'running' and known else status}"


def _took_s(folder: Path) -> float:
    """Return the total time of a run's sessions, in seconds."""
    from ssdlab.results.run_folder import read_manifest

    spans = ((each.started, each.ended) for each in read_manifest(folder).sessions)
    moments = [[datetime.fromisoformat(each) for each in span if each] for span in spans]
    return sum((ends - starts).total_seconds() for starts, *ended in moments for ends in ended)


def _named(parts: Mapping[str, dict[str, Any]], folder: Path) -> dict[str, dict[str, Any]]:
    """Return parts with the names of their drives, unless two drives have the same name."""
    from ssdlab.results.run_folder import read_manifest

    drives = {each.part: plain_drive(each.title) for each in read_manifest(folder).children if each.suite}
    if len(set(drives.values())) < len(drives):
        return dict(parts)
    found = {}
    for name, part in parts.items():
        drive, *rest = name.split(", ", 1)
        found[", ".join((drives.get(drive, drive), *rest))] = part
    return found


def _suite_lines(parts: Mapping[str, dict[str, Any]]) -> tuple[str, ...]:
    """Return lines with the number of finished parts, the progress of running ones, and the time left."""
    by_drive: dict[str, dict[str, dict[str, Any]]] = {}
    for name, part in parts.items():
        drive, comma, own = name.rpartition(", ")
        if part["status"] != "left out" and (
            comma or not any(each.startswith(f"{name}, ") for each in parts)
        ):
            by_drive.setdefault(drive, {})[own] = part
    running: dict[Place, Progress] = {}
    waiting: list[int] = []
    took: dict[int, list[float]] = {}
    for drive, every in by_drive.items():
        for number, (name, part) in enumerate(every.items(), start=1):
            if part["status"] == "finished":
                took.setdefault(number, []).extend([part["took_s"]] if part.get("took_s") else ())
            elif part["status"] == "running" and part["live"] is not None:
                running[Place(drive, number, len(every), name)] = Progress.of(part["live"])
            else:
                waiting.append(number)
    whole = [part for every in by_drive.values() for part in every.values()]
    finished = sum(part["status"] == "finished" for part in whole)
    return (f"{finished} of {len(whole)} parts finished", *live_lines(running, waiting, took))
