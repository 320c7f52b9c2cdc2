"""A virtual machine with the drives that no test machine has, and the host's own files and programs in it.

Emulated in software, as a nested host often has no usable KVM: slow, so of its figures nothing is asserted.
Disks are sparse files: `nvme0n1` (512 B blocks) and `nvme0n2` (4 KiB) on one controller behind a port that
can be unplugged, `sda` (SATA), `vda` (virtio). More NVMe drives can be plugged into ports that are empty.
The guest sees the host's root read-only under an overlay in memory. It has two processors, of which one is
at work until a test asks for both: two at work take nearly twice the host's time for the same work.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from guest.image import made_files
from guest.qmp import Monitor
from machine.offspring import dies_with_parent

NVME_SERIAL, SATA_SERIAL, VIRTIO_SERIAL = "GUEST-NVME-1", "GUEST-SATA-1", "GUEST-VIRTIO-1"
_BOOT_LIMIT_S = 300.0
"""To the moment at which it takes orders: 16 s of a processor, and others may want that one as well."""
_MEMORY_MIB = 1536
_CPU = "max,erms=off,fsrm=off,la57=off,smap=off,smep=off,pku=off"
"""Without what is fast on a real processor and slow under emulation: copying and clearing byte by byte
(`erms`), a fifth level of page tables, and checks at each system call."""
_BELL = "bell"
"""Serial port on which the guest is told that there is an order."""
BAYS = ("bay1", "bay2")
"""Ports for drives that come and go; `bay` has the one that is there from the beginning."""
_PIECE = 1 << 20


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
        return self._status.endswith("\n")

    @property
    def _status(self) -> str:
        return self._file("rc").read_text() if self._file("rc").exists() else ""

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
        return Done(int(self._status), self.out, self.err)

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
    """

    def __init__(self, folder: Path, *, disk_bytes: int = 256 << 20) -> None:
        self.folder = folder
        self.orders = folder / "orders"
        self._new = self.orders / "new"
        self._new.mkdir(parents=True)
        server = Path(__file__).with_name("server.py")
        (self.orders / "serve").write_text(f"{_reachable(server.parents[2])}exec {sys.executable} {server}\n")
        self._count = 0
        self._bell: socket.socket | None = None
        kernel, boot = made_files()
        arguments = _arguments(folder, boot, kernel.modules.parent, disk_bytes)
        with (folder / "qemu.log").open("wb") as log:
            self._process = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=dies_with_parent
            )
        try:
            self.monitor = Monitor(folder / "monitor")
            self.boot_s = self._booted()
            self._bell = _connected(folder / _BELL)
        except BaseException:
            self._end()
            raise

    def start(self, command: str) -> Command:
        """Begin a shell command in the guest."""
        return self._order("cmd", command + "\n")

    def ssdlab(self, *words: str, limit_s: float = 60.0, tables: bool = True) -> Done:
        """Run ``ssdlab WORDS`` in a fork of a process that has imported it: importing it takes 11 s here.

        Without `tables` those of a run are not made, which a process of its own does, in 7 s.
        """
        return self._order("lab" if tables else "bare", json.dumps(words)).wait(limit_s)

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
        draft.rename(self._new / f"{name}.{kind}")
        assert self._bell is not None
        self._bell.sendall(b"\n")
        return Command(self, name)

    def run(self, command: str, limit_s: float = 60.0) -> Done:
        """Run a shell command in the guest to its end."""
        return self.start(command).wait(limit_s)

    def must(self, command: str, limit_s: float = 60.0) -> str:
        """Run a shell command that must succeed, and return what it printed."""
        done = self.run(command, limit_s)
        assert done.status == 0, f"{command}: {done}"
        return done.out

    @contextmanager
    def both_processors(self) -> Iterator[None]:
        """Have two processors at work, for what is to happen at the same time."""
        second = "/sys/devices/system/cpu/cpu1/online"
        self.must(f"echo 1 >{second}")
        try:
            yield
        finally:
            self.must(f"echo 0 >{second}")

    def unplug(self, device: str = "nvme") -> None:
        """Pull a device out of its port."""
        self.monitor.ask("device_del", id=device)

    def await_unplugged(self, device: str = "nvme", limit_s: float = 120.0) -> None:
        """Wait until a device that was pulled has left its port, which takes the guest's kernel seconds."""
        deadline = time.monotonic() + limit_s
        while device in {each["name"] for each in self.monitor.ask("qom-list", path="/machine/peripheral")}:
            self.check()
            if time.monotonic() > deadline:
                raise TimeoutError(f"{device} did not leave its port within {limit_s} s")
            time.sleep(0.1)

    def plug(self, bay: str, serial: str, disk_bytes: int = 64 << 20, iops: int = 0) -> str:
        """Put an NVMe drive with one new, empty namespace into an empty port, and return its path.

        Its device is called by its serial number. With `iops` it is as slow as that: a run on it lasts.
        """
        file = self.folder / f"{serial}.raw"
        with file.open("wb") as made:
            made.truncate(disk_bytes)
        ask = self.monitor.ask
        limit = {"iops-total": iops}  # 0: none
        ask("object-add", **{"qom-type": "throttle-group", "id": f"{serial}-limit", "limits": limit})
        below = {"driver": "raw", "file": {"driver": "file", "filename": str(file)}}
        slow = {"driver": "throttle", "throttle-group": f"{serial}-limit", "file": below}
        ask("blockdev-add", **{"node-name": f"{serial}-disk", **slow})
        ask("device_add", driver="nvme", id=serial, bus=bay, drive=f"{serial}-disk", serial=serial)
        return self._path(serial)

    @contextmanager
    def plugged(self, bay: str, serial: str, iops: int = 0) -> Iterator[str]:
        """Have such a drive in a port, and give its path; afterwards it is gone, and its disk with it."""
        try:
            yield self.plug(bay, serial, iops=iops)
        finally:
            with suppress(RuntimeError):  # the test itself has pulled it
                self.unplug(serial)
            self.await_unplugged(serial)
            self._let_go(f"{serial}-disk")
            self.monitor.ask("object-del", id=f"{serial}-limit")
            (self.folder / f"{serial}.raw").unlink()

    def _let_go(self, node: str, limit_s: float = 60.0) -> None:
        """Remove a block node: QEMU has it in use for a moment after its device has left."""
        deadline = time.monotonic() + limit_s
        while True:
            try:
                self.monitor.ask("blockdev-del", **{"node-name": node})
            except RuntimeError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
            else:
                return

    def _path(self, serial: str, limit_s: float = 120.0) -> str:
        """Wait for the block device of the NVMe drive of that number."""
        deadline = time.monotonic() + limit_s
        find = f"for n in /sys/class/nvme/*; do grep -q {serial} $n/serial && ls -d $n/nvme*n*; done; true"
        while not (found := self.must(find).split()):
            if time.monotonic() > deadline:
                raise TimeoutError(f"no drive {serial}: {self.must('dmesg | tail; ls /sys/class/nvme/*')}")
            time.sleep(0.2)
        return f"/dev/{Path(found[0]).name}"

    def digest(self, disk: str) -> str:
        """Hash of what the image behind a disk holds: of its bytes, not of how they lie in the file.

        Pieces of zeroes are left out, and holes not even read: most of a disk is never written.
        """
        told = hashlib.sha256()
        with (self.folder / f"{disk}.raw").open("rb", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            at = 0
            while at < size:
                try:
                    at = os.lseek(file.fileno(), at, os.SEEK_DATA) // _PIECE * _PIECE
                except OSError as error:
                    if error.errno == errno.ENXIO:  # holes to the end
                        break
                    raise
                piece = os.pread(file.fileno(), _PIECE, at)
                if piece.count(0) < len(piece):
                    told.update(f"{at}:".encode() + piece)
                at += _PIECE
        return told.hexdigest()

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
            for name in ("console", "orders/served", "qemu.log")
            if (self.folder / name).exists()
        )

    def _end(self) -> None:
        # Its disks are thrown away: nothing is lost by pulling the plug.
        self._process.kill()
        self._process.wait()
        if self._bell is not None:
            self._bell.close()


def _connected(path: Path) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.connect(str(path))
    return made


def _reachable(checkout: Path) -> str:
    """Return the command that puts a checkout beneath /tmp back there: the guest has a /tmp of its own."""
    if not checkout.is_relative_to("/tmp"):
        return ""
    return f"mkdir -p {checkout} && mount --bind /run/host{checkout} {checkout} && "


def _arguments(folder: Path, boot: tuple[Path, Path], modules: Path, disk_bytes: int) -> list[str]:
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
             # The second processor waits: see above.
             " no_timer_check maxcpus=1"]  # fmt: skip
    line += ["-serial", f"file:{folder / 'console'}", "-qmp", f"unix:{folder / 'monitor'},server=on,wait=off"]
    line += ["-serial", f"unix:{folder / _BELL},server=on,wait=off"]
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
        line += ["-drive", f"file={file},if=none,id={disk},format=raw,discard=unmap,detect-zeroes=off"]
    for slot, bay in enumerate(("bay", *BAYS), 1):
        line += ["-device", f"pcie-root-port,id={bay},chassis={slot},slot={slot}"]
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
