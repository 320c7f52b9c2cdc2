"""The LBA format of an NVMe namespace, its block size; a change formats the namespace and loses all data.

Sources: NVM Command Set 1.0c figure 97 (Identify Namespace), NVMe Base 2.0c 5.14 (Format NVM), figure 275
(FNA).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ssdlab.drives.admin import nvme
from ssdlab.drives.admin.fields import plausible
from ssdlab.drives.admin.port import AdminPort
from ssdlab.drives.settings import setting
from ssdlab.drives.settings.setting import no_such, refused_by_drive
from ssdlab.host.identity import Identity
from ssdlab.host.sysfs import number
from ssdlab.model.errors import DriveError, HostError, Refused
from ssdlab.model.units import parse_bytes

NAME = "lba_format"
_FORMAT_LIMIT_S = 600.0
"""Without secure erase a format takes seconds, but some drives erase anyway."""
_KERNEL_LIMIT_S = 10.0


@dataclass(frozen=True, slots=True)
class LbaFormat:
    """Data bytes of a block, `512` or `4096`; `4096+8` has 8 bytes of metadata, and cannot be set."""

    port: AdminPort
    disk: Path
    nsid: int
    siblings: tuple[str, ...]
    before: Callable[[], None]
    after: Callable[[], None]
    name: str = NAME
    lasting: bool = True
    destroys: bool = True

    def read(self) -> str:
        space = self._namespace()
        used = next((form for form in space.formats if form.index == space.format), None)
        return f"format {space.format}" if used is None else _text(used)

    def meant(self, wanted: str) -> str:
        """Return the bytes of a text such as `4k`; the namespace must have them without metadata."""
        data_bytes = parse_bytes(wanted)
        formats = self._namespace().formats
        if _best(formats, data_bytes) is None:
            known = ", ".join(dict.fromkeys(_text(form) for form in formats if not form.metadata_bytes))
            why = f"it has no format of {data_bytes} bytes without metadata"
            raise no_such(NAME, self.disk.name, why, f"it has {known}")
        return str(data_bytes)

    def write(self, value: str) -> None:
        """Format the namespace and wait until the kernel sees it; `before` is called first and may refuse."""
        chosen = _best(self._namespace().formats, int(value)) if value.isdecimal() else None
        if chosen is None:
            raise no_such(
                NAME, self.disk.name, f"{value} is not a format that ssdlab sets", "use nvme format"
            )
        self._check_alone()
        self.before()
        # Base figure 189: the index is in bits 3:0 and 13:12 (upper part); no secure erase, no metadata.
        word = chosen.index & 0xF | chosen.index >> 4 << 12
        reply = self.port.nvme(nvme.FORMAT, nsid=self.nsid, cdw=(word,), limit_s=_FORMAT_LIMIT_S)
        if reply.status:
            raise refused_by_drive(NAME, self.disk.name, nvme.status_text(reply.status))
        self._await_kernel(chosen.data_bytes)
        self.after()

    def remark(self) -> str | None:
        """Return in words that the kernel still uses another block size; None if it does not."""
        believed = number(self.disk / "queue" / "logical_block_size")
        state = self.read().partition("+")[0]
        if believed is None or str(believed) == state:
            return None
        return f"the kernel still sees a logical block of {believed} bytes"

    def _check_alone(self) -> None:
        try:
            hits_all = setting.controller(self.port, NAME, self.disk.name).format_all
        except DriveError:
            hits_all = True  # unknown, so it is possible
        others = ", ".join(self.siblings)
        if hits_all and self.siblings:
            raise Refused(
                f"{self.disk.name} cannot be formatted alone: the drive also formats {others}",
                "leave the LBA format as it is, or remove the other namespaces first",
                reason="siblings",
                siblings=list(self.siblings),
            )

    def _await_kernel(self, block_bytes: int) -> None:
        deadline = time.monotonic() + _KERNEL_LIMIT_S
        seen = self.disk / "queue" / "logical_block_size"
        while number(seen) != block_bytes or not number(self.disk / "size"):
            if time.monotonic() > deadline:
                raise HostError(
                    f"{self.disk.name} was formatted to {block_bytes} bytes, but the kernel does not see it",
                    "rescan the controller (nvme ns-rescan), then start again",
                    reason="stale",
                    setting=NAME,
                )
            time.sleep(0.05)

    def _namespace(self) -> nvme.Namespace:
        return setting.namespace(self.port, self.nsid, NAME, self.disk.name)


def sized(identity: Identity, port: AdminPort) -> Identity:
    """Return an identity with a size, also for a namespace to which Linux gives none.

    The size is about the one that a format will give the namespace.

    Raises
    ------
    DriveError
        The namespace reports no valid size.
    """
    if identity.capacity_bytes:
        return identity
    space = setting.namespace(port, identity.nsid or 1, NAME, identity.name)
    block = next((form.data_bytes for form in space.formats if form.index == space.format), None)
    size = plausible("capacity_bytes", space.size_blocks * (block or 512))
    if size is None:
        raise DriveError(
            f"{identity.path} reports no valid size: {space.size_blocks} blocks",
            "recreate its namespace with nvme delete-ns and create-ns, or name another drive",
            reason="unanswered",
            target=identity.path,
        )
    return replace(identity, capacity_bytes=size)


def _best(formats: tuple[nvme.LbaFormat, ...], data_bytes: int) -> nvme.LbaFormat | None:
    """Return the fastest format, as rated by the drive, with blocks of that size and no metadata."""
    fitting = [form for form in formats if form.data_bytes == data_bytes and not form.metadata_bytes]
    return min(fitting, key=lambda form: (form.performance, form.index), default=None)


def _text(form: nvme.LbaFormat) -> str:
    return f"{form.data_bytes}+{form.metadata_bytes}" if form.metadata_bytes else str(form.data_bytes)
