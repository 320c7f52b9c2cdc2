"""The Slurm back end: one `sbatch` job for each job of a plan.

A GRES whose type is the serial pins a job to its drive, so Slurm never gives a drive to two jobs. Other
exclusive resources use Slurm's means: meters are licences, drives of one link or host run as `singleton`, and
a limit of parallel jobs becomes chains of dependent jobs. Sources: slurm.conf(5), gres.conf(5), sbatch(1),
squeue(1) of Slurm 22.05.
"""

from __future__ import annotations

import math
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ssdlab.fleet.backend import Queued
from ssdlab.fleet.fleet_folder import LOGS
from ssdlab.host.defaults import library_words
from ssdlab.host.programs import find_program, fixed_environment
from ssdlab.model.errors import HostError, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.fleet.fields import BackendName
    from ssdlab.fleet.fleet_folder import FleetFolder
    from ssdlab.fleet.fleet_plan import FleetJob

GRES = "drive"
CONF = "/etc/slurm/slurm.conf"
_ANSWERS_WITHIN_S = 60.0
_TIME_FACTOR, _TIME_MORE_S = 2.0, 1800.0
"""Of a job's planned upper bound: what Slurm lets it take. A plan's bound holds on a quiet host."""
_REASONS = {
    "None": "",
    "Resources": "waits for its drive or for CPUs",
    "Priority": "other jobs are ahead of it",
    "Licenses": "waits for a meter or another shared resource",
    "Dependency": "waits for the preceding job",
    "BeginTime": "was requeued and will start again",
    "JobHeldUser": "held by its user: release it with scontrol release",
    "JobHeldAdmin": "held by an administrator",
    "launch failed requeued held": "held: its node could not start it",
}
_HELD = ("Held", "held")
_BAD_NODE = ("down", "drain", "fail", "maint", "unk", "error")


def is_set_up() -> bool:
    """Whether this host can submit jobs to Slurm."""
    there = os.environ.get("SLURM_CONF", CONF)
    return Path(there).is_file() and find_program("sbatch") is not None


def gres_type(serial: str) -> str:
    """Return a serial as the type of a GRES, which has no blanks, commas, colons or brackets."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", serial)


def licence(shared: str) -> str:
    """Return the licence name of a meter or another shared resource."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", shared)


class Slurm:
    """Submits jobs to Slurm and queries them."""

    name: BackendName = "slurm"

    def check(self, folder: FleetFolder, jobs: Sequence[FleetJob]) -> None:
        """Refuse a plan whose drives or licences differ from Slurm's configuration."""
        nodes = _nodes(ask("scontrol", "show", "node", "--oneliner"))
        problems = [problem for job in jobs for problem in _problems(job, nodes)]
        known = set(re.findall(r"LicenseName=(\S+)", ask("scontrol", "show", "licenses", "--oneliner")))
        wanted = {shared: licence(shared) for job in jobs for shared in job.shared}
        problems += [
            f"there is no licence {name} for {shared}" for shared, name in wanted.items() if name not in known
        ]
        if problems:
            more = f"; and {len(problems) - 8} more" if len(problems) > 8 else ""
            raise Refused(
                f"Slurm lacks what the plan needs: {'; '.join(problems[:8])}{more}",
                "record the hosts' inventories again and put their lines into slurm.conf and gres.conf "
                f"(`ssdlab fleet inventory --slurm{library_words(folder.library)}` prints them), "
                "then make the plan again",
                problems=problems,
            )

    def submit(self, folder: FleetFolder, jobs: Sequence[FleetJob]) -> Mapping[str, str]:
        """Submit jobs to Slurm, and return at once."""
        given: dict[str, str] = {}
        chains = folder.plan.at_once or len(jobs)
        for number, job in enumerate(jobs):
            before = given[jobs[number - chains].name] if number >= chains else None
            script = _script(folder, job)
            answer = ask("sbatch", "--parsable", *_options(folder, job, before), script=script)
            given[job.name] = answer.strip().partition(";")[0]
            if number % 50 == 49:  # a kill in between loses no more than these names
                folder.note_submitted(self.name, given)
        folder.note_submitted(self.name, given)
        return given

    def queued(self, folder: FleetFolder) -> Mapping[str, Queued]:
        """Ask Slurm for the jobs that have not ended, and why they wait."""
        given = folder.submitted()
        if given is None:
            return {}
        names = {number: name for name, number in given.jobs.items()}
        found: dict[str, Queued] = {}
        lines = ask("squeue", "--noheader", "--me", "--format=%i|%T|%N|%r").splitlines()
        for line in lines:
            number, state, node, reason = (*line.split("|"), "", "", "")[:4]
            if (name := names.get(number)) is not None and (kind := _kind(state, reason)) is not None:
                found[name] = Queued(kind, node, "" if kind == "running" else _REASONS.get(reason, reason))
        return _with_bad_nodes(folder, found)

    def cancel(self, folder: FleetFolder, jobs: Sequence[FleetJob]) -> None:
        """End jobs: Slurm sends SIGTERM, which stops a run as Ctrl-C does."""
        given = folder.submitted()
        numbers = [] if given is None else [given.jobs[job.name] for job in jobs if given.jobs.get(job.name)]
        for at in range(0, len(numbers), 200):
            ask("scancel", *numbers[at : at + 200])


