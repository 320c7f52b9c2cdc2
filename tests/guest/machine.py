"""A virtual machine with the drives that no test machine has, and the host's own files and programs in it.

Emulated in software, as a nested host often has no usable KVM: slow, so of its figures nothing is asserted.
Disks are sparse files: `nvme0n1` (512 B blocks) and `nvme0n2` (4 KiB) on one controller behind a port that
can be unplugged, `sda` (SATA), `vda` (virtio). The guest sees the host's root read-only under an overlay in
memory.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from guest.image import made_files
from guest.qmp import Monitor
from machine.offspring import dies_with_parent

NVME_SERIAL, SATA_SERIAL, VIRTIO_SERIAL = "GUEST-NVME-1", "GUEST-SATA-1", "GUEST-VIRTIO-1"
_BOOT_LIMIT_S = 120.0
_MEMORY_MIB = 1536
_CPU = "max,erms=off,fsrm=off,la57=off,smap=off,smep=off,pku=off"
"""Without what is fast on a real processor and slow under emulation: copying and clearing byte by byte
(`erms`), a fifth level of page tables, and checks at each system call."""
_BELLS = ("bell1", "bell2")
"""Serial ports on which the guest is told that there is an order: of its shell, of its server."""


@dataclass(frozen=True)
class Done:
    """How a command in the guest ended."""

    status: int
    out: str
    err: str


class Command:
    """A command that runs in the guest."""

    def __init__(self, guest: Guest, name: str) -> None:
        self._guest = guest
        self._name = name

    @property
    def ended(self) -> bool:
        return self._file("rc").exists()

    @property
    def out(self) -> str:
        return self._file("out").read_text() if self._file("out").exists() else ""

    @property
    def err(self) -> str:
        return self._file("err").read_text() if self._file("err").exists() else ""

    def wait(self, limit_s: float = 60.0) -> Done:
        """Wait for its end."""
        deadline = time.monotonic() + limit_s
        while not self.ended:
            self._guest.check()
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self._name} took over {limit_s} s: {self.out}{self.err}")
            time.sleep(0.03)
        return Done(int(self._file("rc").read_text()), self.out, self._file("err").read_text())

    def _file(self, kind: str) -> Path:
        return self._guest.orders / f"{self._name}.{kind}"


class Guest:
    """One running virtual machine; use it as a context manager.

    Parameters
    ----------
    folder
        Empty folder for its disks, orders and logs.
    disk_bytes
        Size of each disk.
    nvme_iops
        Limit of the first namespace, where a run must last.
    """

    def __init__(self, folder: Path, *, disk_bytes: int = 256 << 20, nvme_iops: int | None = None) -> None:
        self.folder = folder
        self.orders = folder / "orders"
        self.orders.mkdir()
        self._count = 0
        self._bells: list[socket.socket] = []
        kernel, boot = made_files()
        arguments = _arguments(folder, boot, kernel.modules.parent, disk_bytes, nvme_iops)
        with (folder / "qemu.log").open("wb") as log:
            self._process = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=dies_with_parent
            )
        try:
            self.monitor = Monitor(folder / "monitor")
            self.boot_s = self._booted()
            self._bells = [_connected(folder / name) for name in _BELLS]
            server = Path(__file__).with_name("server.py")
            self.start(f"{_reachable(server.parents[2])}exec {sys.executable} {server}")
        except BaseException:
            self._end()
            raise

    def start(self, command: str) -> Command:
        """Begin a shell command in the guest."""
        return self._order("cmd", command + "\n")

    def ssdlab(self, *words: str, limit_s: float = 60.0) -> Done:
        """Run ``ssdlab WORDS`` in a fork of a process that has imported it: importing it takes 3 s here."""
        return self.begin(*words).wait(limit_s)

    def begin(self, *words: str) -> Command:
        """Begin ``ssdlab WORDS`` in such a fork."""
        return self._order("lab", json.dumps(words))

    def python(self, code: str, *words: str, limit_s: float = 60.0) -> Done:
        """Run Python code in such a fork, with these words as its arguments."""
        return self.begin_python(code, *words).wait(limit_s)

    def begin_python(self, code: str, *words: str) -> Command:
        """Begin Python code in such a fork."""
        return self._order("code", json.dumps([code, *words]))

    def _order(self, kind: str, content: str) -> Command:
        self._count += 1
        name = f"{self._count:04}"
        draft = self.orders / f"{name}.draft"
        draft.write_text(content)
        draft.rename(self.orders / f"{name}.{kind}")
        for bell in self._bells:
            bell.sendall(b"\n")
        return Command(self, name)

    def run(self, command: str, limit_s: float = 60.0) -> Done:
        """Run a shell command in the guest to its end."""
        return self.start(command).wait(limit_s)

    def must(self, command: str, limit_s: float = 60.0) -> str:
        """Run a shell command that must succeed, and return what it printed."""
        done = self.run(command, limit_s)
        assert done.status == 0, f"{command}: {done}"
        return done.out

    def unplug(self, device: str = "nvme") -> None:
        """Pull a device out of its port."""
        self.monitor.ask("device_del", id=device)

    def plug(self, serial: str, disk_bytes: int) -> None:
        """Put an NVMe drive with one new, empty namespace into the port, once what was pulled has left it."""
        while self.monitor.wait_for("DEVICE_DELETED").get("data", {}).get("device") != "nvme":
            pass
        file = self.folder / f"{serial}.raw"
        with file.open("wb") as made:
            made.truncate(disk_bytes)
        below = {"driver": "file", "filename": str(file)}
        self.monitor.ask("blockdev-add", **{"node-name": "plugged", "driver": "raw", "file": below})
        self.monitor.ask("device_add", driver="nvme", id="plugged", bus="bay", drive="plugged", serial=serial)

    def check(self) -> None:
        """Raise if the machine has ended."""
        if self._process.poll() is not None:
            raise RuntimeError(f"the guest ended: {self._logs()}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def _booted(self) -> float:
        deadline = time.monotonic() + _BOOT_LIMIT_S
        sign = self.orders / "booted"
        while not sign.exists():
            self.check()
            if time.monotonic() > deadline:
                raise TimeoutError(f"the guest did not boot within {_BOOT_LIMIT_S} s: {self._logs()}")
            time.sleep(0.05)
        return float(sign.read_text())

    def _logs(self) -> str:
        return "".join(
            (self.folder / name).read_text(errors="replace")[-2000:]
            for name in ("console", "qemu.log")
            if (self.folder / name).exists()
        )

    def _end(self) -> None:
        # Its disks are thrown away: nothing is lost by pulling the plug.
        self._process.kill()
        self._process.wait()
        for bell in self._bells:
            bell.close()


def _connected(path: Path) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.connect(str(path))
    return made


def _reachable(checkout: Path) -> str:
    """Return the command that puts a checkout beneath /tmp back there: the guest has a /tmp of its own."""
    if not checkout.is_relative_to("/tmp"):
        return ""
    return f"mkdir -p {checkout} && mount --bind /run/host{checkout} {checkout} && "


def _arguments(
    folder: Path, boot: tuple[Path, Path], modules: Path, disk_bytes: int, nvme_iops: int | None
) -> list[str]:
    image, initial = boot
    line = ["qemu-system-x86_64", "-machine", "q35", "-accel", "tcg,thread=multi,tb-size=512", "-cpu", _CPU]
    line += [
        "-smp",
        "2",
        "-m",
        str(_MEMORY_MIB),
        "-display",
        "none",
        "-no-reboot",
        "-nodefaults",
        "-no-user-config",
    ]
    line += ["-kernel", str(image), "-initrd", str(initial)]
    line += ["-append", "console=ttyS0 quiet panic=-1 mitigations=off nokaslr tsc=reliable"
             # Beside other work the emulated timer comes late, which the kernel takes for a fault and panics.
             " no_timer_check"]  # fmt: skip
    line += ["-serial", f"file:{folder / 'console'}", "-qmp", f"unix:{folder / 'monitor'},server=on,wait=off"]
    for bell in _BELLS:
        line += ["-serial", f"unix:{folder / bell},server=on,wait=off"]
    for tag, path, more in (
        ("host", "/", ",readonly=on,multidevs=remap"),
        ("orders", folder / "orders", ""),
        ("modules", modules, ",readonly=on"),
    ):
        line += ["-fsdev", f"local,id={tag},path={path},security_model=none{more}"]
        line += ["-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
    for disk in ("nvme1", "nvme2", "sata", "virtio"):
        file = folder / f"{disk}.raw"
        with file.open("wb") as made:
            made.truncate(disk_bytes)
        limit = f",throttling.iops-total={nvme_iops}" if disk == "nvme1" and nvme_iops else ""
        line += ["-drive", f"file={file},if=none,id={disk},format=raw,discard=unmap,detect-zeroes=off{limit}"]
    line += ["-device", "pcie-root-port,id=bay,chassis=1,slot=1"]
    line += ["-device", f"nvme,id=nvme,bus=bay,serial={NVME_SERIAL},max_ioqpairs=4"]
    for nsid, block in ((1, 512), (2, 4096)):
        line += ["-device", f"nvme-ns,drive=nvme{nsid},bus=nvme,nsid={nsid},logical_block_size={block},"
                 f"physical_block_size={block}"]  # fmt: skip
    line += [
        "-device",
        f"ide-hd,drive=sata,bus=ide.0,rotation_rate=1,serial={SATA_SERIAL},model=GUEST-SATA-SSD",
    ]
    line += ["-device", f"virtio-blk-pci,drive=virtio,discard=on,write-zeroes=on,serial={VIRTIO_SERIAL}"]
    return line
