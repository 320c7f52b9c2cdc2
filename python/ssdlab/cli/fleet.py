"""`ssdlab fleet`: plan work for many drives, run it, follow it, and compare the drives."""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from cyclopts import Parameter

from ssdlab.cli.flags import Amount, DriveTexts, Library, Name, Serials
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import on_terminal, print_fields, print_json, print_line, print_table, say
from ssdlab.cli.progress import bytes_text, display, range_text, status_lines
from ssdlab.cli.runs import Moment, Part, Word
from ssdlab.model.errors import UsageError
from ssdlab.model.units import capacity_text, counted, ends_text, share_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ssdlab.fleet.fleet_folder import FleetFolder
    from ssdlab.fleet.fleet_plan import FleetJob, FleetPlan
    from ssdlab.fleet.status import JobStatus

_SHOWN = 40
BackendOption = Literal["local", "slurm"] | None
Receiver = Annotated[str | None, Parameter(metavar="COMMAND")]


def plan(
    selection: Path | None = None,
    /,
    *,
    unfinished_of: Name | None = None,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    simulated: DriveTexts = (),
    library: Library = None,
    json: bool = False,
) -> None:
    """Plan work for a fleet of drives. Touches no drive.

    The plan lists each drive's serial number, host, hours and bytes written. Drives come from the inventories
    in the library (`ssdlab fleet inventory` on each host), else from this host. The plan is sealed with your
    key on this host: `ssdlab fleet run` takes it only unchanged, from you, on this host.

    Parameters
    ----------
    selection
        A TOML file with [[drives]] and [[work]] tables: see docs/fleet.md.
    unfinished_of
        Plan whose unfinished jobs are planned again, after an upgrade or failures: its file, id or prefix, or
        `last`.
    output
        File to write the plan to [default: the plan's name with .json, here].
    simulated
        Simulated drive to treat as a drive of this host; its name must contain serial=. May be given several
        times.
    json
        Print the plan as JSON, schema ssdlab.fleet-plan/2.
    """
    from ssdlab.fleet.fleet_folder import find_fleet
    from ssdlab.fleet.fleet_plan import check_place
    from ssdlab.fleet.inventory import read_inventories, take
    from ssdlab.fleet.planning import plan_fleet, plan_unfinished
    from ssdlab.fleet.selection import read_selection
    from ssdlab.host.output_files import write_new

    if (selection is None) == (unfinished_of is None):
        raise UsageError(
            "a plan covers either a selection, or what another plan left undone",
            "give a TOML file, or --unfinished-of PLAN",
        )
    asked, shared = None if selection is None else read_selection(selection), library_of(library)
    inventories = read_inventories(shared)
    if simulated or not inventories:
        take(shared, simulated)
        inventories = read_inventories(shared)
    if asked is None:
        made = plan_unfinished(find_fleet(str(unfinished_of), shared), inventories).sealed()
    else:
        made = plan_fleet(asked, inventories, shared).sealed()
    path = output or Path(f"{made.plan_id}.json")
    check_place(path)
    write_new(path, made.as_text(), mode=0o644)
    if json:
        print_json({**made.model_dump(mode="json", by_alias=True), "destroyed": made.destroyed})
        return
    print_plan(made)
    say(f"written: {path}; no drive was touched. Start it: {made.run_command(path)}")


def run(
    plan: Path,
    /,
    *,
    destroy_all: Amount = None,
    wipe_signatures: bool = False,
    backend: BackendOption = None,
    json: bool = False,
) -> int:
    """Run a plan: one run per job, all results in the plan's library.

    With Slurm it returns once the jobs are submitted; on this host alone it waits until all have ended.

    Parameters
    ----------
    plan
        The file that `ssdlab fleet plan` wrote.
    destroy_all
        Consent: the number of drives whose data will be lost, as the plan states it.
    wipe_signatures
        Let --destroy-all cover file systems, partition tables and array members on these drives.
    backend
        What runs the jobs [default: slurm if this host is part of a Slurm cluster, else local].
    json
        Print the state of the jobs at the end as JSON, schema ssdlab.fleet-status/1.
    """
    from ssdlab.fleet.carrying_out import begin
    from ssdlab.fleet.fleet_plan import read_plan

    planned = read_plan(plan)
    if not json:
        print_destroyed(planned)
    folder = begin(planned, destroy_all=destroy_all, backend=backend, wipe_signatures=wipe_signatures)
    return _ended(folder, json=json)


