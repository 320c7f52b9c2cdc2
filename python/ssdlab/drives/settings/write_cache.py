"""The volatile write cache: asked of the drive, and set in the drive.

What `queue/write_cache` says is only what the kernel believes: the NVMe driver reads at start whether there
is a cache, and never again whether it is on; of a SATA drive libata asks again after the command, a moment
later. Where the two differ for good, `remark` says so.

Sources: NVMe Base 2.0c 5.27.1.4 (feature 06h), ACS-5 7.13 and 7.46 (IDENTIFY DEVICE words 82 and 85, SET
FEATURES 02h and 82h), SBC-4 6.5.6 (Caching mode page 08h), SPC-6 6.13, 6.15 (MODE SELECT, MODE SENSE).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from ssdlab.drives.admin import ata, nvme, scsi
from ssdlab.drives.admin.fields import Malformed
from ssdlab.drives.admin.port import AdminPort
from ssdlab.drives.settings import setting
from ssdlab.drives.settings.setting import no_such, refused_by_drive
from ssdlab.host.sysfs import text
from ssdlab.model.errors import DriveError, UsageError

NAME = "write_cache"
_BELIEF = {"on": "write back", "off": "write through"}
_LOOK_S = 0.02


class CacheControl(Protocol):
    """How one kind of drive is read and set."""

    follows_s: ClassVar[float]
    """How long the kernel may take to learn of a change; 0 where it never does."""

    def present(self) -> bool:
        """Whether the drive has a volatile cache at all."""

    def enabled(self) -> bool:
        """Whether it is on."""

    def enable(self, *, on: bool) -> None:
        """Switch it; `DriveError` if the drive refuses."""


def check_wanted(wanted: str) -> None:
    """Raise `UsageError` unless it is `on` or `off`."""
    if wanted not in _BELIEF:
        raise UsageError(f"write cache is {wanted!r}, not on or off", "give on or off", setting=NAME)


@dataclass(frozen=True, slots=True)
class WriteCache:
    """The cache of one drive, `on` or `off`; a drive without one has it off for good."""

    control: CacheControl
    disk: Path
    name: str = NAME
    lasting: bool = True  # a SATA drive keeps it over a reboot that does not take its power
    destroys: bool = False

    def read(self) -> str:
        """Ask the drive."""
        return "on" if self.control.present() and self.control.enabled() else "off"

    def meant(self, wanted: str) -> str:
        """Check that it is `on` or `off`, and that there is a cache to be on."""
        check_wanted(wanted)
        if wanted == "on" and not self.control.present():
            raise no_such(NAME, self.disk.name, "it has no volatile write cache", "leave it out")
        return wanted

    def write(self, value: str) -> None:
        """Tell the drive."""
        if self.control.present():
            self.control.enable(on=value == "on")

    def remark(self) -> str | None:
        """Say where the kernel believes otherwise, and what follows from it."""
        state = self.read()
        deadline = time.monotonic() + self.control.follows_s
        while (believed := self._believed()) != _BELIEF[state] and time.monotonic() < deadline:
            time.sleep(_LOOK_S)
        if believed == "write back" and state == "off":
            return "the kernel still takes it as on, and keeps sending flushes, which do nothing"
        if believed == "write through" and state == "on":
            return "the kernel takes it as off and sends no flushes: written data may not be durable"
        return None

    def _believed(self) -> str | None:
        return text(self.disk / "queue" / "write_cache")


@dataclass(frozen=True, slots=True)
class NvmeCache:
    """By feature 06h."""

    follows_s: ClassVar[float] = 0.0

    port: AdminPort
    target: str

    def present(self) -> bool:
        """Read the VWC bit of Identify Controller."""
        return setting.controller(self.port, NAME, self.target).write_cache

    def enabled(self) -> bool:
        """Get the feature."""
        reply = self.port.nvme(nvme.GET_FEATURES, cdw=(nvme.FEATURE_WRITE_CACHE,))
        if reply.status:
            raise _unread(self.target, nvme.status_text(reply.status))
        return bool(reply.result & 1)

    def enable(self, *, on: bool) -> None:
        """Set the feature until the next reset of the controller; nothing is saved in the drive."""
        reply = self.port.nvme(nvme.SET_FEATURES, cdw=(nvme.FEATURE_WRITE_CACHE, int(on)))
        if reply.status:
            raise refused_by_drive(NAME, self.target, nvme.status_text(reply.status))


@dataclass(frozen=True, slots=True)
class AtaCache:
    """By SET FEATURES, through ATA PASS-THROUGH."""

    follows_s: ClassVar[float] = 1.0

    port: AdminPort
    target: str

    def present(self) -> bool:
        """Read word 82."""
        return self._identify().write_cache

    def enabled(self) -> bool:
        """Read word 85."""
        return self._identify().write_cache_enabled

    def enable(self, *, on: bool) -> None:
        """Send the command; the drive flushes by itself before it switches its cache off."""
        reply = self.port.scsi(ata.write_cache_cdb(enabled=on))
        if reply.status or reply.transport:
            raise refused_by_drive(NAME, self.target, "the command was aborted")

    def _identify(self) -> ata.AtaDevice:
        reply = self.port.scsi(ata.identify_cdb(), read_bytes=ata.PAGE_BYTES)
        if reply.status or reply.transport:
            raise _unread(self.target, "the drive refused IDENTIFY DEVICE")
        try:
            return ata.device(reply.data)
        except Malformed as error:
            raise _unread(self.target, str(error)) from error


@dataclass(frozen=True, slots=True)
class ScsiCache:
    """By the WCE bit of the Caching mode page."""

    follows_s: ClassVar[float] = 0.0

    port: AdminPort
    target: str

    def present(self) -> bool:
        """Say yes: a device with the page has the bit, whether it can be changed or not."""
        return True

    def enabled(self) -> bool:
        """Read the page."""
        return self._page().write_cache

    def enable(self, *, on: bool) -> None:
        """Send the page back with the bit changed, and nothing else."""
        parameters = self._page().with_write_cache(on=on)
        reply = self.port.scsi(scsi.mode_select_cdb(len(parameters)), data=parameters)
        if reply.status or reply.transport:
            raise refused_by_drive(NAME, self.target, "that mode page cannot be changed")

    def _page(self) -> scsi.CachingPage:
        reply = self.port.scsi(scsi.caching_page_cdb(), read_bytes=scsi.MODE_BYTES)
        if reply.status or reply.transport:
            raise no_such(NAME, self.target, "it has no Caching mode page", "leave it out")
        try:
            return scsi.caching_page(reply.data)
        except Malformed as error:
            raise _unread(self.target, str(error)) from error


def _unread(target: str, why: str) -> DriveError:
    return DriveError(
        f"the state of the write cache of {target} could not be read: {why}",
        "leave the setting out, and note it with the result",
        reason="unanswered",
        setting=NAME,
        target=target,
    )
