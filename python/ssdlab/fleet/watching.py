"""Follows a plan: estimates when all its jobs will have ended, and notifies a receiver of the end."""

from __future__ import annotations

import heapq
import json
import os
import shlex
import shutil
import subprocess
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

from ssdlab.fleet.status import ENDED
from ssdlab.model.errors import HostError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ssdlab.fleet.fleet_plan import FleetJob, FleetPlan
    from ssdlab.fleet.status import JobStatus


def all_done_s(
    plan: FleetPlan, backend: str, found: Sequence[JobStatus] | None = None
) -> tuple[float, float]:
    """Return bounds of the seconds until all jobs have ended, by the host's clock.

    Jobs start in order, within the limit of the plan, and only while no other job holds their resources.
    Nodes that are down and jobs of other users delay them further.

    Parameters
    ----------
    backend
        Name of the back end. Without a limit in the plan, ``local`` runs a job for each CPU, and Slurm has no
        limit.
    found
        The states of the jobs; None: no job has started.
    """
    limit = plan.at_once or (len(os.sched_getaffinity(0)) if backend == "local" else None)
    if found is None:
        left = [(job, job.seconds) for job in plan.jobs]
    else:
        going = sorted(found, key=lambda each: each.state != "running")
        left = [(each.job, _left_s(each)) for each in going if each.state not in ENDED]
    lower, upper = (_makespan(((job, seconds[end]) for job, seconds in left), limit) for end in (0, 1))
    return lower, upper


def _left_s(found: JobStatus) -> tuple[float, float]:
    live, planned = found.live, found.job.seconds
    if live is None or found.job.drive_seconds is not None:  # a simulated drive's run reports its own time
        return planned
    return live.remaining_least_s, live.remaining_most_s


def _makespan(jobs: Iterable[tuple[FleetJob, float]], at_once: int | None) -> float:
    """Return the seconds until the last job ends, if each starts as soon as possible, in order."""
    free: dict[str, float] = {}
    ends: list[float] = []
    last = 0.0
    for job, seconds in jobs:
        begins = max((free.get(each, 0.0) for each in job.holds), default=0.0)
        if at_once is not None and len(ends) >= at_once:
            begins = max(begins, heapq.heappop(ends))
        end = begins + seconds
        heapq.heappush(ends, end)
        free.update(dict.fromkeys(job.holds, end))
        last = max(last, end)
    return last


_WITHIN_S = 60.0
_URLS = ("http://", "https://")


def check_receiver(receiver: str) -> None:
    """Refuse a receiver that is neither a URL nor a command.

    Raises
    ------
    UsageError
        It is neither, or there is no such program.
    """
    try:
        words = shlex.split(receiver)
    except ValueError as error:
        raise UsageError(f"--notify {receiver!r} is no command: {error}", "close its quotes") from error
    if not words:
        raise UsageError("--notify is empty", "name a command, or a URL that begins with http")
    if not receiver.startswith(_URLS) and shutil.which(words[0]) is None:
        advice = "name a program; what needs a shell is written as: sh -c '...'"
        raise UsageError(f"--notify: there is no program {words[0]}", advice)


def tell(receiver: str, document: Mapping[str, object]) -> None:
    """Send a document as JSON to a URL, or to a command's standard input.

    Raises
    ------
    HostError
        The command fails, or the URL does not accept it.
    """
    data = json.dumps(document).encode()
    if receiver.startswith(_URLS):
        request = urllib.request.Request(receiver, data, {"Content-Type": "application/json"})
        try:
            urllib.request.urlopen(request, timeout=_WITHIN_S).close()
        except (urllib.error.URLError, OSError) as error:
            raise HostError(f"{receiver} was not told of the end: {error}", "check the URL") from error
        return
    words = shlex.split(receiver)
    try:
        done = subprocess.run(words, input=data, timeout=_WITHIN_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostError(f"--notify {receiver} failed: {error}", "check the command") from error
    if done.returncode != 0:
        raise HostError(f"--notify {receiver} ended with exit status {done.returncode}", "check the command")
