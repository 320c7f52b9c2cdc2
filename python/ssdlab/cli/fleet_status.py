"""`ssdlab fleet status` and `watch`: where the jobs of a plan are."""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import on_terminal, print_json, print_line, print_table, say
from ssdlab.cli.progress import display, status_lines
from ssdlab.model.units import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.fleet.fleet_folder import FleetFolder
    from ssdlab.fleet.status import JobStatus

SCHEMA = "ssdlab.fleet-status/1"
_LOOK_EVERY_S = 2.0
_LOOK_SHARE = 0.01
"""Of one processor: what following a plan may take at most, since the runs need them. Of large plans it
looks less often."""
_LIVE_LINES = 12


def status(plan: str = "last", /, *, library: Path | None = None, json: bool = False) -> None:
    """Show where each job of a plan is: drive, host, progress, attempts, and why it waits or was refused.

    Parameters
    ----------
    plan
        The plan: its file, its id or the beginning of it, or `last`.
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    json
        Print it as JSON, schema ssdlab.fleet-status/1.
    """
    from ssdlab.fleet.fleet_folder import find_fleet
    from ssdlab.fleet.status import status_of

    folder = find_fleet(plan, library_of(library))
    found = status_of(folder)
    show(folder, found, json=json)


def watch(plan: str = "last", /, *, library: Path | None = None) -> None:
    """Follow a plan until all its jobs have ended. Changes nothing, and may be ended at any time.

    Parameters
    ----------
    plan
        The plan: its file, its id or the beginning of it, or `last`.
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    """
    from ssdlab.fleet.fleet_folder import find_fleet
    from ssdlab.fleet.status import status_of

    folder = find_fleet(plan, library_of(library))
    shown, first = display(), True
    try:
        while True:
            before = time.process_time()
            found = status_of(folder)
            if not any(each.state in {"running", "waiting", "held"} for each in found):
                break
            if first and not on_terminal(sys.stderr):
                say(f"{folder.plan.plan_id}: {_counts(found)}")  # the next line may be a minute away
            first = False
            shown.update((_counts(found), *_live_lines(found)))
            time.sleep(max(_LOOK_EVERY_S, (time.process_time() - before) / _LOOK_SHARE))
    finally:
        shown.close()
    print_status(folder, found)


def show(folder: FleetFolder, found: Sequence[JobStatus], *, json: bool) -> None:
    """Print the state of a plan, for readers or as JSON."""
    if json:
        print_json(status_json(folder, found))
    else:
        print_status(folder, found)


def print_status(folder: FleetFolder, found: Sequence[JobStatus]) -> None:
    """Print a line for each job, and the counts."""
    rows = [
        (
            each.job.name,
            each.host,
            each.job.serial,
            each.job.task.run,
            each.state,
            _progress(each),
            each.attempts or "",
            each.reason,
        )
        for each in found
    ]
    print_table(
        rows, ("job", "host", "serial", "work", "state", "progress", "attempts", "reason"), right=(6,)
    )
    print_line(f"{folder.plan.plan_id}: {_counts(found)}")


def status_json(folder: FleetFolder, found: Sequence[JobStatus]) -> dict[str, object]:
    """Return the state of a plan as JSON holds it."""
    return {
        "schema": SCHEMA,
        "plan": folder.plan.plan_id,
        "library": str(folder.library),
        "cancelled": folder.cancelled,
        "counts": dict(Counter(each.state for each in found)),
        "jobs": [each.as_dict() for each in found],
    }


def _counts(found: Sequence[JobStatus]) -> str:
    counts = Counter(each.state for each in found)
    return f"{counted(len(found), 'job')}: " + ", ".join(
        f"{count} {state}" for state, count in counts.most_common()
    )


def _progress(each: JobStatus) -> str:
    return "" if each.live is None else status_lines(each.live)[0].strip()


def _live_lines(found: Sequence[JobStatus]) -> list[str]:
    running = [each for each in found if each.live is not None]
    lines = [f"{each.job.serial} on {each.host}: {_progress(each)}" for each in running[:_LIVE_LINES]]
    return lines + ([f"and {len(running) - _LIVE_LINES} more"] if len(running) > _LIVE_LINES else [])
