"""`ssdlab fleet` commands that run on a drive's host: `check`, `inventory`, `scripts`, `job`, `release`."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from ssdlab.cli.flags import DriveTexts, Host, Identifier, Library, Name, Rack, Serials
from ssdlab.cli.ordering import library_of, print_run
from ssdlab.cli.output import print_json, print_line, print_table, say
from ssdlab.model.units import capacity_text, counted

CHECK_SCHEMA = "ssdlab.fleet-check/1"


def check(*, host: Host = None, job: Name | None = None, library: Library = None, json: bool = False) -> int:
    """Check this host's drives against its inventory: none mounted, missing or in another slot.

    Exit status 3 if one differs, or a script that slurm.conf names is missing. The result is kept for
    `ssdlab fleet status`. Touches no drive.

    Parameters
    ----------
    host
        Name of the host [default: its Slurm node name, else its host name].
    job
        Slurm job to end if its drive fails the check; the prolog uses this.
    json
        Print JSON, schema ssdlab.fleet-check/1: `faults` by serial, and why the job was `ended`.
    """
    from ssdlab.fleet.host_checks import host_faults, note_health
    from ssdlab.fleet.slurm_files import end_job, script_faults
    from ssdlab.model.errors import HostError
    from ssdlab.results.lease import host_name

    shared, name = library_of(library), host or host_name()
    faults = host_faults(shared, name)
    ended = "" if job is None else end_job(shared, job, faults)
    if ended:
        say(f"job {job} was ended: {ended}")
    note_health(shared, name, faults)
    if host in (None, host_name()):
        faults |= script_faults()
    if json:
        print_json({"schema": CHECK_SCHEMA, "host": name, "faults": faults, "ended": ended or None})
    else:
        for what in faults.values():
            print_line(what, "warn")
    if not faults:
        say(f"{name}: its drives match its inventory")
    return HostError.exit_status if faults else 0


def inventory(
    *,
    simulated: DriveTexts = (),
    drop: Serials = (),
    host: Host = None,
    rack: Rack = None,
    slurm: bool = False,
    library: Library = None,
    json: bool = False,
) -> None:
    """Record this host's drives in the shared library; run it on each host of a fleet.

    Rack and simulated drives of the last inventory are kept. If a drive of the last inventory is gone, the
    command is refused unless --drop names the drive.

    Parameters
    ----------
    simulated
        Simulated drive to treat as a drive of this host; its name must contain serial=. May be given several
        times.
    drop
        Serial number of a drive to leave out, because it is gone or simulated. May be given several times.
    host
        Name of the host [default: its Slurm node name, else its host name].
    rack
        Rack of the host; `fleet report` groups drives by rack [default: the rack in the last inventory].
    slurm
        Print the lines for gres.conf and slurm.conf; they leave out drives that are protected from writing.
    json
        Print the inventory as JSON, schema ssdlab.inventory/1.
    """
    from ssdlab.fleet.inventory import changes, checked_host, inventory_of, take
    from ssdlab.fleet.slurm_files import gres_lines, node_line
    from ssdlab.model.errors import Refused

    shared = library_of(library)
    before = None
    try:
        before = inventory_of(shared, checked_host(host))
    except Refused as error:
        say(f"not kept: {error.what}")
    taken = take(shared, simulated, host, rack, drop=drop)
    if json:
        print_json(taken.model_dump(mode="json", by_alias=True))
        return
    changed = [] if before is None else changes(before, taken)
    if slurm:
        print_line("# gres.conf")
        for line in gres_lines(taken):
            print_line(line)
        print_line("# slurm.conf: GresTypes=drive, and")
        print_line(node_line(taken))
    else:
        rows = [(d.serial, d.model, d.text, capacity_text(d.who.capacity_bytes)) for d in taken.drives]
        print_table(rows, ("serial", "model", "drive", "capacity"), right=(3,))
        for why in taken.left_out.values():
            print_line(f"left out: {why}", "dim")
    for change in changed:
        say(change)
    place = f", rack {taken.rack}" if taken.rack else ""
    say(f"{taken.host}{place}: {counted(len(taken.drives), 'drive')} in the fleet's inventory")


def scripts(folder: Path, /, *, library: Library = None, json: bool = False) -> None:
    """Write Slurm's health check, prolog and epilog into a folder, and print their lines for slurm.conf.

    The scripts are the same on all hosts, and run `ssdlab fleet check`. Use one path on all hosts: a shared
    folder, or a local folder that is written on each host.

    Parameters
    ----------
    folder
        Folder to write the scripts to; created if it is missing.
    json
        Print the lines as JSON, schema ssdlab.fleet-scripts/1.
    """
    from ssdlab.fleet.slurm_files import write_scripts

    lines = write_scripts(folder, library_of(library))
    if json:
        print_json({"schema": SCRIPTS_SCHEMA, "lines": lines})
        return
    for line in lines:
        print_line(line)


SCRIPTS_SCHEMA = "ssdlab.fleet-scripts/1"


def job(
    folder: Path,
    name: str,
    /,
    *,
    plan: Name,
    destroy: Identifier = None,
    wipe_signatures: bool = False,
    json: bool = False,
) -> int:
    """Run one job of a plan on this host, after checks that host and drive match the plan. For back ends.

    A job that was interrupted is resumed.

    Parameters
    ----------
    folder
        The folder of the plan in the library.
    name
        The job's name in the plan.
    plan
        SHA-256 of the plan that was started; the plan in the folder must match it.
    destroy
        Consent: serial number of the drive whose data will be lost; never read from a file.
    wipe_signatures
        Let --destroy cover a file system, partition table or array member on the drive.
    json
        Print the result as JSON, schema ssdlab.show/1.
    """
    from ssdlab.cli import dispatch
    from ssdlab.cli.failures import as_lab_error
    from ssdlab.fleet.fleet_folder import Attempt, FleetFolder
    from ssdlab.fleet.host_checks import attend, command_of, consent_words
    from ssdlab.fleet.inventory import inventory_of
    from ssdlab.fleet.quarantine import DriveFailure, failure_of, note_failure, of_drive
    from ssdlab.fleet.slurm import requeue
    from ssdlab.host.documents import user_path
    from ssdlab.model.errors import Interrupted, LabError, excerpt
    from ssdlab.model.printable import printable
    from ssdlab.results.lease import host_name
    from ssdlab.runs.provenance import RACK

    os.umask(os.umask(0) | 0o022)  # runs can be resumed only if nobody else can change them
    fleet = FleetFolder(user_path(folder).absolute())
    fleet.check_plan(plan)
    fleet.check_private()
    planned = fleet.plan.job(name)
    consent = consent_words(planned, destroy, wipe_signatures=wipe_signatures)
    attempt = Attempt(
        job=name,
        number=fleet.next_attempt(name),
        host=host_name(),
        pid=os.getpid(),
        backend_job=os.environ.get("SLURM_JOB_ID", ""),
        began=time.time(),
    )
    fleet.write_attempt(attempt)
    status, sentence, failure, failed = 70, "", None, False
    try:
        if fleet.cancelled:
            raise Interrupted(  # noqa: TRY301 - noted as any other end
                "the plan was cancelled before this job started", f"to continue: {fleet.command('resume')}"
            )
        with suppress(LabError):  # the rack is recorded with the run, but the run does not need it
            mine = inventory_of(fleet.library, attempt.host)
            os.environ[RACK] = "" if mine is None else mine.rack
        command = command_of(fleet, planned, attend(fleet, planned), consent)
        say(f"job {name} on {attempt.host}: ssdlab {' '.join(command.words) or '(its run is finished)'}")
        if command.words:
            status = dispatch([*command.words, *(["--json"] if json else ())])
        else:
            status = 0
            if json:
                print_run(fleet.library / planned.run_id, json=True)
    except BaseException as error:
        known = as_lab_error(error)
        if known is not None:
            status, sentence = known.exit_status, known.what
        raise
    finally:
        failure = failure_of(fleet.library / planned.run_id) if status not in (0, 2) else None
        failed = failure is not None
        ended = {"ended": time.time(), "exit_status": status, "sentence": sentence, "failed": failed}
        fleet.write_attempt(attempt.model_copy(update={**ended, "cpu_s": sum(os.times()[:4])}))
        if failure is not None and of_drive(failure):
            facts = {"plan": fleet.plan.plan_id, "job": name, "host": attempt.host, "at": time.time()}
            what = DriveFailure(**facts, what=excerpt(printable(failure.what), 250))
            note_failure(fleet.library, planned.serial, what)
        if failed and attempt.backend_job and fleet.may_retry(fleet.attempts().get(name, ())):
            say(f"job {name} failed and begins again")
            requeue(attempt.backend_job)
    return status


RELEASE_SCHEMA = "ssdlab.fleet-release/1"


def release(*serials: str, library: Library = None, json: bool = False) -> None:
    """Release drives from quarantine, so that plans take them again; without a serial number, list them.

    A drive is in quarantine after two of its runs have failed.

    Parameters
    ----------
    serials
        Serial numbers of the drives to release [default: list the drives with failed runs].
    json
        Print the drives and their failed runs as JSON, schema ssdlab.fleet-release/1.
    """
    from ssdlab.fleet.quarantine import known_failures
    from ssdlab.fleet.quarantine import release as let_go

    shared = library_of(library)
    found = let_go(shared, serials) if serials else list(known_failures(shared).values())
    if json:
        drives = [each.model_dump(mode="json") for each in found]
        print_json({"schema": RELEASE_SCHEMA, "released": bool(serials), "drives": drives})
    elif serials:
        for each in found:
            say(f"released: {each.serial}, of which {counted(len(each.failures), 'run')} had failed")
    else:
        for each in found:
            print_line(each.words, "warn" if each.quarantined else None)
        say(f"{counted(sum(each.quarantined for each in found), 'drive')} in quarantine")
