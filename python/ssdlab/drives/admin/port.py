"""The only access to the kernel for drive commands: NVMe admin commands, SCSI commands, programs.

Input and output are bytes and argument lists, so that tests can replace any drive by recorded replies.
Structures: `struct nvme_passthru_cmd` in linux/nvme_ioctl.h, `struct sg_io_hdr` in scsi/sg.h.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import struct
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from ssdlab.host.attributes import disk_of
from ssdlab.host.programs import WORKING_FOLDER, find_program, fixed_environment
from ssdlab.host.reach import diskseq_of, reopen, through
from ssdlab.host.sysfs import device_number, number, text
from ssdlab.model.errors import DriveError, HostError

_NVME_ADMIN = 0xC0484E41
_NVME_COMMAND = struct.Struct("<BBHIIIQQIIIIIIIIII")
_SG_IO = 0x2285
_TO_HOST, _TO_DRIVE, _NO_DATA = -3, -2, -1
_SENSE_BYTES = 64
_ADMIN_LIMIT_S = 20.0

_PACKAGES = {"hdparm": "hdparm", "blkdiscard": "util-linux", "wipefs": "util-linux"}


@dataclass(frozen=True, slots=True)
class NvmeReply:
    """Reply to an NVMe admin command: `status` is 0 or the status field of an error; `result` is dword 0."""

    status: int
    result: int = 0
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class ScsiReply:
    """Reply to a SCSI command: `status` is 0 for good, 2 for check condition, which has sense data."""

    status: int
    sense: bytes = b""
    data: bytes = b""
    transport: int = 0


@dataclass(frozen=True, slots=True)
class ToolReply:
    """Exit status and output of a program, which do not show what the drive did."""

    arguments: tuple[str, ...]
    status: int
    output: str


class AdminPort(Protocol):
    """Access to one drive for admin commands."""

    def nvme(
        self,
        opcode: int,
        *,
        nsid: int = 0,
        cdw: Sequence[int] = (),
        read_bytes: int = 0,
        limit_s: float = _ADMIN_LIMIT_S,
    ) -> NvmeReply:
        """Send an NVMe admin command; `cdw` has its dwords from 10 on."""

    def scsi(
        self, cdb: bytes, *, read_bytes: int = 0, data: bytes = b"", limit_s: float = _ADMIN_LIMIT_S
    ) -> ScsiReply:
        """Send a SCSI command that reads `read_bytes`, writes `data`, or transfers nothing."""

    def tool(self, *arguments: str, limit_s: float) -> ToolReply:
        """Run a program to its end.

        Raises
        ------
        HostError
            The program is not installed.
        DriveError
            The program did not end in time (`reason` "hung"). It is left running, as the drive may be
            working.
        """


@dataclass(frozen=True, slots=True)
class KernelPort:
    """Access to the drive behind a device node.

    Each command goes to a descriptor that was verified to be of the intended drive. Programs get this
    descriptor instead of the path.

    Parameters
    ----------
    path
        Path of the node; in a program's arguments the descriptor replaces it.
    held
        Returns a descriptor of the drive while it is held. Without `held`, each command opens the path.
    device, diskseq
        Expected number (`major:minor`) and attachment count of the drive; None is not compared.
    """

    path: Path
    held: Callable[[], int] | None = None
    device: str | None = None
    diskseq: int | None = None

    @classmethod
    def of(cls, path: Path, node: Path) -> Self:
        """Return access to the drive of this sysfs folder, and to no later drive of that name."""
        return cls(path, None, text(node / "dev"), number(disk_of(node) / "diskseq"))

    def nvme(
        self,
        opcode: int,
        *,
        nsid: int = 0,
        cdw: Sequence[int] = (),
        read_bytes: int = 0,
        limit_s: float = _ADMIN_LIMIT_S,
    ) -> NvmeReply:
        buffer = ctypes.create_string_buffer(max(read_bytes, 1))
        address = ctypes.addressof(buffer) if read_bytes else 0
        words = (*cdw, *(0,) * (6 - len(cdw)))
        command = bytearray(
            _NVME_COMMAND.pack(
                opcode, 0, 0, nsid, 0, 0, 0, address, 0, read_bytes, *words, round(limit_s * 1000), 0
            )
        )
        with self._opened() as descriptor:
            try:
                status = fcntl.ioctl(descriptor, _NVME_ADMIN, command)
            except OSError as error:
                raise _failed(self.path, f"NVMe command {opcode:02x}h", error) from error
        return NvmeReply(status, _NVME_COMMAND.unpack(command)[-1], buffer.raw[:read_bytes])

    def scsi(
        self, cdb: bytes, *, read_bytes: int = 0, data: bytes = b"", limit_s: float = _ADMIN_LIMIT_S
    ) -> ScsiReply:
        length = read_bytes or len(data)
        buffer = ctypes.create_string_buffer(data, max(length, 1))
        order = ctypes.create_string_buffer(cdb, len(cdb))
        sense = ctypes.create_string_buffer(_SENSE_BYTES)
        header = _SgHeader(
            interface_id=ord("S"),
            direction=_TO_HOST if read_bytes else _TO_DRIVE if data else _NO_DATA,
            cmd_len=len(cdb),
            mx_sb_len=_SENSE_BYTES,
            dxfer_len=length,
            dxferp=ctypes.addressof(buffer) if length else None,
            cmdp=ctypes.addressof(order),
            sbp=ctypes.addressof(sense),
            timeout=round(limit_s * 1000),
        )
        with self._opened() as descriptor:
            try:
                fcntl.ioctl(descriptor, _SG_IO, header)
            except OSError as error:
                raise _failed(self.path, f"SCSI command {cdb[0]:02x}h", error) from error
        read = buffer.raw[: max(0, read_bytes - header.resid)]
        return ScsiReply(header.status, sense.raw[: header.sb_len_wr], read, header.host_status)

    def tool(self, *arguments: str, limit_s: float) -> ToolReply:
        name = arguments[0]
        program = find_program(name)
        if program is None:
            package = _PACKAGES.get(name, name)
            raise HostError(
                f"{name} is not installed, and is needed here",
                f"install it (apt install {package}), or choose another method",
                reason="no-tool",
                tool=name,
                package=package,
            )
        with self._opened() as descriptor:
            given = [through(descriptor) if word == str(self.path) else word for word in arguments[1:]]
            process = subprocess.Popen(
                [program, *given],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=fixed_environment(),
                cwd=WORKING_FOLDER,
                pass_fds=(descriptor,),
                start_new_session=True,  # Ctrl-C must end the wait, not an erase in progress
            )
        try:
            output, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            raise DriveError(
                f"{name} did not end within {limit_s:.0f} s",
                "the drive may still be working: keep it powered, and check it again later",
                reason="hung",
                tool=name,
                pid=process.pid,
            ) from None
        return ToolReply(arguments, process.returncode, output.decode(errors="replace"))

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """Open the drive without a claim: the sender of destructive commands already holds one."""
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            if self.held is not None:
                descriptor = reopen(self.held(), flags, self.path)
            else:
                descriptor = os.open(self.path, flags | os.O_NOFOLLOW)
        except OSError as error:
            raise _failed(self.path, "opening it", error) from error
        try:
            self._check(descriptor)
            yield descriptor
        finally:
            os.close(descriptor)

    def _check(self, descriptor: int) -> None:
        found = (device_number(os.fstat(descriptor).st_rdev), diskseq_of(descriptor))
        wanted = (self.device, self.diskseq)
        if any(now != then for now, then in zip(found, wanted, strict=True) if then is not None):
            raise DriveError(
                f"{self.path} is another drive now: {found[0]}, attachment {found[1]}; not {self.device}, "
                f"attachment {self.diskseq}",
                "see `ssdlab drives`, and start again with the right drive",
                reason="replaced",
                device=str(self.path),
            )


class _SgHeader(ctypes.Structure):
    _fields_ = (
        ("interface_id", ctypes.c_int),
        ("direction", ctypes.c_int),
        ("cmd_len", ctypes.c_ubyte),
        ("mx_sb_len", ctypes.c_ubyte),
        ("iovec_count", ctypes.c_ushort),
        ("dxfer_len", ctypes.c_uint),
        ("dxferp", ctypes.c_void_p),
        ("cmdp", ctypes.c_void_p),
        ("sbp", ctypes.c_void_p),
        ("timeout", ctypes.c_uint),
        ("flags", ctypes.c_uint),
        ("pack_id", ctypes.c_int),
        ("usr_ptr", ctypes.c_void_p),
        ("status", ctypes.c_ubyte),
        ("masked_status", ctypes.c_ubyte),
        ("msg_status", ctypes.c_ubyte),
        ("sb_len_wr", ctypes.c_ubyte),
        ("host_status", ctypes.c_ushort),
        ("driver_status", ctypes.c_ushort),
        ("resid", ctypes.c_int),
        ("duration", ctypes.c_uint),
        ("info", ctypes.c_uint),
    )


def _failed(path: Path, doing: str, error: OSError) -> DriveError:
    denied = isinstance(error, PermissionError)
    return DriveError(
        f"{path}: {doing} failed: {error.strerror}",
        "run as root" if denied else "check the kernel log (dmesg) for the drive's state",
        reason="permission" if denied else "fault",
        errno=error.errno,
        device=str(path),
    )