def resume(
    plan: str,
    /,
    *,
    destroy_all: Amount = None,
    wipe_signatures: bool = False,
    backend: BackendOption = None,
    library: Library = None,
    json: bool = False,
) -> int:
    """Continue a plan: resume interrupted jobs and start those that have not started.

    Your consent to `ssdlab fleet run` on this host still holds for this plan in this folder. Refused jobs are
    tried again.

    Parameters
    ----------
    plan
        The plan: its file, its id or a prefix of it, or `last`.
    destroy_all
        Renewed consent: the number of drives whose data will be lost, as the plan states it.
    wipe_signatures
        Let --destroy-all cover file systems, partition tables and array members on these drives.
    backend
        What runs the jobs [default: what ran them before].
    json
        Print the state of the jobs at the end as JSON, schema ssdlab.fleet-status/1.
    """
    from ssdlab.fleet.carrying_out import resume as continue_plan
    from ssdlab.fleet.fleet_folder import find_fleet
    from ssdlab.fleet.quarantine import quarantined, release_command

    folder = find_fleet(plan, library_of(library))
    count = continue_plan(folder, backend=backend, destroy_all=destroy_all, wipe_signatures=wipe_signatures)
    bad = quarantined(folder.library)
    for serial in dict.fromkeys(job.serial for job in folder.plan.jobs if job.serial in bad):
        say(f"left out: {bad[serial].words}; to release it: {release_command(serial, folder.library)}")
    if not count:
        say(f"nothing of {folder.plan.plan_id} is left to start: its jobs have succeeded or are running")
    return _ended(folder, json=json)


CANCEL_SCHEMA = "ssdlab.fleet-cancel/1"


def cancel(plan: str, /, *, library: Library = None, json: bool = False) -> None:
    """Stop the jobs of a plan as Ctrl-C does, and start no more. `ssdlab fleet resume` continues the plan.

    Parameters
    ----------
    plan
        The plan: its file, its id or a prefix of it, or `last`.
    json
        Print JSON, schema ssdlab.fleet-cancel/1: `ended` counts the jobs asked to stop; null if all had
        succeeded.
    """
    from ssdlab.fleet.carrying_out import cancel as end
    from ssdlab.fleet.fleet_folder import find_fleet

    folder = find_fleet(plan, library_of(library))
    count = end(folder)
    name = folder.plan.plan_id
    if json:
        place = {"plan": name, "library": str(folder.library)}
        print_json({"schema": CANCEL_SCHEMA, **place, "cancelled": folder.cancelled, "ended": count})
    if count is None:
        say(f"all jobs of {name} have succeeded: nothing is left to cancel")
        return
    ended = f"{counted(count, 'job')} of {name} asked to stop" if count else f"no job of {name} is running"
    say(f"{ended}, and none will start; to continue: {folder.command('resume')}")


def print_plan(made: FleetPlan) -> None:
    """Print every job of a plan, the totals, and the serial numbers of drives whose data will be lost."""
    times = _times_of(made)
    rows = [
        (
            job.name,
            job.host,
            job.serial,
            job.model,
            " ".join(job.task.words()),
            *(of(job) for of in times.values()),
            bytes_text(*job.bytes_written),
            _share(job),
        )
        for job in made.jobs
    ]
    print_table(rows, ("job", "host", "serial", "model", "work", *times, "writes", "of endurance"))
    from ssdlab.fleet.status import usual_backend
    from ssdlab.fleet.watching import all_done_s

    lower, upper = (sum(job.seconds[end] for job in made.jobs) for end in (0, 1))
    written = [sum(job.bytes_written[end] for job in made.jobs) for end in (0, 1)]
    print_fields(
        [
            ("jobs", f"{len(made.jobs)} on {counted(len(made.hosts), 'host')}"),
            (f"{list(times)[-1]} of all jobs together", range_text(lower, upper)),
            ("writes", bytes_text(*written) or "nothing"),
            ("at once", made.at_once or "as many as the back end allows"),
            ("all done after", range_text(*all_done_s(made, usual_backend()))),
        ]
    )
    for why in made.left_out.values():
        print_line(f"left out: {why}", "warn")
    print_destroyed(made)


def _times_of(made: FleetPlan) -> dict[str, Callable[[FleetJob], str]]:
    """Return the time columns; simulated drives have a drive time and a real time."""
    if all(job.drive_seconds is None for job in made.jobs):
        return {"time": lambda job: range_text(*job.seconds)}
    return {
        "drive time": lambda job: range_text(*(job.drive_seconds or job.seconds)),
        "real time": lambda job: range_text(*job.seconds),
    }


def print_destroyed(made: FleetPlan) -> None:
    """Print the serial numbers of the drives whose data will be lost."""
    serials = made.destroyed
    if not serials:
        print_line("destroy: no drive is written")
        return
    print_line(f"destroy: the data of {counted(len(serials), 'drive')} will be lost:", "warn")
    wiped = made.wiped
    for serial in serials:
        carries = f", and of {', '.join(wiped[serial])} on it" if serial in wiped else ""
        print_line(f"  {serial}{carries}")


