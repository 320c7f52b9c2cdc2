"""The ledger of a run: its changes to settings of drive and host, recorded so that a kill cannot lose them.

Each change is recorded on disk twice before it is made. The run folder's copy is for `resume`. The copy in
the host's state folder (`ssdlab/conditions` of ``XDG_STATE_HOME``) is for other commands; it is removed when
all settings are restored.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

from pydantic import Field

from ssdlab.host.durable import library_errors, replace
from ssdlab.host.held_folder import FOLDER_MODE, HeldFolder
from ssdlab.host.user_folders import conditions_folder, ledger_paths
from ssdlab.model.errors import Refused
from ssdlab.model.frozen import Stored
from ssdlab.results.journal import boot_id, now
from ssdlab.results.run_folder import CONDITIONS, CONDITIONS_SCHEMA
from ssdlab.results.seal import read_document, seal_document

LEDGER = CONDITIONS
"""File name of the ledger in a run folder."""
_UNSEALED = "ssdlab.conditions/1"

Ended = Literal["put back", "already back", "changed since", "gone", "kept", "not of here"]


class Change(Stored):
    """One setting that was changed, or was about to be changed when the run died."""

    name: str = Field(description="as in `lab.conditions`")
    drive: str | None = Field(description="identifier of the drive; None for a setting of the host")
    device: str | None = Field(description="kernel name of the drive then")
    before: str
    after: str = Field(description="requested value")
    found: str | None = Field(
        default=None,
        description="value read back after setting (the kernel rounds); None: the run died before",
    )
    lasting: bool = Field(description="whether it persists over a reboot")
    destroys: bool = Field(description="whether changing it loses the drive's data")
    follows: str | None = Field(default=None, description="setting that also changes this one")
    boot_id: str
    at: str
    ended: Ended | None = Field(default=None, description="outcome; None: still to be restored")
    ended_at: str | None = None

    @property
    def made(self) -> str:
        """The last known value set by the run: as read back, else as requested."""
        return self.after if self.found is None else self.found

    @property
    def key(self) -> tuple[str, ...]:
        """What identifies the change: the fields that stay the same in all its records."""
        return self.name, self.drive or "", self.before, self.boot_id

    @property
    def words(self) -> str:
        whose, name = self.device or "the host", self.name.replace("_", " ")
        return f"{name} of {whose}: {self.made}, was {self.before}"

    def stands(self, now: str) -> bool:
        """Whether the present reading `now` still shows the run's change.

        For an interrupted change, or a setting that follows another, any value but the earlier one counts.
        """
        if self.found is None or self.follows is not None:
            return now != self.before
        return now == self.found


class LedgerContent(Stored):
    """Content of a ledger file."""

    schema_version: str = Field(default=CONDITIONS_SCHEMA, alias="schema")
    run: str
    folder: str
    changes: tuple[Change, ...] = ()


class Ledger:
    """The ledger of one run.

    Parameters
    ----------
    folder
        The run folder, with the records of earlier sessions.
    host
        Folder for the host's copy; by default the host's state folder.

    Raises
    ------
    Refused
        The ledger is damaged, or was written by a newer ssdlab.
    """

    def __init__(self, folder: Path | HeldFolder, host: Path | None = None) -> None:
        self._run = folder
        path = folder if isinstance(folder, Path) else folder.path
        self._copy = (host or conditions_folder()) / f"{path.name}.json"
        self._content = LedgerContent(run=path.name, folder=str(path.absolute()))
        with suppress(FileNotFoundError):
            self._content = self._of_this_host(read_ledger(path / LEDGER))

    def _of_this_host(self, kept: LedgerContent) -> LedgerContent:
        """Close changes without a record on this host: a folder from another host must set nothing here."""
        known: set[tuple[str, ...]] = set()
        with suppress(FileNotFoundError):
            known = {each.key for each in read_ledger(self._copy).changes}
        changes = tuple(
            each
            if each.ended is not None or each.key in known
            else each.model_copy(update={"ended": "not of here"})
            for each in kept.changes
        )
        return kept.model_copy(update={"changes": changes})

    @classmethod
    def of_host(cls, copy: Path) -> Ledger:
        """Return the ledger of a file in the host's folder, even if the run folder is gone."""
        content = read_ledger(copy)
        made = cls.__new__(cls)
        made._run, made._copy, made._content = Path(content.folder), copy, content
        return made

    @property
    def run(self) -> str:
        return self._content.run

    @property
    def folder(self) -> Path:
        return Path(self._content.folder)

    def is_called(self, name: str) -> bool:
        """Whether a name means this run: its folder, or the start of its id or of the id's last letters."""
        short = self.run.rpartition("-")[2]
        return bool(name) and (
            self.run.startswith(name) or short.startswith(name) or str(self.folder) == name
        )

    @property
    def changes(self) -> tuple[Change, ...]:
        return self._content.changes

    @property
    def outstanding(self) -> tuple[Change, ...]:
        return tuple(change for change in self._content.changes if change.ended is None)

    def find(self, name: str) -> Change | None:
        """Return the outstanding change of a setting; None if there is none."""
        return next((change for change in self.outstanding if change.name == name), None)

    def note(self, change: Change) -> None:
        """Record, durably, that a setting is about to change.

        A repeated change keeps the first value, which is the one to restore.
        """
        first = self.find(change.name)
        if first is None:
            self._put((*self.changes, change))
            return
        change = change.model_copy(update={"before": first.before, "follows": first.follows})
        self._put(tuple(change if each is first else each for each in self.changes))

    def read_back(self, change: Change, found: str) -> None:
        """Record, durably, the value that was read back after a change."""
        known = change.model_copy(update={"found": found})
        self._put(tuple(known if each is change else each for each in self.changes))

    def follow(self, change: Change, leader: str) -> None:
        """Record, durably, that a setting will change along with another."""
        follower = change.model_copy(update={"follows": leader})
        self._put(tuple(follower if each is change else each for each in self.changes))

    def end(self, change: Change, how: Ended) -> None:
        ended = change.model_copy(update={"ended": how, "ended_at": now()})
        self._put(tuple(ended if each is change else each for each in self.changes))

    def _put(self, changes: tuple[Change, ...]) -> None:
        self._content = self._content.model_copy(update={"changes": changes})
        self._content = self._content.model_copy(update={"schema_version": CONDITIONS_SCHEMA})
        text = seal_document(self._content.model_dump_json(by_alias=True, indent=1))
        if isinstance(self._run, HeldFolder):
            with library_errors(self._run.path / LEDGER):
                self._run.replace(LEDGER, text)
        elif (self._run / LEDGER).exists():
            replace(self._run / LEDGER, text)
        with library_errors(self._copy):
            HeldFolder(self._copy.parent, make=FOLDER_MODE).close()
        if self.outstanding:
            replace(self._copy, text)
        else:
            self._copy.unlink(missing_ok=True)