def _options(folder: FleetFolder, job: FleetJob, before: str | None) -> list[str]:
    """Return the options of `sbatch` for a job."""
    dependencies = [] if before is None else [f"afterany:{before}"]
    shared = [each for each in job.holds if each.partition(":")[0] in {"link", "host"}]
    name = f"ssdlab-{folder.plan.plan_id}-{job.name}"
    if shared:
        dependencies.append("singleton")
        # One of a host covers its links. No plan in it: those of other plans wait for each other as well.
        name = f"ssdlab-{shared[-1]}"
    options = [
        f"--job-name={name}",
        f"--comment={folder.plan.plan_id}/{job.name}",
        f"--gres={GRES}:{gres_type(job.serial)}:1",
        "--nodes=1",
        "--ntasks=1",
        f"--cpus-per-task={job.cpus}",
        "--requeue",
        "--open-mode=append",
        f"--output={str(folder.path / LOGS).replace('%', '%%')}/{job.name}.log",
        "--chdir=/",
    ]
    if math.isfinite(job.seconds[1]):
        minutes = math.ceil((job.seconds[1] * _TIME_FACTOR + _TIME_MORE_S) / 60)
        options.append(f"--time={minutes}")
    if job.shared:
        options.append("--licenses=" + ",".join(f"{licence(each)}:1" for each in job.shared))
    if dependencies:
        options.append(f"--dependency={','.join(dependencies)}")
    return options


def _script(folder: FleetFolder, job: FleetJob) -> str:
    return f"#!/bin/sh\nexec {shlex.join(folder.job_command(job))}\n"


def _problems(job: FleetJob, nodes: Mapping[str, Mapping[str, int]]) -> list[str]:
    kind = gres_type(job.serial)
    if job.host not in nodes:
        return [f"there is no node {job.host} for drive {job.serial}"]
    count = nodes[job.host].get(kind.lower(), 0)
    if count == 0:
        return [f"node {job.host} has no {GRES}:{kind}"]
    return (
        [] if count == 1 else [f"node {job.host} has {count} of {GRES}:{kind}; each serial must be one drive"]
    )


def _nodes(text: str) -> dict[str, dict[str, int]]:
    """Return of each node how many drives of each type it has, from `scontrol show node --oneliner`."""
    found: dict[str, dict[str, int]] = {}
    for line in text.splitlines():
        name, gres = re.search(r"NodeName=(\S+)", line), re.search(r"\bGres=(\S+)", line)
        if name is None:
            continue
        counts: dict[str, int] = {}
        for kind, count in re.findall(rf"\b{GRES}:([^:,()]+):(\d+)", gres[1] if gres else ""):
            counts[kind.lower()] = counts.get(kind.lower(), 0) + int(count)
        found[name[1]] = counts
    return found


def _kind(state: str, reason: str) -> Literal["waiting", "running", "held"] | None:
    if state in {"RUNNING", "CONFIGURING", "COMPLETING", "STAGE_OUT", "SIGNALING", "STOPPED"}:
        return "running"
    if state == "SUSPENDED":
        return "held"
    if state in {"PENDING", "REQUEUED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT"}:
        return "held" if any(word in reason for word in _HELD) else "waiting"
    return None


def _with_bad_nodes(folder: FleetFolder, found: dict[str, Queued]) -> dict[str, Queued]:
    """Say of jobs that wait for a node which is down or drained that it is, and why."""
    waiting = {name for name, each in found.items() if each.state == "waiting"}
    if not waiting:
        return found
    bad: dict[str, str] = {}
    for line in ask("sinfo", "--noheader", "--Node", "--format=%N|%T|%E").splitlines():
        node, state, why = (*line.split("|", 2), "", "")[:3]
        if any(word in state for word in _BAD_NODE):
            reason = "" if why in {"", "none", "None"} else f": {why}"
            bad[node] = f"node {node} is {state.rstrip('*')}{reason}"
    for job in folder.plan.jobs:
        if job.name in waiting and job.host in bad:
            found[job.name] = Queued("waiting", job.host, bad[job.host])
    return found


def ask(program: str, *words: str, script: str | None = None) -> str:
    """Run a Slurm program and return its output.

    Raises
    ------
    HostError
        It is not installed, does not answer or fails; with its own message.
    """
    path = find_program(program)
    advice = "check that slurmctld runs and SLURM_CONF names its configuration: scontrol ping"
    if path is None:
        raise HostError(
            f"{program} is not installed here", "install Slurm's client programs, or use --backend local"
        )
    try:
        done = subprocess.run(
            [path, *words],
            input=script or "",
            capture_output=True,
            text=True,
            timeout=_ANSWERS_WITHIN_S,
            env=fixed_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise HostError(f"{program} did not answer within {_ANSWERS_WITHIN_S:g} s", advice) from error
    if done.returncode != 0:
        answer = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
        raise HostError(f"{program}: {answer}", advice)
    return done.stdout
