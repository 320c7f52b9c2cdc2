"""Purging a block device that is held: from the target to the `Purging` of it."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.drives.admin.port import AdminPort, KernelPort
from ssdlab.drives.details import read_details
from ssdlab.drives.purge.method import Sibling, Subject
from ssdlab.drives.purge.purging import Purging
from ssdlab.drives.purge.record import PurgeMethodName, PurgeProgress, PurgeRecord
from ssdlab.drives.trim.medium import DeviceMedium
from ssdlab.host.identity import Identity
from ssdlab.host.sysfs import HostFiles

if TYPE_CHECKING:
    import ssdlab._core as _core

_BLKRRPART = 0x125F
"""`_IO(0x12, 95)` of linux/fs.h."""


def read_partitions_again(descriptor: int) -> None:
    """Let the kernel read the partition table of a device that is held, claimed or not.

    What holds no partitions, or has one in use, is left as it is.
    """
    with suppress(OSError):
        fcntl.ioctl(descriptor, _BLKRRPART)


def subject_of(identity: Identity, files: HostFiles, node: Path, port: AdminPort | None = None) -> Subject:
    """Ask a block device what it can do; nothing is changed.

    Parameters
    ----------
    identity, files, node
        Who it is, the host, and its folder in sysfs.
    port
        Where commands are sent; another for tests.
    """
    port = port or KernelPort.of(Path(identity.path), node)
    return Subject(identity, files, node, port, read_details(identity, node, port))


def purge_device(
    target: _core.Target,
    subject: Subject,
    *,
    hold: Callable[[Sibling], AbstractContextManager[object]],
    method: PurgeMethodName | None,
    consents: Collection[str],
    limit_s: float | None,
    on_progress: Callable[[PurgeProgress], object] | None,
) -> PurgeRecord:
    """Purge a block device that is held for writing, with consent; see `Drive.purge`.

    Parameters
    ----------
    target
        Held, and claimed, until it is done.
    subject
        The same device.
    hold
        Claims another namespace, after the guard has found nothing against it.
    method, consents, limit_s, on_progress
        As for `Drive.purge`.
    """
    given = tuple(dict.fromkeys((subject.identity.consent_id, *consents)))
    with DeviceMedium(target) as medium:
        return Purging(subject, medium, given, hold=hold, on_progress=on_progress, limit_s=limit_s).purge(
            method
        )
