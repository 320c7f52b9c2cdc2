"""What runs that died have left set, and putting it back without going on with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.conditions.keeper import put_back
from ssdlab.conditions.ledger import Change, Ended, Ledger, ledgers
from ssdlab.drives.settings.finding import HOST_WIDE, DriveSettings
from ssdlab.drives.settings.governor import Governor
from ssdlab.drives.sysfs import HostFiles
from ssdlab.errors import LabError
from ssdlab.journal import boot_id, is_running

if TYPE_CHECKING:
    from ssdlab.drives.admin.port import AdminPort
    from ssdlab.drives.settings import Setting


@dataclass(frozen=True)
class Settled:
    """What became of one change: how it ended, or why it is still there."""

    change: Change
    ended: Ended | None
    why: str = ""


def left_behind(host: Path | None = None) -> Iterator[Ledger]:
    """Yield the ledgers of runs that no process carries on.

    Raises
    ------
    Refused
        A ledger is damaged.
    """
    for ledger in ledgers(host):
        if not (ledger.folder.is_dir() and is_running(ledger.folder)):
            yield ledger


def settle(
    ledger: Ledger,
    *,
    destroy: str | None = None,
    files: HostFiles | None = None,
    port_of: Callable[[Path], AdminPort] | None = None,
) -> list[Settled]:
    """Put back what a run has left, last change first.

    Parameters
    ----------
    ledger
        Of a run that nobody carries on.
    destroy
        Consent to formatting a drive back; without, its format stays.
    files, port_of
        The host, and the way to a drive; others for tests.
    """
    from ssdlab.drives.admin.port import KernelPort

    files = files or HostFiles()
    settled = []
    for change in reversed(ledger.outstanding):
        try:
            ended = _settle(change, destroy, files, port_of or KernelPort)
            ledger.end(change, ended)
            settled.append(Settled(change, ended))
        except LabError as error:
            settled.append(Settled(change, None, error.what))
        except _Stays as reason:
            settled.append(Settled(change, None, str(reason)))
    return settled


class _Stays(Exception):
    """A change that is left as it is, for a reason."""


def _settle(
    change: Change, destroy: str | None, files: HostFiles, port_of: Callable[[Path], AdminPort]
) -> Ended:
    # What the kernel keeps is new with each boot, and is nobody's leftover then.
    if change.boot_id != boot_id() and not change.lasting:
        return "gone"
    if change.name in HOST_WIDE:
        return put_back(Governor(files), change)
    if change.destroys:
        return _format_back(change, destroy)
    setting = _setting(change, files, port_of)
    if setting is None:
        if change.lasting:
            raise _Stays(f"no drive {change.drive} is here")
        return "gone"
    return put_back(setting, change)


def _setting(change: Change, files: HostFiles, port_of: Callable[[Path], AdminPort]) -> Setting | None:
    """Find the drive by its identifier, wherever it is now, and its setting."""
    from ssdlab.drives import list_drives
    from ssdlab.drives.identity import block_identity

    here = [look.identity for look in list_drives(files) if look.identity is not None]
    part = None if change.device is None else files.node_named(change.device)
    if part is not None and (part / "partition").exists():
        here.append(block_identity(files, part))
    identity = next((each for each in here if each.consent_id == change.drive), None)
    node = None if identity is None else files.node_named(identity.name)
    if identity is None or node is None:
        return None
    return DriveSettings(identity, node, port_of(Path(identity.path)), files).find(change.name)


def _format_back(change: Change, destroy: str | None) -> Ended:
    """Format a namespace back, past the guard as any write."""
    from ssdlab.drives import list_drives, open_drive

    if destroy is None:
        raise _Stays(f"putting it back formats the drive: add --destroy {change.drive} to lose its data")
    here = [look.identity for look in list_drives() if look.identity is not None]
    identity = next((each for each in here if each.consent_id == change.drive), None)
    if identity is None:
        raise _Stays(f"no drive {change.drive} is here")
    with open_drive(identity.path, writing=True, destroy=destroy) as drive:
        return put_back(drive.setting(change.name), change)
