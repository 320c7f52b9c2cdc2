"""The back end of one host: runs jobs in parallel if they share no resource. It needs no setup.

It works while its command runs. Ctrl-C also stops its jobs, which can be resumed. If the command is killed,
its jobs continue. Each job locks its own run, so that resuming the plan finds it running.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import signal
import subprocess
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.fleet.backend import Queued
from ssdlab.fleet.fleet_folder import LOGS
from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import FOLDER_MODE, HeldFolder
from ssdlab.host.user_folders import state_folder
from ssdlab.model.closing import Closing
from ssdlab.model.errors import Interrupted, Refused
from ssdlab.results.lease import host_name, is_running
from ssdlab.results.run_folder import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ssdlab.fleet.fleet_folder import Attempt, FleetFolder
    from ssdlab.fleet.fleet_plan import FleetJob, FleetPlan
    from ssdlab.fleet.trusted_files import BackendName

# Locks on resources that two jobs of a host must not use at once, whatever their plan or library.
#
# The command of a plan keeps its own jobs apart, but does not know the jobs of other plans. So each exclusive
# resource (a drive, a meter, a link, a CPU) has a file in the host's state folder. The job that uses the
# resource has a lock on the file (flock(2)), which the job's process inherits. The lock lasts exactly as long
# as the job, even if the command that started the job is killed. The state folder belongs to one user, and so
# do the locks.

NO_CPU = "cpu"
"""The reason if all CPUs are in use."""
_FOLDER = "holds"
_HOLDER_BYTES = 4096


class Hold(Closing):
    """Locks on resources, which last until every process that has the descriptors closes them.

    Attributes
    ----------
    descriptors
        Descriptors of the locks; a process that inherits them also holds the locks.
    """

    def __init__(self, descriptors: Sequence[int]) -> None:
        self.descriptors = tuple(descriptors)

    def close(self) -> None:
        """Close the descriptors in this process."""
        taken, self.descriptors = self.descriptors, ()
        for each in taken:
            os.close(each)


def hold(things: Sequence[str], by: str, *, cpus: int = 0, of_cpus: int = 0) -> Hold | str:
    """Lock all of some resources, or none; return the lock, or the resource in use.

    Parameters
    ----------
    things
        Names of the resources, such as ``meter:scpi:10.0.0.9``.
    by
        Owner, shown to waiting jobs.
    cpus, of_cpus
        Number of CPUs to lock as well, and number of CPUs in all.

    Raises
    ------
    HostError
        The state folder cannot be written.
    """
    folder = state_folder() / _FOLDER
    with ExitStack() as undone, library_errors(folder), HeldFolder(folder, make=FOLDER_MODE) as held:
        taken: list[int] = []
        for thing in things:
            if (descriptor := _lock(held, thing, by)) is None:
                return thing
            taken.append(descriptor)
            undone.callback(os.close, descriptor)
        wanted = len(taken) + min(cpus, of_cpus)
        for number in range(of_cpus):
            if len(taken) < wanted and (descriptor := _lock(held, f"cpu:{number}", by)) is not None:
                taken.append(descriptor)
                undone.callback(os.close, descriptor)
        if len(taken) < wanted:
            return NO_CPU
        undone.pop_all()
        return Hold(taken)


def holder(thing: str) -> str:
    """Return who holds a resource on this host now; empty if free."""
    try:
        with (state_folder() / _FOLDER / _file_name(thing)).open("rb") as file:
            with suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return ""
            return file.read(_HOLDER_BYTES).decode(errors="replace").partition("\n")[0]
    except OSError:  # it was never locked
        return ""


def _lock(folder: HeldFolder, thing: str, by: str) -> int | None:
    descriptor = folder.lock_file(_file_name(thing))
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{by}\n{thing}\n".encode(), 0)
    return descriptor


def _file_name(thing: str) -> str:
    """Return the file name of a resource: a hash, as a meter's address may be too long for a name."""
    return hashlib.sha256(thing.encode()).hexdigest()[:32]


_LOOK_EVERY_S = 0.1
_LOCK = "local.lock"


