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
    """A back end's state of a job that has not ended.

    Attributes
    ----------
    state
        ``waiting``, ``running`` or ``held``.
    host
        Where it runs; empty while it waits.
    reason
        Why it waits or is held, in words.
    """

    state: Literal["waiting", "running", "held"]
    host: str = ""
    reason: str = ""


class Backend(Protocol):
    """Brings jobs to hosts."""

    name: BackendName

    def check(self, plan: FleetPlan, jobs: Sequence[FleetJob]) -> None:
        """Refuse a plan that it cannot run, before anything starts.

        Raises
        ------
        Refused, HostError
            What is missing, by name.
        """

    def submit(self, folder: FleetFolder, jobs: Sequence[FleetJob]) -> Mapping[str, str]:
        """Submit jobs; return its name for each. Returns at once, or when all have ended.

        Raises
        ------
        HostError
            It accepted none, or not all.
        """

    def queued(self, folder: FleetFolder) -> Mapping[str, Queued]:
        """Return the state of each job that has not ended."""

    def cancel(self, folder: FleetFolder, jobs: Sequence[FleetJob]) -> None:
        """End jobs as Ctrl-C would: their runs can be resumed."""
