"""What brings the jobs of a plan to their hosts: one small interface; `backends` has those that there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.fleet.fields import BackendName
    from ssdlab.fleet.fleet_folder import FleetFolder
    from ssdlab.fleet.fleet_plan import FleetJob


@dataclass(frozen=True)
class Queued:
    """What a back end says of a job that it has and that has not ended.

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

    def check(self, folder: FleetFolder, jobs: Sequence[FleetJob]) -> None:
        """Refuse what it could not carry out, before anything begins.

        Raises
        ------
        Refused, HostError
            What is missing, by name.
        """

    def submit(self, folder: FleetFolder, jobs: Sequence[FleetJob]) -> Mapping[str, str]:
        """Take jobs; returns what it calls each. Returns at once, or when all have ended.

        Raises
        ------
        HostError
            It took none, or not all.
        """

    def queued(self, folder: FleetFolder) -> Mapping[str, Queued]:
        """Return what it says of each job that it has and that has not ended."""

    def cancel(self, folder: FleetFolder, jobs: Sequence[FleetJob]) -> None:
        """End jobs as Ctrl-C would: their runs can be resumed."""
