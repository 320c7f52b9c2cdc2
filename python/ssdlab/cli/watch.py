"""`ssdlab watch`: follow a run from another terminal."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.cli.completers import RunName
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import print_json, print_line
from ssdlab.cli.progress import display, status_lines
from ssdlab.cli.suites import suite_lines
from ssdlab.results.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ssdlab.results.schema import ActualStatus

SCHEMA = "ssdlab.watch/1"
_LOOK_EVERY_S = 0.5


def watch(run: RunName, /, *, library: Path | None = None, json: bool = False) -> None:
    """Show how far a run is until it ends. Changes nothing, and may be ended at any time.

    Parameters
    ----------
    run
        The run: its folder, its id, the beginning of its id or of its last letters, or `last`.
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
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
            elif parts := _parts(folder):
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
    """Hold a run, or a suite and the runs of it that were begun, against the seals."""
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
        status = "running"  # what it is sealed with stands meanwhile
    return status, read_live(folder)


def _parts(folder: Path) -> dict[str, dict[str, Any]]:
    """Return status and live state of each run of a suite; nothing of a single run."""
    from ssdlab.results.run_folder import MANIFEST, read_manifest

    found: dict[str, dict[str, Any]] = {}
    manifest = read_manifest(folder)
    for child in {each.part: each for each in (*manifest.children, *manifest.redoing)}.values():
        path = folder.parent / child.run_id
        begun = (path / MANIFEST).exists()
        status, live = _look(path) if begun else ("left out" if child.left_out else "not begun", None)
        found[child.part] = {"run": child.run_id, "status": status, "live": live}
        if child.suite and begun:  # its parts are what goes on
            found |= {f"{child.part}, {part}": state for part, state in _parts(path).items()}
    return found


def _changes(known: Mapping[str, str], states: Mapping[str, str]) -> Iterator[str]:
    """Say which parts are otherwise than they were; at first, how each is that was begun or left out."""
    for name, status in states.items():
        before = known.get(name, "not begun")
        if status == "interrupted" and known and before != "running":
            continue  # just made, and not yet held by who runs it
        if status != before:
            yield f"{name}: {'begins' if status == 'running' and known else status}"


def _suite_lines(parts: Mapping[str, dict[str, Any]]) -> tuple[str, ...]:
    """Return how many parts are finished, and how far those are that go on; drives are no parts."""
    drives = {name.partition(", ")[0] for name in parts if ", " in name}
    own = {name: part for name, part in parts.items() if name not in drives and part["status"] != "left out"}
    finished = sum(part["status"] == "finished" for part in own.values())
    running = {
        name: Progress.of(part["live"])
        for name, part in own.items()
        if part["status"] == "running" and part["live"] is not None
    }
    return (f"{finished} of {len(own)} parts finished", *suite_lines(running))
