"""The Slurm back end: one `sbatch` job for each job of a plan.

A job is pinned to its drive by a GRES whose type is the serial, so Slurm never gives a drive to two jobs.
Meters are licences. Jobs on drives of one link or host follow one another as `singleton`. To limit jobs at
once, each job takes its share of a pool of licences. Without that pool, the limit is divided among the hosts,
and jobs of one host wait for each other. No job waits for another host: once Slurm knows that a node is down,
only that node's drives wait.
Sources: slurm.conf(5), gres.conf(5), sbatch(1), squeue(1) of Slurm 22.05.
"""

from __future__ import annotations

import math
import os
import re
import shlex
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from ssdlab.fleet.backend import Queued
from ssdlab.fleet.fleet_folder import LOGS
from ssdlab.host.defaults import library_words
from ssdlab.host.programs import find_program, fixed_environment
from ssdlab.model.errors import HostError, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from ssdlab.fleet.fleet_folder import FleetFolder
    from ssdlab.fleet.fleet_plan import FleetJob, FleetPlan
    from ssdlab.fleet.trusted_files import BackendName

GRES = "drive"
SLOTS, SLOTS_TOTAL = "ssdlab_slots", 1_000_000
"""Licence that limits jobs at once: each takes total / at_once. This total makes limits up to 1,000 exact."""
CONF = "/etc/slurm/slurm.conf"
_ANSWERS_WITHIN_S = 60.0
_TIME_FACTOR, _TIME_MORE_S = 2.0, 1800.0
"""Slurm's time limit is the planned upper bound times this factor, plus these seconds.

The bound holds on a quiet host only.
"""
_REASONS = {
    "None": "",
    "Resources": "waits for CPUs",
    "Priority": "Slurm has jobs of higher priority",
    "Licenses": "waits until Slurm gives it its licence",
    "Dependency": "waits for another job",
    "BeginTime": "was requeued and will start again",
    "JobHeldUser": "held by its user: release it with scontrol release",
    "JobHeldAdmin": "held by an administrator",
    "launch failed requeued held": "held: its node could not start it",
}
_NAMED = 3
"""Maximum number of jobs that a reason names."""
_HELD = ("Held", "held")
_BAD_NODE = ("down", "drain", "fail", "maint", "unk", "error")


def is_set_up() -> bool:
    """Return whether this host can submit jobs to Slurm."""
    there = os.environ.get("SLURM_CONF", CONF)
    return Path(there).is_file() and find_program("sbatch") is not None


def gres_type(serial: str) -> str:
    """Return a serial as a GRES type, which has no blanks, commas, colons or brackets."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", serial)


def licence(shared: str) -> str:
    """Return the name of the licence for a meter or another shared resource."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", shared)


class Slurm:
    name: BackendName = "slurm"

    def check(self, plan: FleetPlan, jobs: Sequence[FleetJob]) -> None:
        """Refuse a plan whose drives or licences differ from Slurm's configuration."""
        nodes = _nodes(ask("scontrol", "show", "node", "--oneliner"))
        problems = [problem for job in jobs for problem in _problems(job, nodes)]
        known = _licences()
        wanted = {shared: licence(shared) for job in jobs for shared in job.shared}
        problems += [
            f"there is no licence {name} for {shared}: add Licenses={name}:1 to slurm.conf"
            for shared, name in wanted.items()
            if name not in known
        ]
        at_once, hosts = plan.at_once, {job.host for job in jobs}
        if at_once is not None and at_once < len(hosts) and known.get(SLOTS, 0) < at_once:
            problems.append(
                f"at_once = {at_once} of {len(hosts)} hosts needs a licence: Licenses={SLOTS}:{SLOTS_TOTAL}"
            )
        if problems:
            more = f"; and {len(problems) - 8} more" if len(problems) > 8 else ""
            raise Refused(
                f"Slurm lacks what the plan needs: {'; '.join(problems[:8])}{more}",
                "record the hosts' inventories again and put their lines into slurm.conf and gres.conf "
                f"(`ssdlab fleet inventory --slurm{library_words(Path(plan.library))}` prints them), "
                "then make the plan again",
                problems=problems,
            )

    def submit(self, folder: FleetFolder, jobs: Sequence[FleetJob]) -> Mapping[str, str]:
        given: dict[str, str] = {}
        limit = _Limit.of(folder.plan.at_once, jobs)
        of_host: dict[str, list[str]] = {}
        for number, job in enumerate(_in_turns(jobs)):
            others = of_host.setdefault(job.host, [])
            slots = limit.of_host.get(job.host, len(jobs))
            before = given[others[-slots]] if len(others) >= slots else None
            others.append(job.name)
            script = _script(folder, job)
            options = _options(folder, job, before, limit.licences)
            answer = ask("sbatch", "--parsable", *options, script=script)
            given[job.name] = answer.strip().partition(";")[0]
            if number % 50 == 49:  # a kill loses the numbers of 50 jobs at most
                folder.note_submitted(self.name, given)
        folder.note_submitted(self.name, given)
        return given

    def queued(self, folder: FleetFolder) -> Mapping[str, Queued]:
        """Ask Slurm for the jobs that have not ended, and why they wait."""
        given = folder.submitted()
        if given is None:
            return {}
        rows = _rows(ask("squeue", "--noheader", "--all", f"--format={_COLUMNS}"))
        bad, used = {}, frozenset[str]()
        if any(row.kind in {"waiting", "running"} for row in rows):
            bad = _bad_nodes(ask("sinfo", "--noheader", "--Node", "--format=%N|%T|%E"))
        if any(row.reason in {"Resources", "Priority"} for row in rows):
            used = _used(ask("scontrol", "show", "node", "--details", "--oneliner"))
        return explained(folder.plan, given.jobs, rows, bad, used)

    def cancel(self, folder: FleetFolder, jobs: Sequence[FleetJob]) -> None:
        """End jobs: Slurm sends SIGTERM, which stops a run as Ctrl-C does."""
        given = folder.submitted()
        numbers = [] if given is None else [given.jobs[job.name] for job in jobs if given.jobs.get(job.name)]
        for at in range(0, len(numbers), 200):
            ask("scancel", *numbers[at : at + 200])