class Local:
    name: BackendName = "local"

    def __init__(self) -> None:
        self._running: dict[str, tuple[FleetJob, subprocess.Popen[bytes]]] = {}

    def check(self, plan: FleetPlan, jobs: Sequence[FleetJob]) -> None:
        away = sorted({job.host for job in jobs} - {host_name()})
        if away:
            raise Refused(
                f"the plan has jobs for {', '.join(away)}, but this host is {host_name()}",
                "use --backend slurm, or plan only with this host's drives",
                hosts=away,
            )
        del plan

    def submit(self, folder: FleetFolder, jobs: Sequence[FleetJob]) -> Mapping[str, str]:
        """Run jobs until all have ended.

        Raises
        ------
        Interrupted
            A signal stopped the jobs; their runs can be resumed.
        """
        with _sole(folder):
            folder.note_submitted(self.name, {job.name: "" for job in jobs})
            self._run_all(folder, jobs)
        return {job.name: "" for job in jobs}

    def _run_all(self, folder: FleetFolder, jobs: Sequence[FleetJob]) -> None:
        waiting = list(jobs)
        left_over = [job for job in folder.plan.jobs if job not in jobs]
        try:
            while waiting or self._running:
                waiting += self._reap(folder)
                if folder.cancelled:
                    waiting.clear()
                left_over = [job for job in left_over if _goes_on(folder, job)]
                self._begin_what_may(folder, waiting, left_over)
                time.sleep(_LOOK_EVERY_S)
        except (KeyboardInterrupt, Interrupted):
            self._end_all()
            raise Interrupted("the fleet was stopped", f"continue with: {folder.command('resume')}") from None

    def queued(self, folder: FleetFolder) -> Mapping[str, Queued]:
        """Return the running jobs, and jobs that wait while a command works on the plan."""
        attempts = folder.attempts()
        at_work = [job for job in folder.plan.jobs if _goes_on(folder, job, attempts)]
        found = {job.name: Queued("waiting", reason=_why(folder, job, at_work)) for job in _waiting(folder)}
        return {**found, **{job.name: Queued("running", job.host) for job in at_work}}

    def cancel(self, folder: FleetFolder, jobs: Sequence[FleetJob]) -> None:
        """End jobs by SIGINT, as Ctrl-C would."""
        attempts = folder.attempts()
        for job in jobs:
            if (pid := _begun(folder, job, attempts.get(job.name, ()))) is not None:
                os.kill(pid, signal.SIGINT)

    def _begin_what_may(
        self, folder: FleetFolder, waiting: list[FleetJob], left_over: Sequence[FleetJob]
    ) -> None:
        """Start the jobs that may start now: in order, within the limit, if no resource of theirs is in use.

        Jobs that a killed command left running count, and keep their resources. If the plan has `at_once`, it
        replaces the count of CPUs; otherwise all plans share the CPUs.
        """
        cpus = len(os.sched_getaffinity(0))
        running = [*left_over, *(job for job, _ in self._running.values())]
        busy = {each for job in running for each in job.holds}
        for job in tuple(waiting):
            if len(running) >= (folder.plan.at_once or cpus):
                return
            if not busy.isdisjoint(job.holds) or _at_work(folder.library, job):
                continue
            by = f"job {job.name} of plan {folder.plan.plan_id}"
            taken = hold(job.holds, by, cpus=job.cpus, of_cpus=0 if folder.plan.at_once else cpus)
            if isinstance(taken, str):
                if taken == NO_CPU:
                    return
                busy.add(taken)
                continue
            with taken:
                self._begin(folder, job, taken)
            waiting.remove(job)
            running.append(job)
            busy.update(job.holds)

    def _begin(self, folder: FleetFolder, job: FleetJob, taken: Hold) -> None:
        words = folder.job_command(job)
        with (
            HeldFolder(folder.path / LOGS, writing=True) as logs,
            os.fdopen(logs.append_to(f"{job.name}.log"), "ab") as output,
        ):
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                pass_fds=taken.descriptors,
            )
        self._running[job.name] = (job, process)

    def _reap(self, folder: FleetFolder) -> list[FleetJob]:
        """Forget the jobs that have ended; return those that failed and are to start again."""
        ended = [job for job, process in self._running.values() if process.poll() is not None]
        for job in ended:
            del self._running[job.name]
        if not ended or not folder.plan.retries:
            return []
        attempts = folder.attempts()
        return [job for job in ended if folder.may_retry(attempts.get(job.name, ()))]

    def _end_all(self) -> None:
        for _, process in self._running.values():
            process.send_signal(signal.SIGINT)
        for _, process in self._running.values():
            process.wait()
        self._running.clear()


@contextmanager
def _sole(folder: FleetFolder) -> Iterator[None]:
    """Lock the plan, so that no second command works on it on this host.

    Raises
    ------
    Refused
        Another command works on it.
    """
    with (
        HeldFolder(folder.path, writing=True) as held,
        os.fdopen(held.lock_file(_LOCK), "r+b") as lock,
    ):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Refused(
                f"another command is running plan {folder.plan.plan_id}",
                f"follow it: {folder.command('watch')}",
            ) from error
        yield


def _waiting(folder: FleetFolder) -> list[FleetJob]:
    """Return the jobs that a command on this host has yet to start; empty if no command works on the plan."""
    given = folder.submitted()
    try:
        with (folder.path / _LOCK).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        if given is None or folder.cancelled:
            return []
        tries = folder.attempts()
        last = {name: each[-1].began for name, each in tries.items()}
        return [
            job
            for job in folder.plan.jobs
            if job.name in given.given and last.get(job.name, 0.0) < given.given[job.name]
        ]
    except FileNotFoundError:
        pass
    return []


def _why(folder: FleetFolder, job: FleetJob, at_work: Sequence[FleetJob]) -> str:
    """Return what a job waits for: a resource that another job uses, or its turn."""
    if job.host != host_name():
        return ""
    for other in at_work:
        for thing in job.holds:
            if thing in other.holds:
                return f"waits for {thing}, used by job {other.name} ({other.serial})"
    found = ((thing, holder(thing)) for thing in job.holds)
    if held := "; ".join(f"waits for {thing}, used by {who}" for thing, who in found if who):
        return held
    limit = folder.plan.at_once
    return "waits for a CPU" if limit is None else f"at_once = {limit}: begins when a job ends"


def _at_work(library: Path, job: FleetJob) -> bool:
    run = library / job.run_id
    return (run / MANIFEST).is_file() and is_running(run)


def _goes_on(
    folder: FleetFolder, job: FleetJob, attempts: Mapping[str, Sequence[Attempt]] | None = None
) -> bool:
    """Return whether a job is running, or was just started and has no run yet."""
    if _at_work(folder.library, job):
        return True
    known = folder.attempts() if attempts is None else attempts
    return _begun(folder, job, known.get(job.name, ())) is not None


def _begun(folder: FleetFolder, job: FleetJob, attempts: Sequence[Attempt]) -> int | None:
    """Return the process id of a job's last attempt if it is running, even before it has made its run."""
    last = attempts[-1] if attempts else None
    if last is None or last.ended is not None or last.host != host_name():
        return None
    try:  # process ids are reused: this one must be the job's
        words = Path(f"/proc/{last.pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return None
    ours = str(folder.path).encode() in words and job.name.encode() in words
    return last.pid if ours else None
