"""The durable record of a run's steps.

The journal is an append-only file of JSON lines. Each record is on the disk (fsync) before anything relies on
it: `begin` before a step touches the drive, `end` after the step's log is durable. A kill can leave a torn
last line; opening the journal cuts it off.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import HeldFolder, hold
from ssdlab.model.closing import Closing
from ssdlab.model.errors import Refused
from ssdlab.results.lines import parse_journal
from ssdlab.results.records import BeginRecord, EndRecord, OpenRecord, PartRecord, StepResult, VoidRecord
from ssdlab.results.run_folder import JOURNAL, step_logs

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import JsonValue

    from ssdlab.results.records import AnyRecord

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def now() -> str:
    """Return the present time as records store it: ISO 8601, UTC, in milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def boot_id() -> str:
    """Return the kernel's id of this boot; empty if there is none."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def step_hash(verb: str, args: dict[str, JsonValue]) -> str:
    """Return a hash of a step's verb and arguments; the order of arguments does not matter."""
    canonical = json.dumps([verb, args], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


@dataclass
class StepHistory:
    """The journal's records of one step, by its ordinal."""

    begins: list[BeginRecord] = field(default_factory=list)
    ended: EndRecord | None = None
    place: int = 0
    """Position of `ended` in the journal, as in `Step.place`."""
    voided: set[int] = field(default_factory=set)
    parts: list[PartRecord] = field(default_factory=list)
    boots: dict[int, str] = field(default_factory=dict)
    """Boot id of the host at the start of each attempt, by attempt."""

    @property
    def open_attempt(self) -> BeginRecord | None:
        """The interrupted attempt: started, but not ended, voided or continued by another."""
        if not self.begins:
            return None
        last = self.begins[-1]
        parted = any(part.attempt == last.attempt for part in self.parts)
        closed = last.attempt in self.voided or parted or self.ended is not None
        return None if closed else last

    @property
    def standing_parts(self) -> list[PartRecord]:
        """The interrupted parts that the next attempt continues, in order."""
        return [part for part in self.parts if part.attempt not in self.voided]

    @property
    def next_attempt(self) -> int:
        return self.begins[-1].attempt + 1 if self.begins else 1


class Journal(Closing):
    """The journal of one run, open for appending.

    Parameters
    ----------
    folder
        The run folder; the caller holds its `RunLock`.
    run_id
        The run's id, which the first seal covers.
    check
        Called before each record; it raises if the run is no longer ours. See `results.lease`.
    anew
        Whether to continue in a copy of the file, as an earlier writer may still have it open.

    Raises
    ------
    Refused
        The journal is damaged or lost, or a newer ssdlab wrote it.
    HostError
        The file system of the journal is full or fails.
    """

    def __init__(
        self,
        folder: Path | HeldFolder,
        run_id: str = "",
        *,
        check: Callable[[], object] | None = None,
        anew: bool = False,
    ) -> None:
        held = hold(folder, writing=True)
        self.path = held.path / JOURNAL
        self._run_id, self._check = run_id, check
        self.steps: dict[int, StepHistory] = {}
        self._records = 0
        self.boot = ""
        self.sessions = 0
        """How often it was opened, including now."""
        with library_errors(self.path):
            if anew and held.exists(JOURNAL):
                held.replace(JOURNAL, held.read_bytes(JOURNAL))
            self._descriptor = held.append_to(JOURNAL)
            records = self._recover(held)
            held.sync()
        for record in records:
            self._note(record)
        self._append(OpenRecord(at=now(), boot_id=boot_id()))

    def _recover(self, folder: HeldFolder) -> list[AnyRecord]:
        found = parse_journal(folder.read_bytes(JOURNAL), self.path, self._run_id)
        self._chain = found.chain
        if not found.records and step_logs(folder):
            raise Refused(
                f"{self.path} is missing, but the run has step logs: which steps were finished is unknown",
                "restore it from a copy, or start a new run",
                path=str(self.path),
            )
        if found.torn_bytes:
            os.ftruncate(self._descriptor, found.good_bytes)
            os.fsync(self._descriptor)
        return found.records

    def history(self, ordinal: int) -> StepHistory:
        """Return the records of the step with that ordinal; empty if it never started."""
        return self.steps.get(ordinal, StepHistory())

    def begin(self, record: BeginRecord) -> None:
        """Record durably that a step is about to start."""
        self._append(record)

    def end(
        self, ordinal: int, attempt: int, result: StepResult, drive_state: str | None = None
    ) -> EndRecord:
        """Record durably that a step is finished, with the resulting state of a simulated drive."""
        record = EndRecord(ordinal=ordinal, attempt=attempt, result=result, drive_state=drive_state, at=now())
        self._append(record)
        return record

    def void(self, ordinal: int, attempt: int, why: str) -> None:
        """Record durably that an attempt does not count."""
        self._append(VoidRecord(ordinal=ordinal, attempt=attempt, why=why, at=now()))

    def part(self, ordinal: int, attempt: int, done: dict[str, int]) -> None:
        """Record durably the progress of an attempt that a later one continues."""
        self._append(PartRecord(ordinal=ordinal, attempt=attempt, done=done, at=now()))

    def close(self) -> None:
        os.close(self._descriptor)

    def _append(self, record: AnyRecord) -> None:
        if self._check is not None:
            self._check()
        chain = self._chain.copy()
        line = chain.write(record.model_dump_json(by_alias=True))
        with library_errors(self.path):
            end = os.fstat(self._descriptor).st_size
            try:
                written = 0
                while written < len(line):
                    written += os.write(self._descriptor, line[written:])
                os.fsync(self._descriptor)
            except OSError:
                os.ftruncate(self._descriptor, end)
                raise
        self._chain = chain
        self._note(record)

    def _note(self, record: AnyRecord) -> None:
        place, self._records = self._records, self._records + 1
        if isinstance(record, OpenRecord):
            self.boot = record.boot_id
            self.sessions += 1
            return
        history = self.steps.setdefault(record.ordinal, StepHistory())
        if isinstance(record, BeginRecord):
            history.begins.append(record)
            history.boots[record.attempt] = self.boot
        elif isinstance(record, EndRecord):
            history.ended, history.place = record, place
        elif isinstance(record, PartRecord):
            history.parts.append(record)
        else:
            history.voided.add(record.attempt)
            if history.ended is not None and history.ended.attempt == record.attempt:
                history.ended = None