def change_of(
    name: str,
    drive: str | None,
    device: str | None,
    *,
    before: str,
    after: str,
    lasting: bool,
    destroys: bool,
    follows: str | None = None,
) -> Change:
    """Return the record of a change about to be made, with time and boot id."""
    return Change(
        name=name,
        drive=drive,
        device=device,
        before=before,
        after=after,
        lasting=lasting,
        destroys=destroys,
        follows=follows,
        boot_id=boot_id(),
        at=now(),
    )


def read_ledger(path: Path) -> LedgerContent:
    """Read a ledger file.

    Raises
    ------
    FileNotFoundError
        There is none.
    Refused
        It is damaged, or was written by a newer ssdlab.
    """
    try:
        with HeldFolder(path.parent) as folder:
            stored, _ = read_document(folder.read_bytes(path.name), CONDITIONS_SCHEMA)
        content = LedgerContent.model_validate(stored)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise Refused(
            f"{path} cannot be read: the changes of a run on this host are unknown",
            "check it, set the drive as it should be (ssdlab conditions show DRIVE), then remove the file",
            path=str(path),
        ) from error
    if content.schema_version not in (_UNSEALED, CONDITIONS_SCHEMA):
        raise Refused(
            f"{path} was written by another ssdlab version ({content.schema_version})",
            "restore the settings with the ssdlab that made the run",
            path=str(path),
        )
    return content


def ledgers(host: Path | None = None) -> Iterator[Ledger]:
    """Yield the ledgers of runs with something to restore, running or not.

    Raises
    ------
    Refused
        A ledger is damaged. This is raised after all others were yielded.
    """
    damaged: Refused | None = None
    for path in ledger_paths(host):
        try:
            yield Ledger.of_host(path)
        except FileNotFoundError:
            continue
        except Refused as error:
            damaged = damaged or error
    if damaged is not None:
        raise damaged
