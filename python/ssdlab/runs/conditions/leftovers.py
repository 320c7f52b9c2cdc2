"""Finds and restores settings that killed runs left changed, without resuming those runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.drives import list_drives, open_drive
from ssdlab.drives.admin.port import KernelPort
from ssdlab.drives.settings.finding import HOST_WIDE, DriveSettings
from ssdlab.drives.settings.queue import Governor
from ssdlab.host.attributes import disk_of
from ssdlab.host.consent import consent_ids
from ssdlab.host.identity import block_identity
from ssdlab.host.sysfs import HostFiles
from ssdlab.model.errors import LabError, Refused
from ssdlab.results.journal import boot_id
from ssdlab.runs.conditions.keeper import put_back
from ssdlab.runs.conditions.ledger import Change, Ended, Ledger, ledgers

if TYPE_CHECKING:
    from ssdlab.drives.admin.port import AdminPort
    from ssdlab.drives.settings import Setting

PortOf = Callable[[Path, Path], "AdminPort"]


@dataclass(frozen=True)
class Settled:
    """The outcome of one change; None with the reason if the change remains."""

    change: Change
    ended: Ended | None
    why: str = ""


@dataclass(frozen=True)
class Leftover:
    """A setting that still has the value of a killed run.

    Attributes
    ----------
    ledger
        Ledger of the run.
    now
        The present reading; None if unreadable.
    """

    ledger: Ledger
    change: Change
    now: str | None

    @property
    def what(self) -> str:
        change = self.change if self.now is None else self.change.model_copy(update={"found": self.now})
        return f"a crashed run left the {change.words}"

    @property
    def restore(self) -> str:
        """The command that restores the setting."""
        from ssdlab.results.store import short_id

        consent = f" --destroy {self.change.drive}" if self.change.destroys else ""
        return f"ssdlab conditions restore {short_id(self.ledger.run)}{consent}"

    @property
    def advice(self) -> str:
        from ssdlab.results.store import run_words

        return f"restore it with {self.restore}, or continue: ssdlab resume {run_words(self.ledger.folder)}"

    def as_dict(self) -> dict[str, Any]:
        change = self.change
        return {
            "run": self.ledger.run,
            "setting": change.name,
            "drive": change.drive,
            "device": change.device,
            "before": change.before,
            "now": self.now,
            "what": self.what,
            "advice": self.advice,
            "restore": self.restore,
        }


def left_behind(host: Path | None = None) -> Iterator[Ledger]:
    """Yield the ledgers of runs that no process is working on.

    Raises
    ------
    Refused
        A ledger is damaged. This is raised after all intact ledgers were yielded.
    """
    for ledger in ledgers(host):
        if not _goes_on(ledger.folder):
            yield ledger


def _goes_on(folder: Path) -> bool:
    from ssdlab.results.lease import is_running  # imported late: most hosts have no ledgers

    try:
        return is_running(folder)
    except OSError:  # the folder is gone or unreadable for this user, so the run is taken as not running
        return False


def leftovers(
    device: str | None = None, *, files: HostFiles | None = None, port_of: PortOf | None = None
) -> tuple[list[Leftover], Refused | None]:
    """Return the settings left by crashed runs, and the error of a damaged ledger, if any.

    Parameters
    ----------
    device
        Kernel name of a disk, to which its partitions belong; None for all disks here.
    files, port_of
        Access to the host and to a drive; replaced in tests.
    """
    files, port_of = files or HostFiles(), port_of or KernelPort.of
    found: list[Leftover] = []
    here: Mapping[str, Path] | None = None
    try:
        for ledger in left_behind():
            here = consent_ids(files) if here is None else here
            for change in ledger.outstanding:
                if device is not None and not _concerns(change, device, here):
                    continue
                now = _now(change, here, files, port_of)
                if now is None or change.stands(now):
                    found.append(Leftover(ledger, change, now))
    except Refused as error:
        return found, error
    return found, None


def describe_leftovers(left: Sequence[Leftover], damaged: Refused | None) -> tuple[tuple[str, str], ...]:
    """Return the result of `leftovers` in words: ``(what, advice)`` each."""
    found = [(each.what, each.advice) for each in left]
    return tuple(found if damaged is None else [*found, (damaged.what, damaged.advice)])


def settle(
    ledger: Ledger,
    *,
    destroy: str | None = None,
    files: HostFiles | None = None,
    port_of: PortOf | None = None,
) -> list[Settled]:
    """Restore what a run has left, last change first.

    Parameters
    ----------
    ledger
        Ledger of a run that is not running.
    destroy
        Identifier of the drive, as consent to formatting it back; without it, the format is kept.
    files, port_of
        Access to the host and to a drive; replaced in tests.
    """
    files = files or HostFiles()
    settled = []
    for change in reversed(ledger.outstanding):
        try:
            ended = _settle(change, destroy, files, port_of or KernelPort.of)
            ledger.end(change, ended)
            settled.append(Settled(change, ended))
        except LabError as error:
            settled.append(Settled(change, None, error.what))
        except _Stays as reason:
            settled.append(Settled(change, None, str(reason)))
    return settled


class _Stays(Exception):
    """A change cannot be restored; the message says why."""


def _settle(change: Change, destroy: str | None, files: HostFiles, port_of: PortOf) -> Ended:
    # Settings that the kernel keeps are reset at each boot.
    if change.boot_id != boot_id() and not change.lasting:
        return "gone"
    if change.destroys:
        return _format_back(change, destroy)
    setting = _setting(change, consent_ids(files), files, port_of)
    if setting is None:
        if change.lasting:
            raise _Stays(f"drive {change.drive} is not attached")
        return "gone"
    return put_back(setting, change)


def _now(change: Change, here: Mapping[str, Path], files: HostFiles, port_of: PortOf) -> str | None:
    """Return a setting's reading; the earlier value if a reboot or the drive's removal reset it."""
    if change.boot_id != boot_id() and not change.lasting:
        return change.before
    try:
        setting = _setting(change, here, files, port_of)
        if setting is None:
            return None if change.lasting else change.before
        return setting.read()
    except LabError:
        return None


def _setting(change: Change, here: Mapping[str, Path], files: HostFiles, port_of: PortOf) -> Setting | None:
    """Return the setting on its drive, found by identifier wherever it is attached; None if it is absent."""
    if change.name in HOST_WIDE:
        return Governor(files)
    node = here.get(change.drive or "")
    if node is None:
        return None
    identity = block_identity(files, node)
    return DriveSettings(identity, node, port_of(Path(identity.path), node), files).find(change.name)


def _concerns(change: Change, device: str, here: Mapping[str, Path]) -> bool:
    """Whether a change is of the host or of the disk `device`; partitions share their disk's settings."""
    node = here.get(change.drive or "")
    return change.name in HOST_WIDE or (node is not None and _kernel_name(disk_of(node)) == device)


def _kernel_name(node: Path) -> str:
    return node.name.replace("!", "/")


def _format_back(change: Change, destroy: str | None) -> Ended:
    """Format a namespace back; the guard checks this as any write."""
    if destroy is None:
        raise _Stays(
            f"restoring it formats the drive and erases all data: to consent, add --destroy {change.drive}"
        )
    here = [look.identity for look in list_drives() if look.identity is not None]
    identity = next((each for each in here if each.consent_id == change.drive), None)
    if identity is None:
        raise _Stays(f"drive {change.drive} is not attached")
    with open_drive(identity.path, writing=True, destroy=destroy) as drive:
        return put_back(drive.setting(change.name), change)
