"""A whole block device, or a partition, as a drive."""

from __future__ import annotations

from pathlib import Path

from ssdlab.drives.attributes import disk_of
from ssdlab.drives.base import RealDrive
from ssdlab.drives.conditions import Conditions, read_conditions
from ssdlab.drives.counters import IoCounters, read_counters
from ssdlab.drives.guard import Intent, device_facts, judge_device
from ssdlab.drives.identity import block_identity
from ssdlab.drives.sysfs import HostFiles, number, text
from ssdlab.errors import Refused


class BlockDrive(RealDrive):
    """A block device, claimed exclusively while it is held: nothing can mount it or build on it meanwhile.

    Parameters
    ----------
    path
        A path that leads to the device node, links allowed.
    node
        Its folder in sysfs.
    intent
        What is to be done with it.
    files
        The host.

    Raises
    ------
    Refused
        The guard objects; `reason` says why.
    DriveError
        The device cannot be opened.
    """

    def __init__(self, path: Path, node: Path, intent: Intent, files: HostFiles) -> None:
        identity = block_identity(files, node)
        facts = device_facts(files, str(path), node)
        refusal = judge_device(facts, intent)
        if refusal is not None:
            raise refusal.error(str(path))
        from ssdlab import _core

        self._node = node
        self._files = files
        self._device = text(node / "dev")
        super().__init__(identity, _core.Target(path, write=intent.writing, exclusive=True))
        try:
            self._check_same()  # between the look and the claim another drive may have taken the name
        except Refused:
            self.close()
            raise

    def conditions(self) -> Conditions:
        """Read its queue and cache settings."""
        return read_conditions(self._node)

    def counters(self) -> IoCounters | None:
        """Read the kernel's account of the disk (all of it, also for a partition)."""
        return read_counters(self._node)

    def written(self, start: int, length: int) -> bool | None:
        """Return None: a device does not tell which of its blocks were written."""
        del start, length
        return None

    def _check_same(self) -> None:
        """Refuse if the name now belongs to another attachment; the kernel never repeats their number."""
        now = number(disk_of(self._node) / "diskseq")
        device = self._files.number_of(self._target.path)
        if now != self._identity.diskseq or device != self._device:
            raise Refused(
                f"{self._identity.path} is not the drive any more that was checked: it was replaced",
                "look at `ssdlab drives`, and start again with the right one",
                reason="replaced",
                target=self._identity.path,
            )
