"""`ssdlab fleet plan`, `run`, `resume` and `cancel`: one plan, and what carries it out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from ssdlab.cli.kinds import Amount, DriveTexts
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import print_fields, print_json, print_line, print_table, say
from ssdlab.cli.progress import bytes_text, range_text
from ssdlab.model.units import counted, ends_text, share_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from ssdlab.fleet.fleet_folder import FleetFolder
    from ssdlab.fleet.fleet_plan import FleetJob, FleetPlan

_SHOWN = 40
BackendOption = Literal["local", "slurm"] | None


def plan(
    selection: Path,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    simulated: DriveTexts = (),
    library: Path | None = None,
    json: bool = False,
) -> None:
    """Work out what a fleet is to do: every serial, host, hour and byte. Touches no drive.

    Drives are those of the inventories in the library (`ssdlab fleet inventory` on each host); where there is
    none, those of this host. The plan is sealed with your key of this host: `ssdlab fleet run` takes it from
    you, here, as it is written.

    Parameters
    ----------
    selection
        A TOML file with [[drives]] and [[work]] tables: see docs/fleet.md.
    output
        File to write the plan to [default: its name with .json, here].
    simulated
        A simulated drive that counts as one of this host; its text says serial=. May be given several times.
    library
        The library that all hosts share; by default ssdlab/runs in the XDG data folder.
    json
        Print the plan as JSON, schema ssdlab.fleet-plan/2.
    """
    from ssdlab.fleet.fleet_plan import check_place
    from ssdlab.fleet.inventory import read_inventories, take
    from ssdlab.fleet.planning import plan_fleet
    from ssdlab.fleet.selection import read_selection
    from ssdlab.host.output_files import write_new

    asked, shared = read_selection(selection), library_of(library)
    inventories = read_inventories(shared)
    if simulated or not inventories:
        take(shared, simulated)
        inventories = read_inventories(shared)
    made = plan_fleet(asked, inventories, shared).sealed()
    path = output or Path(f"{made.plan_id}.json")
    check_place(path)
    write_new(path, made.as_text(), mode=0o644)
    if json:
        print_json({**made.model_dump(mode="json", by_alias=True), "destroyed": made.destroyed})
        return
    print_plan(made)
    say(f"written: {path}; nothing was touched. Begin it: {made.run_command(path)}")


def run(
    plan: Path,
    /,
    *,
    destroy_all: Amount = None,
    wipe_signatures: bool = False,
    backend: BackendOption = None,
    json: bool = False,
) -> int:
    """Carry a plan out: one run for each job, all results in the plan's library.

    With Slurm it returns when the jobs are submitted; on this host alone it stays until all have ended.

    Parameters
    ----------
    plan
        The file that `ssdlab fleet plan` wrote.
    destroy_all
        Consent: the number of drives whose data will be lost, as the plan says it.
    wipe_signatures
        Let that cover the file systems, partition tables and array members on these drives.
    backend
        Who runs the jobs [default: slurm where this host is part of one, else local].
    json
        Print the state of the jobs at the end as JSON, schema ssdlab.fleet-status/1.
    """
    from ssdlab.fleet.carrying_out import begin
    from ssdlab.fleet.fleet_plan import read_plan

    planned = read_plan(plan)
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
    library: Path | None = None,
    json: bool = False,
) -> int:
    """Continue a plan: jobs that were cut short are resumed, those not begun are begun.

    The consent that `ssdlab fleet run` was given holds, for that plan in that folder, for you on this host.
    Jobs that were refused are tried again.

    Parameters
    ----------
    plan
        The plan: its file, its id or the beginning of it, or `last`.
    destroy_all
        Consent given anew: the number of drives whose data will be lost, as the plan says it.
    wipe_signatures
        Let that cover the file systems, partition tables and array members on these drives.
    backend
        Who runs the jobs [default: who ran them before].
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    json
        Print the state of the jobs at the end as JSON, schema ssdlab.fleet-status/1.
    """
    from ssdlab.fleet.carrying_out import resume as continue_plan
    from ssdlab.fleet.fleet_folder import find_fleet

    folder = find_fleet(plan, library_of(library))
    count = continue_plan(folder, backend=backend, destroy_all=destroy_all, wipe_signatures=wipe_signatures)
    if not count:
        say(f"nothing of {folder.plan.plan_id} is left to begin: its jobs have ended well or are at work")
    return _ended(folder, json=json)


def cancel(plan: str, /, *, library: Path | None = None) -> None:
    """End the jobs of a plan as Ctrl-C would, and begin no more. `ssdlab fleet resume` continues it.

    Parameters
    ----------
    plan
        The plan: its file, its id or the beginning of it, or `last`.
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    """
    from ssdlab.fleet.carrying_out import cancel as end
    from ssdlab.fleet.fleet_folder import find_fleet

    folder = find_fleet(plan, library_of(library))
    count = end(folder)
    name = folder.plan.plan_id
    if count is None:
        say(f"all jobs of {name} have ended well: nothing is left to cancel")
        return
    ended = f"{counted(count, 'job')} of {name} told to end" if count else f"nothing of {name} is at work"
    say(f"{ended}, and no more begin; to continue: {folder.command('resume')}")


def print_plan(made: FleetPlan) -> None:
    """Print every job of a plan, the sums, and the serials whose data will be lost."""
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
    lower, upper = (sum(job.seconds[end] for job in made.jobs) for end in (0, 1))
    written = [sum(job.bytes_written[end] for job in made.jobs) for end in (0, 1)]
    print_fields(
        [
            ("jobs", f"{len(made.jobs)} on {counted(len(made.hosts), 'host')}"),
            (f"{list(times)[-1]} of all jobs together", range_text(lower, upper)),
            ("writes", bytes_text(*written) or "nothing"),
            ("at once", made.at_once or "as many as the back end has room for"),
        ]
    )
    print_destroyed(made)


def _times_of(made: FleetPlan) -> dict[str, Callable[[FleetJob], str]]:
    """Return the columns of time: where drives keep time of their own, that and the host's."""
    if all(job.drive_seconds is None for job in made.jobs):
        return {"time": lambda job: range_text(*job.seconds)}
    return {
        "drive time": lambda job: range_text(*(job.drive_seconds or job.seconds)),
        "real time": lambda job: range_text(*job.seconds),
    }


def print_destroyed(made: FleetPlan) -> None:
    """Print the serials of the drives whose data will be lost."""
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
    from ssdlab.cli.fleet_status import show
    from ssdlab.fleet.status import status_of

    found = status_of(folder)
    show(folder, found, json=json)
    if any(each.state in {"failed", "refused"} for each in found):
        return 3
    return 130 if any(each.state in {"interrupted", "cancelled"} for each in found) else 0
