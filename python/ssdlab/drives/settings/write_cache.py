"""The volatile write cache: read from the drive, and set in the drive.

`queue/write_cache` in sysfs is only what the kernel believes. The NVMe driver reads at start whether there is
a cache, but never again whether it is on. For a SATA drive, libata reads this again a moment after the
command. If kernel and drive differ permanently, `remark` says so.

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
    """Access to the write cache of one kind of drive."""

    follows_s: ClassVar[float]
    """Seconds until the kernel notices a change; 0 if it never does."""

    def present(self) -> bool:
        """Return whether the drive has a volatile cache at all."""

    def enabled(self) -> bool: ...

    def enable(self, *, on: bool) -> None:
        """Switch the cache on or off; raises `DriveError` if the drive refuses."""


def check_wanted(wanted: str) -> None:
    if wanted not in _BELIEF:
        raise UsageError(f"write cache is {wanted!r}, not on or off", "give on or off", setting=NAME)


@dataclass(frozen=True, slots=True)
class WriteCache:
    """The write cache of one drive, `on` or `off`; always `off` without a cache."""

    control: CacheControl
    disk: Path
    name: str = NAME
    lasting: bool = True  # a SATA drive keeps it over a reboot without a power cycle
    destroys: bool = False

    def read(self) -> str:
        return "on" if self.control.present() and self.control.enabled() else "off"

    def meant(self, wanted: str) -> str:
        """Check that the value is `on` or `off`, and that `on` is possible: the drive must have a cache."""
        check_wanted(wanted)
        if wanted == "on" and not self.control.present():
            raise no_such(NAME, self.disk.name, "it has no volatile write cache", "leave it out")
        return wanted

    def write(self, value: str) -> None:
        if self.control.present():
            self.control.enable(on=value == "on")

    def remark(self) -> str | None:
        """Return in words where the kernel's belief differs from the drive, and the consequence."""
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
    """Write cache control by feature 06h."""

    follows_s: ClassVar[float] = 0.0

    port: AdminPort
    target: str

    def present(self) -> bool:
        """Read the VWC bit of Identify Controller."""
        return setting.controller(self.port, NAME, self.target).write_cache

    def enabled(self) -> bool:
        reply = self.port.nvme(nvme.GET_FEATURES, cdw=(nvme.FEATURE_WRITE_CACHE,))
        if reply.status:
            raise _unread(self.target, nvme.status_text(reply.status))
        return bool(reply.result & 1)

    def enable(self, *, on: bool) -> None:
        """Set the feature until the next reset of the controller; the drive does not save it."""
        reply = self.port.nvme(nvme.SET_FEATURES, cdw=(nvme.FEATURE_WRITE_CACHE, int(on)))
        if reply.status:
            raise refused_by_drive(NAME, self.target, nvme.status_text(reply.status))


@dataclass(frozen=True, slots=True)
class AtaCache:
    """Write cache control by SET FEATURES, through ATA PASS-THROUGH."""

    follows_s: ClassVar[float] = 1.0

    port: AdminPort
    target: str

    def present(self) -> bool:
        return self._identify().write_cache

    def enabled(self) -> bool:
        return self._identify().write_cache_enabled

    def enable(self, *, on: bool) -> None:
        """Switch the cache; the drive flushes it by itself before it switches it off."""
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
    """Write cache control by the WCE bit of the Caching mode page."""

    follows_s: ClassVar[float] = 0.0

    port: AdminPort
    target: str

    def present(self) -> bool:
        """Return True: a device with the page has the bit, even if the bit cannot be changed."""
        return True

    def enabled(self) -> bool:
        return self._page().write_cache

    def enable(self, *, on: bool) -> None:
        """Send the page back with only this bit changed."""
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
