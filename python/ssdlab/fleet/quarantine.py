"""Drives that failed twice: no plan takes them again until a user releases them.

The library has a file for each drive in `.fleet/quarantine`, with the reasons. A drive does not fail by a
refusal, an interruption, or the loss or an error of its host.
"""

from __future__ import annotations

import hashlib
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING

from pydantic import Field, ValidationError

from ssdlab.fleet.inventory import FLEET
from ssdlab.fleet.trusted_files import HostName, JobName, Line, PlanId, Serial, private_folder, read_private
from ssdlab.host.defaults import library_words
from ssdlab.host.durable import library_errors
from ssdlab.model.errors import DriveError, Refused, excerpt, unknown
from ssdlab.model.frozen import Stored
from ssdlab.model.units import counted
from ssdlab.results.run_folder import MANIFEST, read_manifest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ssdlab.results.schema import Failure

FOLDER = "quarantine"
FAILURES = 2
"""Number of failed runs that put a drive into quarantine."""


class DriveFailure(Stored):
    """A run that failed on a drive."""

    plan: PlanId
    job: JobName
    host: HostName
    at: float = Field(description="host time, in seconds since 1970")
    what: Line = Field(description="why it failed")


class Failures(Stored):
    """What failed on a drive since it was last released, oldest first."""

    serial: Serial
    failures: tuple[DriveFailure, ...] = Field(min_length=1)

    @property
    def quarantined(self) -> bool:
        """Whether no plan takes the drive."""
        return len(self.failures) >= FAILURES

    @property
    def words(self) -> str:
        """What failed, in a sentence."""
        last = self.failures[-1]
        state = "is in quarantine" if self.quarantined else "is not in quarantine"
        count = counted(len(self.failures), "run")
        return f"{self.serial} {state}: {count} failed, the last in plan {last.plan}: {last.what}"


def failure_of(run: Path) -> Failure | None:
    """Return why a run failed; None: it did not, or there is none."""
    if not (run / MANIFEST).is_file():
        return None
    manifest = read_manifest(run)
    return manifest.failure if manifest.status == "failed" else None


def of_drive(failure: Failure) -> bool:
    """Whether a run failed by its drive: a full disk of the host is no fault of it."""
    return failure.kind == DriveError.kind


def note_failure(library: Path, serial: str, failure: DriveFailure) -> None:
    """Keep that a run failed on a drive.

    Raises
    ------
    Refused, HostError
        The library cannot be written, or others can change it.
    """
    before = known_failures(library).get(serial)
    found = Failures(serial=serial, failures=(*(before.failures if before else ()), failure))
    path = library / FLEET / FOLDER
    with library_errors(path), private_folder(path, make=True) as folder:
        folder.replace(_name(serial), found.model_dump_json(indent=1))


def known_failures(library: Path) -> dict[str, Failures]:
    """Return what failed, by serial.

    Raises
    ------
    Refused
        A file is damaged, or others can change it.
    """
    path = library / FLEET / FOLDER
    found: dict[str, Failures] = {}
    with suppress(FileNotFoundError), private_folder(path, writing=False) as folder, library_errors(path):
        for name in folder.names():
            if name.endswith(".json") and not name.startswith("."):
                try:
                    each = Failures.model_validate_json(read_private(folder, name, own=False))
                except ValidationError as error:
                    raise Refused(
                        f"{path / name} is damaged",
                        "remove it: that releases its drive",
                        path=str(path / name),
                    ) from error
                found[each.serial] = each
    return found


def quarantined(library: Path) -> dict[str, Failures]:
    """Return the drives that no plan takes, by serial."""
    return {serial: each for serial, each in known_failures(library).items() if each.quarantined}


def release(library: Path, serials: Sequence[str]) -> list[Failures]:
    """Delete the failures of drives, so that plans take them again; returns the failures.

    Raises
    ------
    UsageError
        Nothing failed on one of them.
    """
    known = known_failures(library)
    for serial in serials:
        if serial not in known:
            raise unknown("drive with failures", excerpt(serial), known)
    path = library / FLEET / FOLDER
    with library_errors(path), private_folder(path) as folder:
        for serial in set(serials):
            folder.remove(_name(serial))
    return [known[serial] for serial in dict.fromkeys(serials)]


def _name(serial: str) -> str:
    """Return the name of a drive's file: a serial may have characters and a length that no name has."""
    return hashlib.sha256(serial.encode()).hexdigest() + ".json"


def release_command(serial: str, library: Path) -> str:
    """Return the command that releases a drive."""
    return f"ssdlab fleet release {shlex.quote(serial)}{library_words(library)}"