def _share(job: FleetJob) -> str:
    if job.endurance_share is None:
        return ""
    lower, upper = (share_text(share) for share in job.endurance_share)
    return ends_text(lower, upper)


def _ended(folder: FleetFolder, *, json: bool) -> int:
    from ssdlab.fleet.status import status_of

    found = status_of(folder)
    show(folder, found, json=json)
    return _status(found)


def _status(found: Sequence[JobStatus]) -> int:
    if any(each.state in {"failed", "refused"} for each in found):
        return 3
    return 130 if any(each.state in {"interrupted", "cancelled", "not begun"} for each in found) else 0


SCHEMA = "ssdlab.fleet-status/1"
_LOOK_EVERY_S = 2.0
_LOOK_SHARE = 0.01
"""Maximum share of one processor for following a plan: large plans are polled less often."""
_LIVE_LINES = 20


def status(
    plan: str = "last", /, *, prometheus: bool = False, library: Library = None, json: bool = False
) -> None:
    """Show the state of each job of a plan: drive, host, progress, attempts, why it waits or was refused.

    Parameters
    ----------
    plan
        The plan: its file, its id or a prefix of it, or `last`.
    prometheus
        Print the state as text for Prometheus, such as for the node exporter's textfile collector.
    json
        Print the state as JSON, schema ssdlab.fleet-status/1.
    """
    from ssdlab.fleet.fleet_folder import find_fleet
    from ssdlab.fleet.status import status_of

    folder = find_fleet(plan, library_of(library))
    found = status_of(folder, strict=False)
    if prometheus:
        for line in prometheus_lines(folder, found):
            print_line(line)
        return
    show(folder, found, json=json)


def watch(
    plan: str = "last", /, *, notify: Receiver = None, library: Library = None, json: bool = False
) -> int:
    """Follow a plan until all its jobs end. Changes nothing, and may be stopped at any time.

    Exit status 0 if all jobs finished, 3 if any failed or was refused, else 130.

    Parameters
    ----------
    plan
        The plan: its file, its id or a prefix of it, or `last`.
    notify
        Command to run at the end, without a shell, with the state as JSON on its standard input. Or a URL to
        send this JSON to.
    json
        Print the state of the jobs at the end as JSON, schema ssdlab.fleet-status/1.
    """
    from ssdlab.fleet.fleet_folder import find_fleet
    from ssdlab.fleet.status import status_of
    from ssdlab.fleet.watching import check_receiver, tell

    if notify is not None:
        check_receiver(notify)
    folder = find_fleet(plan, library_of(library))
    shown, first = display(), True
    try:
        while True:
            before = time.process_time()
            found = status_of(folder, strict=False)
            if not any(each.state in {"running", "waiting", "held"} for each in found):
                break
            if first and not on_terminal(sys.stderr):
                say(f"{folder.plan.plan_id}: {_outlook(folder, found)}")  # the next line may be a minute away
            first = False
            lines = watch_lines(found) if on_terminal(sys.stderr) else ()
            shown.update((_outlook(folder, found), *lines))
            time.sleep(max(_LOOK_EVERY_S, (time.process_time() - before) / _LOOK_SHARE))
    except KeyboardInterrupt:
        shown.close()
        say(f"no longer watching; the jobs go on: {folder.command('watch')}")
        return 130
    finally:
        shown.close()
    show(folder, found, json=json)
    status = _status(found)
    if notify is not None:
        tell(notify, status_json(folder, found))
    return status


def _outlook(folder: FleetFolder, found: Sequence[JobStatus]) -> str:
    """Return the number of jobs in each state, and when all will be done."""
    from ssdlab.fleet.watching import all_done_s

    given = folder.submitted()
    lower, upper = all_done_s(folder.plan, "slurm" if given is None else given.backend, found)
    if not math.isfinite(upper):
        return _counts(found)
    ends = [time.strftime("%a %H:%M", time.localtime(time.time() + left)) for left in (lower, upper)]
    between = ends[0] if ends[0] == ends[1] else f"between {ends[0]} and {ends[1]}"
    return f"{_counts(found)}; all done {between}, in {range_text(lower, upper)}"


_PROBLEMS = ("failed", "refused", "interrupted", "held", "cancelled", "running", "waiting", "not begun")
"""States of jobs in order of display: those that need attention first. Finished jobs are not shown."""