def _in_turns(jobs: Sequence[FleetJob]) -> list[FleetJob]:
    """Return jobs host by host in turns, so that no host takes all slots of a limit."""
    places, counts = {}, Counter[str]()
    for job in jobs:
        places[job.name] = counts[job.host]
        counts[job.host] += 1
    return sorted(jobs, key=lambda job: places[job.name])


@dataclass(frozen=True)
class _Limit:
    """How the number of jobs at once is limited: by licences for each job, or by a limit per host."""

    licences: int = 0
    of_host: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, at_once: int | None, jobs: Sequence[FleetJob]) -> Self:
        if at_once is None or at_once >= len(jobs):
            return cls()
        if (total := _licences().get(SLOTS, 0)) >= at_once:
            return cls(total // at_once)
        counts = Counter(job.host for job in jobs)
        slots = dict.fromkeys(counts, 1)
        for _ in range(at_once - len(slots)):  # the next slot goes to the host with most jobs per slot
            slots[max(slots, key=lambda host: counts[host] / slots[host])] += 1
        return cls(of_host=slots)


def _licences() -> dict[str, int]:
    """Return the total number of each licence."""
    text = ask("scontrol", "show", "licenses", "--oneliner")
    return {name: int(total) for name, total in re.findall(r"LicenseName=(\S+).*?Total=(\d+)", text)}


def _options(folder: FleetFolder, job: FleetJob, before: str | None, slots: int) -> list[str]:
    dependencies = [] if before is None else [f"afterany:{before}"]
    shared = _one_at_a_time(job)
    name = f"ssdlab-{folder.plan.plan_id}-{job.name}"
    if shared:
        dependencies.append("singleton")
        # A host's name covers its links. It has no plan in it, so that jobs of other plans wait too.
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
    licences = [f"{licence(each)}:1" for each in job.shared] + ([f"{SLOTS}:{slots}"] if slots else [])
    if licences:
        options.append(f"--licenses={','.join(licences)}")
    if dependencies:
        options.append(f"--dependency={','.join(dependencies)}")
    return options


def _one_at_a_time(job: FleetJob) -> list[str]:
    """Return the link and host that no other job may use at the same time; the last covers the others."""
    return [each for each in job.holds if each.partition(":")[0] in {"link", "host"}]


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
    """Return the number of drives by node and GRES type, from `scontrol show node --oneliner`."""
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


def requeue(number: str) -> None:
    """Requeue a job: Slurm ends its processes and starts it again.

    Raises
    ------
    HostError
        Slurm does not answer.
    """
    ask("scontrol", "requeue", number)


_COLUMNS = "%i|%T|%N|%r|%W|%b|%E|%S|%u|%j"


@dataclass(frozen=True)
class Row:
    """A job in Slurm's queue, of any user.

    Attributes
    ----------
    number
        Slurm's job number.
    kind
        State of the job; None: it has ended.
    node, user, name
        Node that runs it, its owner and its name.
    reason
        Slurm's reason why it waits.
    licences, drives
        Licences and drives (GRES types) that it uses or requests, by Slurm's names.
    after
        Numbers of the jobs that it waits for.
    begins
        Slurm's time of its start, actual or expected.
    ending
        Whether its processes have ended and Slurm is still completing it.
    """

    number: str
    kind: Literal["waiting", "running", "held"] | None
    node: str = ""
    reason: str = ""
    licences: frozenset[str] = frozenset()
    drives: frozenset[str] = frozenset()
    after: tuple[str, ...] = ()
    begins: str = ""
    ending: bool = False
    user: str = ""
    name: str = ""


def _rows(text: str) -> list[Row]:
    """Parse the output of squeue in the format `_COLUMNS`."""
    found = []
    for line in text.splitlines():
        number, state, node, reason, licences, gres, after, begins, user, name = (
            line.split("|", 9) + [""] * 9
        )[:10]
        found.append(
            Row(
                number,
                _kind(state, reason),
                node,
                reason,
                frozenset(re.findall(r"([^,:()\s]+)(?::\d+)?", licences)) - {"null"},
                frozenset(kind.lower() for kind in re.findall(rf"\b{GRES}[:/]([^:,()]+)", gres)),
                tuple(re.findall(r"after\w*:(\d+)", after)),
                begins,
                state == "COMPLETING",
                user,
                name,
            )
        )
    return found


def _kind(state: str, reason: str) -> Literal["waiting", "running", "held"] | None:
    if state in {"RUNNING", "CONFIGURING", "COMPLETING", "STAGE_OUT", "SIGNALING", "STOPPED"}:
        return "running"
    if state == "SUSPENDED":
        return "held"
    if state in {"PENDING", "REQUEUED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT"}:
        return "held" if any(word in reason for word in _HELD) else "waiting"
    return None


def _bad_nodes(text: str) -> dict[str, str]:
    """Return the nodes that are down, drained or silent, with the reasons, from the output of sinfo."""
    bad: dict[str, str] = {}
    for line in text.splitlines():
        node, state, why = (*line.split("|", 2), "", "")[:3]
        reason = "" if why in {"", "none", "None"} else f": {why}"
        if any(word in state for word in _BAD_NODE):
            bad[node] = f"node {node} is {state.rstrip('*')}{reason}"
        elif state.endswith("*"):
            bad[node] = f"node {node} does not respond to Slurm{reason}"
    return bad


def _used(text: str) -> frozenset[str]:
    """Return the GRES types of drives that Slurm counts as in use, from `scontrol show node --details`."""
    used = " ".join(re.findall(r"\bGresUsed=(\S+)", text))
    return frozenset(kind.lower() for kind in re.findall(rf"\b{GRES}:([^:,()]+):[1-9]", used))


def explained(
    plan: FleetPlan, numbers: Mapping[str, str], rows: Sequence[Row], bad: Mapping[str, str], used: Set[str]
) -> dict[str, Queued]:
    """Return the state of each job of a plan in Slurm's queue, and why it waits.

    Parameters
    ----------
    numbers
        Slurm's job numbers, by job of the plan.
    rows
        The queue, including jobs of other users.
    bad
        Nodes that take no jobs, with the reasons.
    used
        Drives that Slurm counts as in use, as GRES types in lower case.
    """
    of_number = {number: plan.job(name) for name, number in numbers.items() if number}
    running = [row for row in rows if row.kind == "running"]

    def who(row: Row) -> str:
        job = of_number.get(row.number)
        return f"Slurm's job {row.number} of {row.user}" if job is None else _named(job)

    def ends(of: Sequence[Row]) -> str:
        named = [who(row) for row in of]
        some = " or ".join(filter(None, (", ".join(named[:-1][:_NAMED]), named[-1])))
        return f"begins when {some} ends" + (", which Slurm clears up after" if of[-1].ending else "")

    def why(row: Row, job: FleetJob) -> str:
        limit = f"at_once = {plan.at_once}: "
        drive = gres_type(job.serial).lower()
        before = [each for each in rows if each.number in row.after]
        same = [each for each in running if each.name == row.name and each.number != row.number]
        holders = [each for each in running if drive in each.drives]
        if job.host in bad and row.kind == "waiting":
            return bad[job.host]
        if row.reason == "Dependency" and before:
            return limit + ends(before)
        if row.reason == "Dependency" and same:
            return f"{ends(same)}: both use {_one_at_a_time(job)[-1]}"
        if row.reason == "BeginTime" and row.begins:
            return f"was requeued and will start again at {row.begins.replace('T', ' ')}"
        if row.reason == "Licenses":
            for name in map(licence, job.shared):
                if having := [each for each in running if name in each.licences]:
                    return f"waits for licence {name}, held by {', '.join(map(who, having[:_NAMED]))}"
            if having := [each for each in running if SLOTS in each.licences]:
                return limit + ends(having)
        if row.reason in {"Resources", "Priority"}:
            if holders:
                return f"waits for drive {job.serial}, used by {who(holders[0])}"
            if drive in used:
                return f"Slurm says {job.serial} is in use, but no job has it: restart slurmctld to free it"
        return _REASONS.get(row.reason, row.reason)

    found: dict[str, Queued] = {}
    for row in rows:
        job = of_number.get(row.number)
        if job is not None and row.kind is not None:
            reason = bad.get(row.node, "") if row.kind == "running" else why(row, job)
            found[job.name] = Queued(row.kind, row.node or (job.host if job.host in bad else ""), reason)
    return found


def _named(job: FleetJob) -> str:
    return f"job {job.name} ({job.serial}, {job.host})"


def ask(program: str, *words: str, script: str | None = None) -> str:
    """Run a Slurm program and return its output.

    Raises
    ------
    HostError
        The program is not installed, does not answer or fails; the error includes its message.
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
