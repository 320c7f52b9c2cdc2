"""A machine built of files, and devices of our own in the states that the guard must recognise."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import need_root
from machine.fake_drive import FakeAta, FakeNvme, FakeScsi
from machine.purge_rig import Make, PurgeRig
from ssdlab.drives.purge.purging import Ledger
from ssdlab.host.sysfs import HostFiles


class FakeHost:
    """Writes sysfs and procfs as the kernel does: real folders under `devices`, links everywhere else."""

    def __init__(self, root: Path) -> None:
        self.files = HostFiles(root)
        self.root = root
        for folder in ("sys/block", "sys/class/block", "sys/dev/block", "proc/self", "dev/disk/by-id"):
            (root / folder).mkdir(parents=True)
        self.mountinfo("")
        (root / "proc/swaps").write_text("Filename Type Size Used Priority\n")
        self._minor = 0

    def disk(self, name: str, under: str = "virtual/block", **attributes: str | bytes) -> Path:
        """A whole disk `name` in the device folder `under`; attribute paths are written with `__` for `/`."""
        node = self._node(self.root / "sys/devices" / under / name)
        (self.root / "sys/block" / name).symlink_to(node)
        self.write(node, {"queue/logical_block_size": "512", "size": "2048", **_paths(attributes)})
        return node

    def partition(self, disk: Path, index: int) -> Path:
        node = self._node(disk / f"{disk.name}{'p' if disk.name[-1].isdigit() else ''}{index}")
        self.write(node, {"partition": str(index), "size": "1024"})
        return node

    def hold(self, below: Path, above: Path) -> None:
        """Volume `above` is built on `below`."""
        for folder, target in ((below / "holders", above), (above / "slaves", below)):
            folder.mkdir(exist_ok=True)
            (folder / target.name).symlink_to(target)

    def mountinfo(self, *lines: str) -> None:
        (self.root / "proc/self/mountinfo").write_text("".join(f"{line}\n" for line in lines))

    def mount(self, number: str, point: str, source: str = "/dev/root", kind: str = "ext4") -> None:
        with (self.root / "proc/self/mountinfo").open("a") as table:
            table.write(f"30 1 {number} / {point} rw shared:1 - {kind} {source} rw\n")

    def swap(self, path: str) -> None:
        with (self.root / "proc/swaps").open("a") as table:
            table.write(f"{path} partition 1 0 -2\n")

    def number(self, node: Path) -> str:
        return (node / "dev").read_text().strip()

    def write(self, folder: Path, attributes: dict[str, str | bytes]) -> None:
        for name, value in attributes.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(value if isinstance(value, bytes) else f"{value}\n".encode())

    def _node(self, node: Path) -> Path:
        node.mkdir(parents=True)
        self._minor += 1
        self.write(node, {"dev": f"240:{self._minor}"})
        (self.root / "sys/class/block" / node.name).symlink_to(node)
        (self.root / f"sys/dev/block/240:{self._minor}").symlink_to(node)
        (self.root / "dev" / node.name).touch()
        return node


@pytest.fixture
def host(tmp_path: Path) -> FakeHost:
    return FakeHost(tmp_path / "host")


@pytest.fixture
def loop(scratch: Path) -> Iterator[Callable[..., Path]]:
    """Attaches a loop device to a new file of 64 MiB: ``loop() -> /dev/loopN``; detached afterwards."""
    need_root()
    if not Path("/dev/loop-control").exists():
        pytest.skip("no loop devices in this kernel")
    made: list[Path] = []

    def attach(*options: str) -> Path:
        backing = scratch / f"backing-{len(made)}"
        with backing.open("wb") as file:
            file.truncate(64 << 20)
        command = ["losetup", "--find", "--show", *options, str(backing)]
        made.append(Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()))
        return made[-1]

    yield attach
    for device in made:
        subprocess.run(["losetup", "--detach", str(device)], check=False)


@pytest.fixture
def make(host: FakeHost, tmp_path: Path) -> Make:
    """Sets a fake drive up for a purge: ``make(FakeNvme()) -> PurgeRig``."""

    def rig(drive: Any, **identity: Any) -> PurgeRig:
        disk = {"nsid": "1"} if isinstance(drive, FakeNvme) else {}
        if isinstance(drive, FakeAta):
            identity["transport"] = "sata"
        if isinstance(drive, FakeScsi):
            disk["device__scsi_level"] = "7"
        if isinstance(drive, FakeNvme):
            identity["nsid"] = 1
        return PurgeRig(host, drive, Ledger(tmp_path / "purges"), disk, identity)

    return rig


def _paths(attributes: dict[str, str | bytes]) -> dict[str, str | bytes]:
    return {name.replace("__", "/"): value for name, value in attributes.items()}