def watch_lines(found: Sequence[JobStatus]) -> list[str]:
    """Return the live table: first failed and stopped jobs, then running ones, then those that wait."""
    left = [each for state in _PROBLEMS for each in found if each.state == state]
    shown = left[:_LIVE_LINES]
    rows = [("drive", "host", "work", "state", "progress, or reason")]
    rows += [
        (each.job.serial, each.host, each.job.task.run, each.state, _progress(each) or each.reason)
        for each in shown
    ]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]) - 1)]
    lines = ["  ".join([*map(str.ljust, row, widths), row[-1]]).rstrip() for row in rows]
    rest = len(left) - len(shown)
    return lines + ([f"and {counted(rest, 'more job')}"] if rest else [])


def show(folder: FleetFolder, found: Sequence[JobStatus], *, json: bool) -> None:
    if json:
        print_json(status_json(folder, found))
    else:
        print_status(folder, found)


def print_status(folder: FleetFolder, found: Sequence[JobStatus]) -> None:
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
    return {
        "schema": SCHEMA,
        "plan": folder.plan.plan_id,
        "library": str(folder.library),
        "cancelled": folder.cancelled,
        "counts": dict(Counter(each.state for each in found)),
        "jobs": [each.as_dict() for each in found],
    }


def prometheus_lines(folder: FleetFolder, found: Sequence[JobStatus]) -> list[str]:
    """Return the state of a plan in the text format of Prometheus: jobs by state, and attempts."""
    from ssdlab.fleet.status import State

    plan, counts = folder.plan.plan_id, Counter(each.state for each in found)
    return [
        "# HELP ssdlab_fleet_jobs Jobs of the plan by state.",
        "# TYPE ssdlab_fleet_jobs gauge",
        *(f'ssdlab_fleet_jobs{{plan="{plan}",state="{state}"}} {counts[state]}' for state in get_args(State)),
        "# HELP ssdlab_fleet_attempts Attempts at the plan's jobs.",
        "# TYPE ssdlab_fleet_attempts gauge",
        f'ssdlab_fleet_attempts{{plan="{plan}"}} {sum(each.attempts for each in found)}',
    ]


def _counts(found: Sequence[JobStatus]) -> str:
    counts = Counter(each.state for each in found)
    return f"{counted(len(found), 'job')}: " + ", ".join(
        f"{count} {state}" for state, count in counts.most_common()
    )


def _progress(each: JobStatus) -> str:
    return "" if each.live is None else status_lines(each.live)[0].strip()


PAGE_SCHEMA = "ssdlab.fleet-report/1"


def report(
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
    model: Part = None,
    plan: Name | None = None,
    method: Word = None,
    since: Moment = None,
    tag: Word = None,
    series: Serials = (),
    library: Library = None,
    json: bool = False,
) -> None:
    """Write a page that compares all drives of one model: their spread, the outliers, and likely reasons.

    The page shows each drive's median over its comparable runs in the library, by host and rack where
    inventories exist.

    Parameters
    ----------
    output
        HTML file to write; only an older ssdlab report is replaced.
    model
        The model, or part of its name; optional if there is only one.
    plan
        Plan whose jobs are all listed, also those without a figure: its file, id or prefix, or `last`.
    method
        Only runs of this method.
    since
        Only runs started since this date, or within this time: 2026-11-01, 7d, 36h.
    tag
        Only runs with this tag.
    series
        Serial number of a drive, as in the inventories, whose time series is drawn too. May be given several
        times.
    json
        Print the outliers as JSON, schema ssdlab.fleet-report/1.
    """
    from dataclasses import asdict

    from ssdlab.fleet.fleet_folder import find_fleet
    from ssdlab.fleet.page import NO_REASON, fleet_page
    from ssdlab.library.choosing import Choice, since_of
    from ssdlab.library.index import Index
    from ssdlab.report import page

    page.place(output).close()  # fail now if the page cannot be written
    choice = Choice(None, method, tag, None if since is None else since_of(since), "finished")
    with Index(library_of(library)) as index:
        carried = None if plan is None else find_fleet(plan, library_of(library))
        found = fleet_page(index, choice, model, series, carried)
    size_bytes = page.write_text(found.html(), output)
    if json:
        named = [asdict(each) for each in found.named]
        judged = {"figures": found.figures, "judged": found.judged}
        summary = {"path": str(output.absolute()), "bytes": size_bytes, "model": found.model}
        counts = None if found.account is None else found.account.counts
        document = {**summary, "drives": found.count, **judged, "unlike": named, "plan": counts}
        print_json({"schema": PAGE_SCHEMA, **document})
        return
    print_line(found.verdict, "warn" if found.named else None)
    if found.account is not None:
        print_line(found.account.words)
    rows = [
        (each.name, each.host, each.unlike[0], "; ".join(each.reasons) or NO_REASON) for each in found.named
    ]
    if rows:
        print_table(rows, ("drive", "host", "figure", "likely reason"))
    print_line(f"{output}: {capacity_text(size_bytes)}")
