"""The interface of back ends, which run a plan's jobs on their hosts; `backends` lists them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.fleet.fleet_folder import FleetFolder
    from ssdlab.fleet.fleet_plan import FleetJob, FleetPlan
    from ssdlab.fleet.trusted_files import BackendName


@dataclass(frozen=True)
class Queued:
    """State of a job that has not ended, as its back end reports it.

    Attributes
    ----------
    state
        ``waiting``, ``running`` or ``held``.
    host
        Host that runs it; empty while it waits.
    reason
        Why it waits or is held, in words.
    """

    state: Literal["waiting", "running", "held"]
    host: str = ""
    reason: str = ""


class Backend(Protocol):
    """Runs jobs on their hosts."""

    name: BackendName

    def check(self, plan: FleetPlan, jobs: Sequence[FleetJob]) -> None:
        """Refuse a plan that the back end cannot run, before anything starts.

        Raises
        ------
        Refused, HostError
            Something is missing; the error names it.
        """

    def submit(self, folder: FleetFolder, jobs: Sequence[FleetJob]) -> Mapping[str, str]:
        """Submit jobs, and return the back end's name for each, by job.

        Slurm returns at once; the local back end returns when all jobs have ended.

        Raises
        ------
        HostError
            The back end did not accept all jobs.
        """

    def queued(self, folder: FleetFolder) -> Mapping[str, Queued]:
        """Return the state of each job that has not ended, by job."""

    def cancel(self, folder: FleetFolder, jobs: Sequence[FleetJob]) -> None:
        """Stop jobs as Ctrl-C would; their runs can be resumed."""
