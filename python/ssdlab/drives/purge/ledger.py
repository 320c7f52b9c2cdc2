"""A permanent file for every purge, written before it starts, with the marks that must vanish.

A sanitize outlives its program, and an ATA erase may leave a password: after a kill, the next purge of the
drive finds the started one and its marks here.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ssdlab.drives.purge.record import PurgeMethodName, PurgeRecord, Sampling
from ssdlab.drives.trim.medium import Medium, kinds_of, pattern, places, read_all, unit_of
from ssdlab.host import durable
from ssdlab.host.held_folder import FOLDER_MODE, HeldFolder
from ssdlab.host.identity import Identity
from ssdlab.host.user_folders import state_folder
from ssdlab.model.errors import LabError, Refused


@dataclass(frozen=True, slots=True)
class Marks:
    """Where samples lie, and which of them were seen to hold their pattern before the purge."""

    seed: int
    sample_bytes: int
    offsets: tuple[int, ...]
    marked: tuple[int, ...]


def mark(medium: Medium, seed: int) -> Marks:
    """Write a pattern at places spread over the drive, make it durable, and see that it is there.

    A place that cannot be written is left unmarked: a drive whose sanitize failed takes no writes, and is to
    be purged all the same.
    """
    unit = unit_of(medium)
    offsets = places(0, medium.size_bytes, unit, seed)
    for at in offsets:
        with suppress(OSError):
            medium.write(at, pattern(seed, at, unit))
    with suppress(OSError):
        medium.flush()
    held = read_all(medium, offsets, unit)
    return Marks(seed, unit, offsets, tuple(at for at in offsets if held[at] == pattern(seed, at, unit)))


def read_back(medium: Medium, marks: Marks) -> Sampling:
    """Read the samples after a purge and sort them by what they hold."""
    unit = marks.sample_bytes
    after = read_all(medium, marks.offsets, unit)
    found = kinds_of({at: pattern(marks.seed, at, unit) for at in marks.offsets}, after)
    survived = sum(after[at] == pattern(marks.seed, at, unit) for at in marks.marked)
    return Sampling(
        samples=len(marks.offsets),
        sample_bytes=unit,
        marked=len(marks.marked),
        survived=survived,
        zero=found.zero,
        ones=found.ones,
        other=found.other + found.unchanged - survived,
        unreadable=found.unreadable,
    )


SCHEMA = "ssdlab.purge/1"
_OPEN = ("running", "left")


@dataclass(frozen=True, slots=True)
class Entry:
    """One purge.

    Attributes
    ----------
    status
        `running`; `left` when the waiting ended before the drive; `done`, `failed`, `turned-down` (the drive
        did not begin), or `superseded` by a later purge.
    drive
        Who it is: `path id model serial firmware capacity_bytes`.
    record, failure
        What came of it.
    """

    status: str
    drive: dict[str, Any]
    method: PurgeMethodName
    consents: tuple[str, ...]
    marks: Marks
    begun: str
    ended: str | None = None
    record: dict[str, Any] | None = None
    failure: dict[str, Any] | None = None


class Ledger:
    """The purges of this user on this host.

    Parameters
    ----------
    folder
        By default `ssdlab/purges` in the XDG state folder.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or state_folder() / "purges"

    def begin(
        self, identity: Identity, method: PurgeMethodName, consents: tuple[str, ...], marks: Marks
    ) -> Page:
        """Record, durably, that a purge is about to begin; earlier ones of the drive are closed.

        Raises
        ------
        HostError
            It could not be written: nothing was begun.
        """
        for page in self.unfinished(identity.consent_id):
            page.put(replace(page.entry, status="superseded", ended=_now()))
        shown = ("path", "model", "serial", "firmware", "capacity_bytes")
        drive = {"id": identity.consent_id, **{name: getattr(identity, name) for name in shown}}
        entry = Entry("running", drive, method, consents, marks, begun=_now())
        name = re.sub(r"[^\w.-]", "_", identity.consent_id)
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        page = Page(self._folder / f"{stamp}-{name}.json", entry)
        with durable.library_errors(page.path):
            HeldFolder(self._folder, make=FOLDER_MODE).close()
            page.put(entry)
        return page

    def unfinished(self, consent_id: str) -> list[Page]:
        """Return the purges of a drive that were begun and of which no end is known, the last one first."""
        found = []
        for path in sorted(self._folder.glob("*.json"), reverse=True):
            entry = _read(path)
            if entry is not None and entry.status in _OPEN and entry.drive.get("id") == consent_id:
                found.append(Page(path, entry))
        return found


class Page:
    """The file of one purge."""

    def __init__(self, path: Path, entry: Entry) -> None:
        self.path = path
        self.entry = entry

    def put(self, entry: Entry) -> None:
        """Write it anew, all of it or nothing."""
        self.entry = entry
        content = {"schema": SCHEMA, **asdict(entry)}
        durable.replace(self.path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    def done(self, record: PurgeRecord) -> None:
        """Record that it was done and proven."""
        self.put(replace(self.entry, status="done", ended=_now(), record=record.as_dict()))

    def failed(self, error: BaseException, status: str, record: PurgeRecord | None = None) -> None:
        """Record how it ended otherwise; the error says where it is recorded."""
        explained: dict[str, Any] = {"what": f"{type(error).__name__}: {error}"}
        if isinstance(error, LabError):
            error.facts["kept"] = str(self.path)
            explained = {name: value for name, value in error.as_dict().items() if name != "exit_status"}
        ended = None if status == "left" else _now()
        kept = None if record is None else record.as_dict()
        self.put(replace(self.entry, status=status, ended=ended, record=kept, failure=explained))


def _read(path: Path) -> Entry | None:
    """Return an entry; None for a file that is not ours, whoever put it there, or of a newer ssdlab."""
    try:
        with HeldFolder(path.parent, writing=True) as folder:
            content = json.loads(folder.read_bytes(path.name, own=True))
        if content.pop("schema") != SCHEMA:
            return None
        marks = content.pop("marks")
        seen = {**marks, **{name: tuple(marks[name]) for name in ("offsets", "marked")}}
        return Entry(**{**content, "consents": tuple(content["consents"]), "marks": Marks(**seen)})
    except (OSError, Refused, ValueError, TypeError, KeyError, AttributeError):
        return None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
