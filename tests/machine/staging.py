"""Sets the scene for a refusal on devices and files of its own, and clears everything away afterwards."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from machine import memory_disk
from machine.situations import Situation

_SIZE = 16 << 20
SITUATIONS: dict[str, Callable[[Stage], Situation]] = {}
"""How each is set up, by its name in `MESSAGES`."""


def situation(make: Callable[[Stage], Situation]) -> Callable[[Stage], Situation]:
    SITUATIONS[make.__name__.replace("_", "-")] = make
    return make


class Stage:
    """One scene."""

    def __init__(
        self, folder: Path, need_tool: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.folder, self.need_tool, self.monkeypatch = folder, need_tool, monkeypatch
        self.ended = ExitStack()
        self.namespace: tuple[Path, str] | None = None

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

    def mount(self, device: Path, *options: str) -> str:
        point = self.folder / "mounted"
        point.mkdir()
        self.run("mount", "-o", "ro", *options, device, point)
        self.ended.callback(lambda: self.run("umount", point))
        return str(point)

    def swap(self, area: Path) -> None:
        self.run("mkswap", area)
        self.run("swapon", area)
        self.ended.callback(lambda: self.run("swapoff", area))

    def holder(self, path: Path, mode: str) -> subprocess.Popen[str]:
        """Another process that has a file open."""
        script = f"import os, sys; os.open({str(path)!r}, os.{mode}); print('open', flush=True); input()"
        process = subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stdin is not None
        assert process.stdout is not None
        self.ended.callback(process.wait, 10)
        self.ended.callback(process.stdin.close)
        assert process.stdout.readline() == "open\n"
        return process

    def file(self, content: bytes = b"precious" * 1024) -> Path:
        made = self.folder / "report.img"
        made.write_bytes(content)
        return made


def consent(device: Path) -> dict[str, object]:
    """Consent with the right identifier."""
    return {"destroy": re.sub(r"^(loop\d+)p(\d+)$", r"\1-part\2", device.name)}
