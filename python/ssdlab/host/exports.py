"""What the kernel itself serves to others: devices and files open in no process, and without a claim.

NVMe target namespaces (nvmet), SCSI targets (LIO), USB mass storage gadgets: all are set up in configfs, and
name what they serve by a path. That path was resolved when the export was switched on; one that leads
nowhere any more makes that export one that cannot be looked at.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ssdlab.host.sysfs import HostFiles, device_number, is_folder, may_be_there, names, raw_bytes, text

_USERS = ("nvmet", "target_core_mod", "usb_f_mass_storage")
"""Kernel modules that serve devices and are set up in configfs."""


@dataclass(frozen=True, slots=True)
class Export:
    """One device or file that the kernel serves.

    Attributes
    ----------
    server
        What serves it, as part of a sentence.
    end
        The command that ends it.
    path
        How it was named.
    device, file, controller
        `major:minor` of the block device, device and inode number of the file, or `major:minor` of the NVMe
        controller that the path leads to; all None if it leads nowhere.
    """

    server: str
    end: str
    path: str
    device: str | None = None
    file: tuple[int, int] | None = None
    controller: str | None = None

    @property
    def seen(self) -> bool:
        """Whether it is known what is served."""
        return (self.device or self.file or self.controller) is not None


def exports(files: HostFiles) -> tuple[Export, ...]:
    """Return everything that the kernel serves, as far as configfs shows it."""
    root = files.sys / "kernel" / "config"
    return tuple(
        _resolved(files, server, end, path)
        for found in (_nvme, _scsi, _usb)
        for server, end, path in found(root)
        if path
    )


def hidden_servers(files: HostFiles) -> tuple[str, ...]:
    """Return the kernel's servers whose settings cannot be looked at."""
    if names(files.sys / "kernel" / "config"):
        return ()
    return tuple(name for name in _USERS if may_be_there(files.sys / "module" / name))


def _nvme(root: Path) -> Iterator[tuple[str, str, str]]:
    for subsystem in _folders(root / "nvmet" / "subsystems"):
        for space in _folders(subsystem / "namespaces"):
            if text(space / "enable") != "0":
                server = f"namespace {space.name} of the NVMe target {subsystem.name}"
                yield server, f"echo 0 >{space}/enable", _path_in(space / "device_path")
        passed = subsystem / "passthru"
        if text(passed / "enable") not in {None, "0"}:
            server = f"the NVMe target {subsystem.name}, which passes a controller through,"
            yield server, f"echo 0 >{passed}/enable", _path_in(passed / "device_path")


def _scsi(root: Path) -> Iterator[tuple[str, str, str]]:
    for adapter in _folders(root / "target" / "core"):
        for store in _folders(adapter):
            if text(store / "enable") in {None, "0"}:
                continue
            named = re.search(r"File: (.*)  Size: ", text(store / "info") or "")
            path = named.group(1) if named else _path_in(store / "udev_path")
            yield (
                f"the SCSI target {adapter.name}/{store.name}",
                f"targetcli /backstores delete {store.name}",
                path,
            )


def _usb(root: Path) -> Iterator[tuple[str, str, str]]:
    for gadget in _folders(root / "usb_gadget"):
        for function in _folders(gadget / "functions"):
            for unit in _folders(function):
                if function.name.startswith("mass_storage.") and unit.name.startswith("lun."):
                    yield f"the USB gadget {gadget.name}", f"echo >{unit}/file", _path_in(unit / "file")


def _folders(folder: Path) -> list[Path]:
    return [folder / name for name in names(folder) if is_folder(folder / name)]


def _path_in(attribute: Path) -> str:
    """Return a path as it is: blanks at its end are part of it."""
    return os.fsdecode((raw_bytes(attribute) or b"").removesuffix(b"\n"))


def _resolved(files: HostFiles, server: str, end: str, path: str) -> Export:
    device = files.number_of(path)
    if device is not None:
        return Export(server, end, path, device=device)
    try:
        status = files.at(path).stat()
    except OSError:
        return Export(server, end, path)
    if stat.S_ISCHR(status.st_mode):
        return Export(server, end, path, controller=device_number(status.st_rdev))
    return Export(server, end, path, file=(status.st_dev, status.st_ino))
