"""`ssdlab fleet job`: what a back end starts on the host of a drive."""

from __future__ import annotations

import os
import time
from pathlib import Path

from ssdlab.cli.kinds import Identifier, Name
from ssdlab.cli.output import say


def job(
    folder: Path, name: str, /, *, plan: Name, destroy: Identifier = None, wipe_signatures: bool = False
) -> int:
    """Do one job of a plan on this host: see that all is as planned, then run or resume. For back ends.

    Parameters
    ----------
    folder
        The folder of the plan in the library.
    name
        The job's name in the plan.
    plan
        SHA-256 of the plan: the one in the folder must be the one that was begun.
    destroy
        Consent: the serial of the drive whose data will be lost. No file gives it.
    wipe_signatures
        Let that cover a file system, partition table or array member on the drive.
    """
    from ssdlab.cli import dispatch
    from ssdlab.cli.failures import as_lab_error
    from ssdlab.fleet.attendance import attend, command_of, consent_words
    from ssdlab.fleet.fleet_folder import Attempt, FleetFolder
    from ssdlab.host.documents import user_path
    from ssdlab.results.lease import host_name

    os.umask(os.umask(0) | 0o022)  # runs that it begins are resumed only if nobody else can change them
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
    status, sentence = 70, ""
    try:
        if fleet.cancelled:
            status, sentence = 130, "the plan was cancelled before it began"
            return status
        command = command_of(fleet, planned, attend(fleet, planned), consent)
        say(f"job {name} on {attempt.host}: ssdlab {' '.join(command.words) or '(its run is finished)'}")
        status = dispatch(list(command.words)) if command.words else 0
    except BaseException as error:
        failure = as_lab_error(error)
        if failure is not None:
            status, sentence = failure.exit_status, failure.what
        raise
    finally:
        cpu_s = sum(os.times()[:4])
        ended = {"ended": time.time(), "exit_status": status, "sentence": sentence, "cpu_s": cpu_s}
        fleet.write_attempt(attempt.model_copy(update=ended))
    return status
