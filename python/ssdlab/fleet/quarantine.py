"""Quarantine: drives that failed twice. No plan uses them until a user releases them.

The library has a file for each such drive in `.fleet/quarantine`, with its failures. A refusal, an
interruption, an error of the host or its loss is not a failure of the drive.
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
    plan: PlanId
    job: JobName
    host: HostName
    at: float = Field(description="host time, in seconds since 1970")
    what: Line = Field(description="why it failed")


class Failures(Stored):
    """Failed runs on a drive since it was last released, oldest first."""

    serial: Serial
    failures: tuple[DriveFailure, ...] = Field(min_length=1)

    @property
    def quarantined(self) -> bool:
        return len(self.failures) >= FAILURES

    @property
    def words(self) -> str:
        """The number of failures and the last one, as a sentence."""
        last = self.failures[-1]
        state = "is in quarantine" if self.quarantined else "is not in quarantine"
        count = counted(len(self.failures), "run")
        return f"{self.serial} {state}: {count} failed, the last in plan {last.plan}: {last.what}"


def failure_of(run: Path) -> Failure | None:
    """Return why a run failed; None if it did not fail or does not exist."""
    if not (run / MANIFEST).is_file():
        return None
    manifest = read_manifest(run)
    return manifest.failure if manifest.status == "failed" else None


def of_drive(failure: Failure) -> bool:
    """Return whether the drive caused a failure, and not the host, as with a full disk."""
    return failure.kind == DriveError.kind


def note_failure(library: Path, serial: str, failure: DriveFailure) -> None:
    """Record a failed run on a drive.

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
    """Return the failures of all drives, by serial.

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
    return {serial: each for serial, each in known_failures(library).items() if each.quarantined}


def release(library: Path, serials: Sequence[str]) -> list[Failures]:
    """Delete the failures of drives, so that plans use them again; return the failures.

    Raises
    ------
    UsageError
        A drive has no failures.
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
    """Return the name of a drive's file: a hash, as a serial may have any length and characters."""
    return hashlib.sha256(serial.encode()).hexdigest() + ".json"


def release_command(serial: str, library: Path) -> str:
    return f"ssdlab fleet release {shlex.quote(serial)}{library_words(library)}"
