"""Sets the scene for a refusal on devices and files of its own, and clears everything away afterwards."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from machine import holding, memory_disk, sharing
from machine.situations import Situation

_SIZE = 16 << 20
SITUATIONS: dict[str, Callable[[Stage], Situation]] = {}
"""How each is set up, by its name in `MESSAGES`."""


def situation(make: Callable[[Stage], Situation]) -> Callable[[Stage], Situation]:
    SITUATIONS[make.__name__.replace("_", "-")] = make
    return make


class Beside(NamedTuple):
    """A program that runs beside the command, and what it said when it was ready."""

    pid: int
    said: str


class Stage:
    """One scene."""

    def __init__(self, folder: Path, need_tool: Callable[[str], str]) -> None:
        sharing.alone("sets a scene of devices and mounts")
        self.folder, self.need_tool = folder, need_tool
        self.ended = ExitStack()

    def in_public(self) -> None:
        """Go on in a folder that everybody can reach."""
        made = self.ended.enter_context(tempfile.TemporaryDirectory(prefix="ssdlab-test-", dir="/var/tmp"))
        self.folder = Path(made)
        self.folder.chmod(0o755)

    def home(self) -> Path:
        """A folder for what the command keeps, which anybody may write."""
        made = Path(self.ended.enter_context(tempfile.TemporaryDirectory(prefix="ssdlab-home-")))
        made.chmod(0o777)
        return made

    def run(self, *command: str | Path, send: str = "") -> str:
        program = self.need_tool(str(command[0]))
        done = subprocess.run(
            [program, *map(str, command[1:])], check=True, capture_output=True, text=True, input=send
        )
        return done.stdout.strip()

    def loop(self, *options: str, on: Path | None = None) -> Path:
        backing = on or self.folder / f"backing-{len(list(self.folder.iterdir()))}"
        if on is None:
            with backing.open("wb") as file:
                file.truncate(_SIZE)
        device = self.run("losetup", "--find", "--show", *options, backing)
        self.ended.callback(lambda: self.run("losetup", "--detach", device))
        return Path(device)

    def btrfs(self) -> Path:
        """A zram device: btrfs needs more than a small loop device gives."""
        device = memory_disk.add(256 << 20)
        self.ended.callback(memory_disk.remove, device)
        return device

    def ext4(self, device: Path, *options: str) -> Path:
        self.run("mkfs.ext4", "-q", *options, device)
        return device

    def partitions(self, disk: Path) -> tuple[Path, Path]:
        for index, first in ((1, 2048), (2, 2048 + 12288)):
            self.run("addpart", disk, str(index), str(first), "12288")
            self.ended.callback(lambda part=index: self.run("delpart", disk, str(part)))
        return Path(f"{disk}p1"), Path(f"{disk}p2")

    def mount(self, device: Path, *options: str, writable: bool = False) -> str:
        point = self.folder / "mounted"
        point.mkdir()
        self.run("mount", "-o", "rw" if writable else "ro", *options, device, point)
        self.ended.callback(lambda: self.run("umount", point))
        return str(point)

    def swap(self, area: Path) -> None:
        self.run("mkswap", area)
        self.run("swapon", area)
        self.ended.callback(lambda: self.run("swapoff", area))

    def holder(self, path: Path, mode: str = "O_RDWR", way: str = "descriptor") -> dict[str, str]:
        """Another process that has a file open in one of `holding.WAYS`; how messages name it."""
        process = self.beside(sys.executable, "-P", holding.__file__, way, path, mode)
        command = Path(f"/proc/{process.pid}/comm").read_text().strip()
        return {"pid": str(process.pid), "command": command}

    def beside(self, *command: str | Path) -> Beside:
        """Run a program that prints a line when it is ready, and ends when its input does."""
        process = subprocess.Popen(
            [*map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stdin is not None
        assert process.stdout is not None
        self.ended.callback(process.wait, 10)
        self.ended.callback(process.stdin.close)
        said = process.stdout.readline()
        assert said
        return Beside(process.pid, said.strip())

    def node(self, device: Path, name: str = "mynode") -> Path:
        """Another node of a device."""
        made = self.folder / name
        os.mknod(made, stat.S_IFBLK | 0o600, device.stat().st_rdev)
        return made

    def bound(self, folder: Path) -> Path:
        """Another place where a folder is mounted."""
        point = Path(f"{folder}-bound")
        point.mkdir()
        self.run("mount", "--bind", folder, point)
        self.ended.callback(lambda: self.run("umount", point))
        return point

    def file(self, content: bytes = b"precious" * 1024, name: str = "report.img") -> Path:
        made = self.folder / name
        made.write_bytes(content)
        return made


def consent(device: Path) -> dict[str, object]:
    """Consent with the right identifier."""
    return {"destroy": re.sub(r"^(loop\d+)p(\d+)$", r"\1-part\2", device.name)}


def mounted_over(device: Path, point: str) -> str:
    """Return how a device is mounted over a place of the system, for the command alone."""
    return f"mount -o ro,noload {device} {point}"
